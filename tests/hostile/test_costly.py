"""No object costs more than in proportion to its size, in time, in memory, or in what is answered."""

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
#: Two sizes of each object: what grows faster than its size shows between them.
SMALL, LARGE = 6 * KIB, 24 * KIB
#: CPU time that a byte of a request may cost, in seconds, and what any request may: some ten times what they do.
PER_BYTE, ANY = 20e-6, 0.1
#: Memory that a byte may cost, and what any request may.
MEMORY_PER_BYTE, ANY_MEMORY = 60, 4 * KIB * KIB
#: A Status and warnings: `kubectl` prints it, the API server logs it.
ANSWER = 64 * KIB
#: Bytes of a patch, in base64, for one of the object.
PATCH_PER_BYTE = 16
#: Of the places of a schema one in so many is tried: the fuzzer comes to all of them.
EACH = 47
KINDS = Registry(built_in())
#: The kinds take turns at what is the same for all of them.
IN_TURN = [(shape, built_in()[turn % len(KINDS)]) for turn, shape in enumerate((*OF_A_TEMPLATE, *OF_A_JOB))]
CASES = [*IN_TURN[: len(OF_A_TEMPLATE)], *((shape, kind) for shape in OF_A_JOB for kind in built_in())]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """What is compiled once for each kind is no cost of an object, and the hundreds of collections need not go through it."""
    for kind in built_in():
        spent(tiny_tasks(kind, 1), kind)
    gc.freeze()


@dataclass(frozen=True)
class Spent:
    """What the reviews of one object came to."""

    size: int
    seconds: float
    memory: int
    answers: tuple[Response, ...]


def requests(document: dict[str, Any], kind: JobKind) -> list[tuple[Phase, Request]]:
    """Return what the API server would ask about an object: as a new one, and as the change of a stored one."""
    words: dict[str, Any] = {"uid": "1", "api_version": kind.gvk.api_version, "kind": kind.kind, "namespace": "default"}
    create = Request(operation=Operation.CREATE, document=document, **words)
    update = Request(operation=Operation.UPDATE, document=document, old_document=without_schedule(document), **words)
    return [(phase, request) for request in (create, update) for phase in Phase]


def spent(document: dict[str, Any], kind: JobKind, *, measured: bool = True) -> Spent:
    """Review an object in all ways for the time, and where it is asked for, as a new one for the memory."""
    asked = requests(document, kind)
    gc.collect()
    start = time.process_time()
    answers = tuple(review(request, phase, KINDS, Settings()) for phase, request in asked)
    seconds = time.process_time() - start
    peak = 0
    if measured:
        tracemalloc.start()
        try:
            for phase, request in asked[:2]:
                orjson.dumps(review(request, phase, KINDS, Settings()).to_review())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    return Spent(len(asked) * size_of(document), seconds, peak, answers)


def check_answers(document: dict[str, Any], found: Spent) -> None:
    """Assert that each answer is bounded, and each patch in proportion, and that it applies."""
    for answer in found.answers:
        encoded = len(orjson.dumps(answer.to_review()))
        if answer.patch:
            assert encoded <= PATCH_PER_BYTE * size_of(document) + ANSWER
            jsonpatch.apply_patch(document, list(answer.patch))
        else:
            assert encoded <= ANSWER, f"an answer of {encoded:,} bytes for an object of {size_of(document):,}"


def check_bounds(found: Spent) -> None:
    """Assert that time and memory are in proportion to the size."""
    assert found.seconds <= PER_BYTE * found.size + ANY, f"{found.seconds:.2f} s for {found.size:,} bytes"
    assert found.memory <= MEMORY_PER_BYTE * found.size + ANY_MEMORY, f"{found.memory:,} for {found.size:,} bytes"


@pytest.mark.parametrize("shape, kind", CASES, ids=lambda one: getattr(one, "__name__", None) or one.kind)
def test_the_cost_of_a_shape_is_in_proportion_to_its_size(shape: Shape, kind: JobKind) -> None:
    small, large = (sized(partial(shape, kind), size) for size in (SMALL, LARGE))
    # The memory is measured in one kind, for it takes longer than all else.
    before, after = spent(small, kind, measured=False), spent(large, kind, measured=(shape, kind) in IN_TURN)
    check_answers(large, after)
    check_bounds(after)
    growth = after.size / before.size
    # What is quadratic takes the square of it; what a page fault or a collection adds is in the last term.
    assert after.seconds <= 1.8 * growth * before.seconds + 0.05, f"{before.seconds:.3f} s → {after.seconds:.3f} s"


@pytest.mark.parametrize("shape, kind", IN_TURN, ids=lambda one: getattr(one, "__name__", None) or one.kind)
def test_no_review_leaves_its_object_to_the_garbage_collector(shape: Shape, kind: JobKind) -> None:
    """The collector counts containers: a hundred objects of some MiB each would be held until it comes."""
    asked = requests(sized(partial(shape, kind), SMALL), kind)
    for _ in range(2):  # the first time schemas are compiled, too
        gc.collect()
        gc.disable()
        try:
            for phase, request in asked:
                orjson.dumps(review(request, phase, KINDS, Settings()).to_review())
            left = gc.collect()
        finally:
            gc.enable()
    assert left == 0


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_many_tasks_that_are_all_wrong_cost_no_more_each_than_a_few(kind: JobKind) -> None:
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
def test_an_object_with_every_field_is_in_proportion(kind: JobKind, count: int, length: int) -> None:
    document = filled(kind, count, length)
    found = spent(document, kind)
    check_answers(document, found)
    check_bounds(found)


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_no_single_list_map_or_text_of_a_schema_costs_more_than_its_size(kind: JobKind) -> None:
    ways = places(kind)[::EACH]
    wrong = []
    for way in ways:
        document = sized(partial(blown_up, kind, way), 4 * KIB)
        found = spent(document, kind, measured=False)
        try:
            check_answers(document, found)
            check_bounds(found)
        except AssertionError as error:
            wrong.append(f"{'.'.join(way)}: {error}")
    assert not wrong
    assert len(ways) > 12
