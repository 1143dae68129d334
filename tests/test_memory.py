"""The memory for observed objects is bounded in each informer of each process, whatever the objects contain."""

import ast
import asyncio
import json
import re
import sys
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from jobgate.cluster import ApiError, IncompleteError, Informer, Page, Resource
from jobgate.console.jobs import Jobs
from jobgate.controller import Controller, ControllerMetrics, ControllerSettings
from jobgate.jobs.kind import job_kinds
from jobgate.kinds import installed
from jobgate.ownership import MANAGED_BY
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL
from jobgate.plugins.queueing import QueueingArguments, System
from jobgate.room import SMALL, Room, project, weight_of
from jobgate.runner.queues.file import read_queues
from jobgate.runner.run import RunnerController, RunnerSettings
from jobgate.serving.certificate import SecretName, SecretSource
from jobgate.serving.cluster import ClusterView
from jobgate.serving.metrics import ServingMetrics
from jobgate.serving.rotation import Keeper

MIB = 1024 * 1024
#: Maximum characters that are kept of a large object without taking room for it.
BOUND = 32 * 1024
TEXT = "x" * 63
LABELS = dict([MANAGED_BY]) | {RUN_LABEL: "u", KIND_LABEL: "dijobs", JOB_LABEL: "train", TASK_LABEL: "learner"}
OWNER = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "controller": True}
FIELDS: dict[str, dict[str, Any]] = {
    "labels": {"metadata": {"labels": LABELS | {f"a/{number}": TEXT for number in range(12_000)}}},
    "annotations": {"metadata": {"annotations": {f"jobgate.dev/{number}": TEXT for number in range(11_000)}}},
    "owners": {"metadata": {"ownerReferences": [{**OWNER, "uid": f"{n:036}", "name": TEXT} for n in range(5_000)]}},
    "long owner": {"metadata": {"ownerReferences": [{**OWNER, "uid": "x" * MIB, "name": "x" * MIB}]}},
    "managed": {"metadata": {"managedFields": [{"manager": TEXT} for _ in range(12_000)]}},
    "spec": {"spec": {"minMember": "x" * MIB, "queue": ["x"] * 100_000, "hard": {"x" * MIB: "1"}}},
    "status": {"status": {"phase": "x" * MIB, "conditions": [{"type": "Ready", "message": TEXT}] * 12_000}},
    "containers": {"status": {"containerStatuses": [{"restartCount": 1, "state": {"terminated": {}}}] * 15_000}},
    "target": {"action": "x" * MIB, "target": {"kind": "Job", "name": "x" * MIB, "uid": "x" * MIB}},
    "data": {"data": {"a": "x" * MIB}, "value": 1},
}


def hostile(name: str) -> dict[str, Any]:
    fields = FIELDS[name]
    metadata = {
        "name": name.replace(" ", "-"),
        "namespace": "ada",
        "uid": name,
        "resourceVersion": "1",
        "labels": LABELS,
    }
    return {**fields, "metadata": metadata | fields.get("metadata", {})}


class Hostile:
    """An API server with only hostile objects."""

    async def pages(self, _: Resource) -> AsyncIterator[Page]:
        yield Page(map(hostile, FIELDS), "1")

    async def watch(self, *_: Any) -> AsyncIterator[dict[str, Any]]:
        await asyncio.Event().wait()
        yield {}

    async def get(self, *_: Any) -> None:
        return None

    async def create(self, *_: Any, **__: Any) -> Any:
        raise ApiError(403)

    patch = set_status = delete = create

    def labelled(self, *_: Any) -> Self:
        return self

    within = paced = named = labelled

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


def server() -> Any:
    view = ClusterView(installed(), reached=True)
    source = SecretSource(SimpleNamespace(), SecretName("tls", "x"), None, ServingMetrics())  # type: ignore[arg-type]
    return asyncio.gather(view.run(), source._watch())


def controller() -> Any:
    plugins = {"queueing": QueueingArguments(system=System.VOLCANO)}
    settings = ControllerSettings("svc", plugins=plugins)
    return Controller(Hostile(), job_kinds(installed()), settings, ControllerMetrics()).work()


def runner() -> Any:
    queues = read_queues("queues: [{name: a}]")
    queueing = QueueingArguments(system=System.VOLCANO)
    settings = RunnerSettings("svc", queueing, queues=queues, flows=True, elastic_nodes=True)
    return RunnerController(Hostile(), job_kinds(installed()), settings, ControllerMetrics()).work()


def rotation() -> Any:
    keeper = Keeper(SimpleNamespace(), [(Resource("secrets", "v1", ""), Hostile())])  # type: ignore[arg-type]
    return asyncio.gather(*(informer.run(api) for informer, api in keeper._watched))


def console() -> Any:
    return Jobs(Hostile(), installed()).run()  # type: ignore[arg-type]


@pytest.fixture
def informers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Informer[Any]]]:
    """All informers, with the files that create them."""
    created: list[tuple[str, Informer[Any]]] = []
    create = Informer.__init__

    def recorded(self: Informer[Any], *args: Any, **more: Any) -> None:
        frame = sys._getframe(1)
        while frame.f_back and "jobgate" not in frame.f_code.co_filename:
            frame = frame.f_back
        created.append((frame.f_code.co_filename, self))
        create(self, *args, **more)

    async def connected(_: Any) -> Hostile:
        return Hostile()

    monkeypatch.setattr(Informer, "__init__", recorded)
    monkeypatch.setattr("jobgate.serving.cluster.connected", connected)
    monkeypatch.setattr("jobgate.serving.certificate.connected", connected)
    monkeypatch.setattr("jobgate.runner.run.rivals", lambda *_: asyncio.sleep(0, []))
    return created


async def filled(process: Callable[[], Any], informers: list[tuple[str, Informer[Any]]]) -> None:
    """Run a process until all its informers are filled."""
    before, task = len(informers), asyncio.ensure_future(process())
    async with asyncio.timeout(120):
        while len(informers) == before or not all(informer.settled for _, informer in informers):
            assert not task.done(), task.result()
            await asyncio.sleep(0.05)
    task.cancel()
    with suppress(asyncio.CancelledError, BaseExceptionGroup):
        await task


PROCESSES = [server, controller, runner, rotation, console]


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.__name__)
async def test_little_of_a_hostile_object_is_kept_unless_it_takes_room(
    process: Callable[[], Any], informers: list[tuple[str, Informer[Any]]]
) -> None:
    await filled(process, informers)
    beyond = {
        f"{informer.resource} {key[1]}": (len(repr(kept)), taken)
        for _, informer in informers
        for key, kept in informer._known().items()
        for taken in (informer._sizes.get(key, 0),)
        if len(repr(kept)) > BOUND and taken < len(repr(kept)) / 2
    }
    assert beyond == {}


def calls() -> set[str]:
    """Return the files that create informers."""
    return {
        str(file)
        for file in Path("jobgate").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and re.match(r"(partial\()?Informer\b", ast.unparse(node))
    }


async def test_every_informer_is_tested(informers: list[tuple[str, Informer[Any]]]) -> None:
    for process in PROCESSES:
        await filled(process, informers)
    assert calls() == {str(Path(file).relative_to(Path.cwd())) for file, _ in informers}


def test_a_namespace_gets_half_of_the_room_and_three_quarters_for_small_objects() -> None:
    for size, most in ((MIB, 50), (SMALL, 75 * MIB // SMALL)):
        room = Room(100 * MIB)
        kept = sum(room.swap("ada", size) for _ in range(100 * MIB // size))
        assert kept == most
        assert room.swap("bob", size)
        assert not room.fits("ada", size)
        assert room.swap("ada", size, size)
        room.give("ada", 2 * size)
        assert room.fits("ada", size)


def test_many_namespaces_cannot_take_all_room() -> None:
    room = Room(100 * MIB)
    for number in range(100):
        while room.swap(f"n{number}", SMALL):
            pass
    assert room.swap("ada", 1024)


@pytest.mark.parametrize(
    "value, shape, expected",
    [
        ({"a": "x" * MIB, "b": 1}, {"a": ...}, {"a": "x" * 512}),
        ({"a": [{"b": 1, "c": 2}] * 99}, {"a": [{"b": ...}]}, {"a": [{"b": 1}] * 32}),
        (
            {"a": {"b": 1}, "c": ["x"], "d": None, "e": True},
            dict.fromkeys("acde", ...),
            {"a": None, "c": None, "e": True},
        ),
        ("text", {"a": ...}, {}),
        ({"a": "text"}, {"a": [...]}, {"a": []}),
    ],
    ids=["a long text", "a long list", "other types", "no object", "no list"],
)
def test_only_declared_fields_of_an_object_are_kept(value: Any, shape: Any, expected: Any) -> None:
    assert project(value, shape) == expected


@pytest.mark.parametrize(
    "value", [{"a": "x" * 5_000}, [{}] * 5_000, {"a": [1] * 5_000}], ids=["text", "objects", "list"]
)
def test_the_weight_of_a_value_is_close_to_its_memory(value: Any) -> None:
    copied = json.dumps(value)
    tracemalloc.start()
    kept = json.loads(copied)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.3 * taken < weight_of(kept) < 10 * taken


class Played(Hostile):
    """An API server that lists these objects, and then sends these events."""

    def __init__(self, listed: list[dict[str, Any]], *events: tuple[str, dict[str, Any]]) -> None:
        self.listed, self.events, self.idle = listed, list(events), False

    async def pages(self, _: Resource) -> AsyncIterator[Page]:
        yield Page(iter(self.listed), "1")

    async def watch(self, *_: Any) -> AsyncIterator[dict[str, Any]]:
        while self.events:
            change, document = self.events.pop(0)
            yield {"type": change, "object": document}
        self.idle = True
        await asyncio.Event().wait()


def named(name: str, namespace: str = "ada", size: int = 10_000) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "resourceVersion": "1"}, "text": "x" * size}


async def informed(informer: Informer[Any], api: Played) -> None:
    task = asyncio.create_task(informer.run(api))
    async with asyncio.timeout(10):
        while not informer.settled or api.events or not api.idle:  # noqa: ASYNC110
            await asyncio.sleep(0)
    task.cancel()


FULL = [named(f"x{number}") for number in range(4)]


@pytest.mark.parametrize(
    "listed, events, unkept",
    [
        (FULL, [], 2),
        (FULL[:2], [("ADDED", named("y"))], 1),
        (FULL[:2], [("MODIFIED", named("x0", size=50_000))], 1),
        (FULL, [("MODIFIED", named("x3", size=9_999))], 2),
        (FULL, [("DELETED", named("x3")), ("DELETED", named("x2"))], 0),
        (FULL, [("DELETED", named("x0")), ("MODIFIED", named("x2"))], 1),
        (FULL[:2], [("DELETED", named("x0")), ("ADDED", named("x0"))], 0),
    ],
    ids=["listed", "added", "grown", "changed", "unkept deleted", "kept deleted", "again"],
)
async def test_an_object_beyond_the_room_of_its_namespace_does_not_count_as_absent(
    listed: list[dict[str, Any]], events: list[tuple[str, dict[str, Any]]], unkept: int
) -> None:
    informer: Informer[dict[str, Any]] = Informer(Resource("xs", "v1", ""), keep=dict, room=Room(50_000))
    await informed(informer, Played([*listed, named("b", "bob", 100)], *events))
    assert informer.unkept == unkept
    assert informer.get("absent", "bob") is None
    if unkept:
        with pytest.raises(IncompleteError, match="namespace ada has more or larger xs"):
            informer.get("absent", "ada")
    else:
        assert informer.get("absent", "ada") is None


async def test_less_of_an_object_is_kept_without_room() -> None:
    informer: Informer[dict[str, Any]] = Informer(
        Resource("xs", "v1", ""), keep=dict, room=Room(50_000), less=lambda found: {"metadata": found["metadata"]}
    )
    await informed(informer, Played(FULL))
    assert ["text" in (informer.get(f"x{number}", "ada") or {}) for number in range(4)] == [True, True, False, False]


async def test_dropped_objects_are_listed_again_once_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobgate.cluster.informer.RELIST_PERIOD", 0.0)
    monkeypatch.setattr("jobgate.cluster.informer.RELIST_TIMES", 0)
    monkeypatch.setattr("jobgate.cluster.informer.RETRY_PERIOD", 0.0)
    informer: Informer[dict[str, Any]] = Informer(Resource("xs", "v1", ""), keep=dict, room=Room(50_000))
    api = Played(FULL, ("DELETED", FULL[0]), ("DELETED", FULL[1]))
    task = asyncio.create_task(informer.run(api))
    async with asyncio.timeout(10):
        while not informer.settled or api.events:
            api.listed = FULL if len(api.events) == 2 else FULL[2:]
            await asyncio.sleep(0)
        while informer.unkept:  # noqa: ASYNC110
            await asyncio.sleep(0)
    task.cancel()
    assert informer.keys() == [("ada", "x2"), ("ada", "x3")]
