"""The cost of every object is at most proportional to its size: in time, in memory, and in the response."""

import gc
import time
import tracemalloc
from dataclasses import dataclass
from functools import partial
from typing import Any

import jsonpatch
import orjson
import pytest

from jobgate.installation.handbook import title
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from tests.hostile.costly import blown_up, filled, places, size_of, sized
from tests.hostile.shapes import OF_A_JOB, OF_A_TEMPLATE, Shape, tiny_tasks, without_schedule
from webhook import Operation, Phase, Registry, Request, Response, review

KIB = 1024
#: Two sizes of each object, to detect costs that grow faster than the size.
SMALL, LARGE = 6 * KIB, 24 * KIB
#: Limits of CPU time in seconds, for each byte and for each request: about ten times the usual cost.
PER_BYTE, ANY = 20e-6, 0.1
#: Limits of memory, for each byte and for each request.
MEMORY_PER_BYTE, ANY_MEMORY = 60, 4 * KIB * KIB
#: Limit for a Status and warnings, which kubectl prints and the API server logs.
ANSWER = 64 * KIB
#: Limit for the bytes of a patch in base64, for each byte of the object.
PATCH_PER_BYTE = 16
#: Only each 47th place of a schema is tested; the fuzzer tests all of them.
EACH = 47
KINDS = Registry(built_in())
#: Shapes that are the same for all kinds are tested with one kind each, in turn.
IN_TURN = [(shape, built_in()[turn % len(KINDS)]) for turn, shape in enumerate((*OF_A_TEMPLATE, *OF_A_JOB))]
CASES = [*IN_TURN[: len(OF_A_TEMPLATE)], *((shape, kind) for shape in OF_A_JOB for kind in built_in())]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Compile the schemas first, as that is no cost of an object, and exclude them from garbage collection."""
    for kind in built_in():
        spent(tiny_tasks(kind, 1), kind)
    gc.freeze()


@dataclass(frozen=True)
class Spent:
    """The cost of the reviews of one object."""

    size: int
    seconds: float
    memory: int
    answers: tuple[Response, ...]


def requests(document: dict[str, Any], kind: JobKind) -> list[tuple[Phase, Request]]:
    """Return all reviews of an object: as a new object, and as a change of a stored one."""
    words: dict[str, Any] = {"uid": "1", "api_version": kind.gvk.api_version, "kind": kind.kind, "namespace": "default"}
    create = Request(operation=Operation.CREATE, document=document, **words)
    update = Request(operation=Operation.UPDATE, document=document, old_document=without_schedule(document), **words)
    return [(phase, request) for request in (create, update) for phase in Phase]


def spent(document: dict[str, Any], kind: JobKind, *, measured: bool = True) -> Spent:
    """Measure the time of all reviews of an object, and if `measured` the memory of those for a new object."""
    reviews = requests(document, kind)
    gc.collect()
    start = time.process_time()
    answers = tuple(review(request, phase, KINDS, Settings()) for phase, request in reviews)
    seconds = time.process_time() - start
    peak = 0
    if measured:
        tracemalloc.start()
        try:
            for phase, request in reviews[:2]:
                orjson.dumps(review(request, phase, KINDS, Settings()).to_review())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    return Spent(len(reviews) * size_of(document), seconds, peak, answers)


def check_answers(document: dict[str, Any], cost: Spent) -> None:
    """Assert that each response is bounded, and each patch is proportional to the object and can be applied."""
    for answer in cost.answers:
        encoded = len(orjson.dumps(answer.to_review()))
        if answer.patch:
            assert encoded <= PATCH_PER_BYTE * size_of(document) + ANSWER
            jsonpatch.apply_patch(document, list(answer.patch))
        else:
            assert encoded <= ANSWER, f"an answer of {encoded:,} bytes for an object of {size_of(document):,}"


def check_bounds(cost: Spent) -> None:
    """Assert that time and memory are proportional to the size."""
    assert cost.seconds <= PER_BYTE * cost.size + ANY, f"{cost.seconds:.2f} s for {cost.size:,} bytes"
    assert cost.memory <= MEMORY_PER_BYTE * cost.size + ANY_MEMORY, f"{cost.memory:,} for {cost.size:,} bytes"


@pytest.mark.parametrize("shape, kind", CASES, ids=lambda one: getattr(one, "__name__", None) or one.kind)
def test_the_cost_of_a_shape_is_proportional_to_its_size(shape: Shape, kind: JobKind) -> None:
    small, large = (sized(partial(shape, kind), size) for size in (SMALL, LARGE))
    # The memory is measured for one kind only, because that takes longest.
    before, after = spent(small, kind, measured=False), spent(large, kind, measured=(shape, kind) in IN_TURN)
    check_answers(large, after)
    check_bounds(after)
    growth = after.size / before.size
    # Quadratic cost would grow by the square; the last term allows for page faults and garbage collection.
    assert after.seconds <= 1.8 * growth * before.seconds + 0.05, f"{before.seconds:.3f} s → {after.seconds:.3f} s"


@pytest.mark.parametrize("shape, kind", IN_TURN, ids=lambda one: getattr(one, "__name__", None) or one.kind)
def test_no_review_needs_the_garbage_collector_to_free_its_object(shape: Shape, kind: JobKind) -> None:
    """The collector counts containers: it would start only after a hundred objects of some MiB each."""
    reviews = requests(sized(partial(shape, kind), SMALL), kind)
    for _ in range(2):  # the first time also compiles schemas
        gc.collect()
        gc.disable()
        try:
            for phase, request in reviews:
                orjson.dumps(review(request, phase, KINDS, Settings()).to_review())
            left = gc.collect()
        finally:
            gc.enable()
    assert left == 0


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_each_of_many_invalid_tasks_costs_no_more_than_each_of_a_few(kind: JobKind) -> None:
    seconds, sizes = [], []
    for size in (96 * KIB, 384 * KIB):
        document = sized(partial(tiny_tasks, kind), size)
        phase, request = requests(document, kind)[0]
        start = time.process_time()
        review(request, phase, KINDS, Settings())
        seconds.append(time.process_time() - start)
        sizes.append(size_of(document))
    assert seconds[1] <= 1.8 * sizes[1] / sizes[0] * seconds[0] + 0.05


@pytest.mark.parametrize("count, length", [(1, 4), (1, 200), (6, 4), (3, 40)])
@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_the_cost_of_an_object_with_every_field_is_proportional_to_its_size(
    kind: JobKind, count: int, length: int
) -> None:
    document = filled(kind, count, length)
    cost = spent(document, kind)
    check_answers(document, cost)
    check_bounds(cost)


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_the_cost_of_one_large_list_map_or_text_is_proportional_to_its_size(kind: JobKind) -> None:
    paths = places(kind)[::EACH]
    wrong = []
    for path in paths:
        document = sized(partial(blown_up, kind, path), 4 * KIB)
        cost = spent(document, kind, measured=False)
        try:
            check_answers(document, cost)
            check_bounds(cost)
        except AssertionError as error:
            wrong.append(f"{'.'.join(path)}: {error}")
    assert not wrong
    assert len(paths) > 12
