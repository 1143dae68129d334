"""Informers: against an API server that is played, for what a real one does seldom, and against a real one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from jobgate.cluster import ApiError, Backoff, Cache, Informer, Page, Resource, slim
from jobgate.cluster import informer as informers
from jobgate.cluster.informer import Api, labels

GROUP, VERSION = "scheduling.volcano.sh", "v1beta1"
QUEUES = f"queues.{VERSION}.{GROUP}"
QUICK = Backoff(first=0.05, most=0.2)
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"queues.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Cluster",
        "names": {"plural": "queues", "singular": "queue", "kind": "Queue", "listKind": "QueueList"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def queue(name: str = "default", version: str = "1", weight: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "resourceVersion": version, "managedFields": [{"manager": "x"}]},
        "spec": {"weight": weight},
    }


def event(change: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"type": change, "object": found}


class Played:
    """An API server that follows a script step by step, and then does nothing more."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.asked: list[str] = []

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        self.asked.append("list")
        step = await self._next()
        if isinstance(step, Exception):
            raise step
        yield Page(iter(step), "10")

    async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        self.asked.append(f"watch {version}")
        step = await self._next()
        if isinstance(step, Exception):
            raise step
        for each in step:
            if isinstance(each, Exception):
                raise each
            yield each

    async def _next(self) -> Any:
        if not self.steps:
            await asyncio.Event().wait()
        return self.steps.pop(0)


@asynccontextmanager
async def running(api: Any, cache: Cache) -> AsyncIterator[Cache]:
    task = asyncio.create_task(cache.run(api))
    try:
        yield cache
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def informing(informer: Informer[Any], api: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(informer.run(api))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def weight(cache: Cache, name: str = "default") -> Any:
    """Return the weight of a queue: None where there is no such queue, `unknown` where nothing is known."""
    try:
        result = cache.get(QUEUES, name)
    except LookupError:
        return "unknown"
    return result and result["spec"]["weight"]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informers, "RETRY_PERIOD", 0.02)


@pytest.mark.parametrize(
    "steps, asked, expected",
    [
        ([[queue()]], ["list", "watch 10"], 1),
        ([[]], ["list", "watch 10"], None),
        ([ApiError(404), [queue()]], ["list", "list", "watch 10"], 1),
        ([OSError(), [queue()]], ["list", "list", "watch 10"], 1),
        ([[queue()], [event("MODIFIED", queue(version="11", weight=2))]], ["list", "watch 10", "watch 11"], 2),
        ([[queue()], [event("DELETED", queue(version="11"))]], ["list", "watch 10", "watch 11"], None),
        ([[], [event("ADDED", queue(version="11"))]], ["list", "watch 10", "watch 11"], 1),
        ([[queue()], [event("BOOKMARK", {"metadata": {"resourceVersion": "12"}})]],
         ["list", "watch 10", "watch 12"], 1),
        ([[queue()], [event("MODIFIED", queue(version="11", weight=2)), OSError()]],
         ["list", "watch 10", "watch 11"], 2),
        ([[queue()], ApiError(410), [queue(weight=3)]], ["list", "watch 10", "list", "watch 10"], 3),
        ([[queue()], [event("ERROR", {"code": 410})], [queue(weight=3)]],
         ["list", "watch 10", "list", "watch 10"], 3),
        ([[queue()], [{"type": "ADDED", "object": {}}], []], ["list", "watch 10", "watch 10", "watch 10"], 1),
    ],
)  # fmt: skip
async def test_what_is_known_follows_the_api_server(steps: list[Any], asked: list[str], expected: Any) -> None:
    api = Played(*steps)
    async with running(api, Cache([QUEUES], QUICK)) as cache:
        await until(lambda: not api.steps and api.asked == asked)
        assert weight(cache) == expected


async def test_nothing_is_known_before_the_first_list_and_of_other_resources() -> None:
    async with running(Played(), Cache([QUEUES], QUICK)) as cache:
        await asyncio.sleep(0.05)
        for resource in (QUEUES, "pods.v1."):
            with pytest.raises(LookupError):
                cache.get(resource, "default")


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_what_is_no_longer_served_is_no_longer_known(code: int) -> None:
    api = Played([queue()], ApiError(code), ApiError(code))
    async with running(api, Cache([QUEUES], QUICK)) as cache:
        await until(lambda: not api.steps)
        assert weight(cache) == "unknown"


async def test_what_was_said_long_ago_is_no_longer_held_for_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informers, "STALE", -1.0)
    api = Played([queue()], OSError())
    async with running(api, Cache([QUEUES], QUICK)) as cache:
        await until(lambda: api.asked[-2:] == ["watch 10", "list"])
        assert weight(cache) == "unknown"


async def test_managed_fields_are_not_kept() -> None:
    api = Played([queue()])
    async with running(api, Cache([QUEUES], QUICK)) as cache:
        await until(lambda: weight(cache) == 1)
        assert "managedFields" not in (cache.get(QUEUES, "default") or {})["metadata"]


async def test_it_tells_what_came_went_and_changed_and_nothing_else() -> None:
    api = Played(
        [queue("a"), queue("b")],
        [
            event("MODIFIED", queue("a", version="11", weight=2)),
            event("MODIFIED", queue("b", version="12")),
            event("ADDED", queue("c", version="13")),
            event("DELETED", queue("a", version="14")),
            event("BOOKMARK", {"metadata": {"resourceVersion": "15"}}),
        ],
        ApiError(410),
        [queue("b", weight=3), queue("d")],
    )
    reported: list[str] = []
    informer = Informer(
        Resource.parse(QUEUES),
        QUICK,
        keep=lambda found: found["spec"]["weight"],
        changed=lambda key: reported.append(key[1]),
    )
    async with informing(informer, api):
        await until(lambda: not api.steps and len(reported) == 8)
        assert sorted(reported[:2]) == ["a", "b"]
        assert reported[2:5] == ["a", "c", "a"]
        assert sorted(reported[5:]) == ["b", "c", "d"]
        assert sorted(informer.keys()) == [("", "b"), ("", "d")]
        assert informer.get("b") == 3


@pytest.mark.parametrize(
    "failures", [[ApiError(403)], [ApiError(404), OSError(), ApiError(403)], [ApiError(410), ApiError(403)]]
)
async def test_it_tells_what_went_while_nothing_was_known(failures: list[Exception]) -> None:
    api = Played([queue("a"), queue("b")], *failures, [queue("a")])
    reported: list[str] = []
    informer = Informer(Resource.parse(QUEUES), QUICK, keep=slim, changed=lambda key: reported.append(key[1]))
    async with informing(informer, api):
        await until(lambda: not api.steps and api.asked[-1] == "watch 10")
        assert sorted(reported[2:]) == ["a", "b"]
        assert informer.keys() == [("", "a")]


@pytest.mark.parametrize("pause, lists", [(0.0, 3), (3600.0, 2)])
async def test_it_lists_again_what_it_would_keep_by_now_and_not_too_often(
    pause: float, lists: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informers, "RELIST_PERIOD", pause)
    answers = [True, True]
    api = Played([queue()], [queue()], [queue()])
    informer = Informer(
        Resource.parse(QUEUES), QUICK, keep=slim, relist=lambda kept: bool(list(kept) and answers and answers.pop())
    )
    async with informing(informer, api):
        await until(lambda: api.asked == ["list"] * lists + ["watch 10"])


@pytest.mark.parametrize(
    "steps, settled",
    [
        ([[queue()]], True),
        ([ApiError(404)], True),
        ([ApiError(403)], True),
        ([OSError()], False),
        ([ApiError(500), OSError()], False),
        ([ApiError(500), OSError(), ApiError(500)], True),
    ],
)
async def test_it_is_settled_once_it_has_seen_what_there_is_or_that_it_will_not_soon(
    steps: list[Any], settled: bool
) -> None:
    informer = Informer(Resource.parse(QUEUES), QUICK, keep=slim)
    assert not informer.settled
    api = Played(*steps)
    async with informing(informer, api):
        await until(lambda: informer.settled or (not settled and not api.steps))
        assert informer.settled is settled


async def test_what_was_settled_stays_so_when_it_is_lost() -> None:
    api = Played([queue()], ApiError(403), ApiError(403))
    informer = Informer(Resource.parse(QUEUES), QUICK, keep=slim)
    async with informing(informer, api):
        await until(lambda: not api.steps)
        assert informer.settled
        with pytest.raises(LookupError):
            informer.keys()


async def test_a_long_list_lets_others_have_their_turn() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    informer = Informer(Resource.parse(QUEUES), QUICK, keep=lambda _: turns)
    task = asyncio.create_task(other())
    async with informing(informer, Played([queue(f"q{number}") for number in range(10 * informers.BATCH)])):
        await until(lambda: informer.settled)
    task.cancel()
    assert len({informer.get(f"q{number}") for number in range(10 * informers.BATCH)}) >= 10


@pytest.mark.parametrize(
    "text, name, namespace, path",
    [
        (QUEUES, "default", "", "/apis/scheduling.volcano.sh/v1beta1/queues/default"),
        ("pods.v1.", "a", "b", "/api/v1/namespaces/b/pods/a"),
        ("pods.v1.", "../../x?y#z", "b/..", "/api/v1/namespaces/b%2F../pods/..%2F..%2Fx%3Fy%23z"),
    ],
)
def test_a_name_stays_inside_its_part_of_the_path(text: str, name: str, namespace: str, path: str) -> None:
    assert Resource.parse(text).path_of(name, namespace) == path


def test_the_wait_grows_to_its_limit() -> None:
    assert [Backoff().seconds(failures) for failures in (1, 2, 3, 4, 5, 10**6)] == [5, 10, 20, 40, 60, 60]


@pytest.mark.parametrize(
    "text, path", [(QUEUES, "/apis/scheduling.volcano.sh/v1beta1/queues"), ("pods.v1.", "/api/v1/pods")]
)
def test_a_resource_has_its_path(text: str, path: str) -> None:
    assert Resource.parse(text).path == path
    assert str(Resource.parse(text)) == text


@pytest.mark.parametrize("text", ["", "queues", "queues."])
def test_a_resource_is_called_fully(text: str) -> None:
    with pytest.raises(ValueError, match="must be <plural>"):
        Resource.parse(text)


async def test_a_real_api_server_is_followed_from_before_the_crd_until_after_it(
    controlplane: ControlPlane, cluster_api: ClusterApi
) -> None:
    from jobgate.cluster.client import Client  # noqa: PLC0415 - seconds, which only this test needs

    def ask(method: str, path: str, body: Any = None) -> int:
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        return cluster_api.request(method, path, body, None, content)[0]

    ask("DELETE", f"{CRD_PATH}/queues.{GROUP}")
    objects = f"/apis/{GROUP}/{VERSION}/queues"
    await until(lambda: ask("GET", objects) == 404)
    cache = Cache([QUEUES], QUICK)
    async with await Client.connect(controlplane.kubeconfig) as client, running(client, cache):
        await asyncio.sleep(0.5)
        assert weight(cache) == "unknown"
        assert ask("POST", CRD_PATH, CRD) == 201
        await until(lambda: weight(cache) is None)
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Queue", "metadata": {"name": "default"}}
        assert ask("POST", objects, {**body, "spec": {"weight": 1}}) == 201
        await until(lambda: weight(cache) == 1)
        assert ask("PATCH", f"{objects}/default", {"spec": {"weight": 2}}) == 200
        await until(lambda: weight(cache) == 2)
        result = await client.get(Resource.parse(QUEUES), "default")
        assert result is not None
        assert result["spec"] == {"weight": 2}
        assert await client.get(Resource.parse(QUEUES), "another") is None
        assert ask("DELETE", f"{objects}/default") == 200
        await until(lambda: weight(cache) is None)
        assert ask("DELETE", f"{CRD_PATH}/queues.{GROUP}") == 200
        await until(lambda: weight(cache) == "unknown")


def test_of_a_namespace_only_labels_that_are_read_are_kept() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    metadata = {"name": "ada", "resourceVersion": "1", "labels": {"team": "a", "b": "c"}, "annotations": annotations}
    assert labels("team")({"metadata": metadata, "spec": {}, "status": {}}) == {"metadata": {"labels": {"team": "a"}}}
    assert labels("team")({"metadata": {"name": "ada"}}) == {"metadata": {"labels": {}}}


async def test_a_cache_keeps_labels_of_namespaces_and_all_of_others() -> None:
    namespace = {"metadata": {"name": "ada", "resourceVersion": "1"}, "status": {"phase": "Active"}}

    class Lists(Api):
        async def pages(self, resource: Resource) -> AsyncIterator[Page]:
            yield Page([namespace] if resource.plural == "namespaces" else [queue()], "1")

        async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
            await asyncio.Event().wait()
            yield {}

    async with running(Lists(), Cache(["namespaces.v1.", QUEUES])) as cache:
        await until(lambda: all(informer.settled for informer in cache.informers.values()))
        assert cache.get("namespaces.v1.", "ada") == {"metadata": {"labels": {}}}
        assert (cache.get(QUEUES, "default") or {})["spec"]
        assert cache.get("namespaces.v1.", "eve") is None
