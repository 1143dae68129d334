"""The whole controller against an API server in memory that fails as a test demands."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobgate import plugins
from jobgate.cluster import ApiError, Backoff, Resource
from jobgate.cluster import informer as informers
from jobgate.controller import Controller, ControllerMetrics, ControllerSettings, run
from jobgate.controller import queue as queues
from jobgate.controller.desired import desired
from jobgate.controller.loop import OPERATOR_TIMEOUT
from jobgate.controller.owned import Owned
from jobgate.controller.present import PODS
from jobgate.controller.territory import Territory
from jobgate.jobs.status import taken_over
from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Digests
from jobgate.room import Room
from jobgate.selectors import LabelSelector
from tests.controller.builder import CONFIG_MAPS, DIJOBS, EVENTS, POLICIES, SECRETS, SERVICES, job
from tests.controller.cluster import MemoryCluster, unreachable

pytestmark = pytest.mark.usefixtures("trial")

NAMESPACES = Resource("namespaces", "v1", "")
ALL = {"trial": {"secret": True, "policy": True}}
MINE = [(CONFIG_MAPS, "train-trial"), (SERVICES, "train"), (POLICIES, "train"), (SECRETS, "train-trial")]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informers, "RETRY_PERIOD", 0.01)
    monkeypatch.setattr(informers, "BACKOFF", Backoff(first=0.01, most=0.05))
    monkeypatch.setattr(queues, "RETRY_PERIOD", 0.01)
    monkeypatch.setattr(run, "SETTLE", 0.01)
    monkeypatch.setattr(
        "jobgate.controller.run.WorkQueue", lambda **_: queues.WorkQueue(Backoff(first=0.01, most=0.05))
    )


@asynccontextmanager
async def controlling(
    cluster: MemoryCluster, resync: float = 1000.0, selector: LabelSelector | None = None
) -> AsyncIterator[ControllerMetrics]:
    metrics = ControllerMetrics()
    settings = ControllerSettings(
        "svc.cluster.local",
        5000.0,
        resync,
        offered=plugins.installed(),
        namespace="jobgate-system",
        selector=selector or {},
    )
    task = asyncio.create_task(Controller(cluster, [DIJOB], settings, metrics).work())
    try:
        yield metrics
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def quiet(cluster: MemoryCluster) -> None:
    """Wait until the controller has nothing to say for a while."""
    async with asyncio.timeout(30):
        before = -1
        while before != len(cluster.calls):
            before = len(cluster.calls)
            await asyncio.sleep(0.15)


def there(cluster: MemoryCluster, namespace: str = "ada") -> list[str]:
    """The objects of a namespace except jobs."""
    results = [(resource.plural, name) for resource, where, name in cluster.objects if where == namespace]
    return sorted(f"{plural}/{name}" for plural, name in results if plural not in {"dijobs", "events"})


def events(cluster: MemoryCluster) -> list[tuple[str, str]]:
    return [(one["reason"], one["message"]) for place, one in cluster.objects.items() if place[0] == EVENTS]


def writes(cluster: MemoryCluster) -> list[tuple[str, str, str]]:
    return [call for call in cluster.calls if call[0] in {"create", "patch", "delete"}]


EVERYTHING = ["configmaps/train-trial", "networkpolicies/train", "secrets/train-trial", "services/train"]


async def test_a_job_gets_what_its_plugins_declare_and_nothing_is_written_twice() -> None:
    cluster = MemoryCluster()
    stored = cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await quiet(cluster)
    assert there(cluster) == EVERYTHING
    for resource, name in MINE:
        result = cluster.find(resource, "ada", name)
        assert result is not None
        assert [reference["uid"] for reference in result["metadata"]["ownerReferences"]] == [stored["metadata"]["uid"]]
    assert len(writes(cluster)) == 4


async def test_a_controller_that_starts_again_writes_nothing() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    for _ in range(2):
        async with controlling(cluster):
            await quiet(cluster)
    assert len(writes(cluster)) == 4


async def test_host_lists_follow_a_scaled_job() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(replicas=1))
    async with controlling(cluster):
        await quiet(cluster)
        cluster.put(DIJOBS, job(replicas=3))
        await quiet(cluster)
    result = cluster.find(CONFIG_MAPS, "ada", "train-trial")
    assert result
    assert result["data"]["work.host"].count("\n") == 2


def di_pod(job: Mapping[str, Any], index: int, uid: str = "") -> dict[str, Any]:
    """A pod of a DIJob, as its operator makes it."""
    labels = {"diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": "work"}
    owner = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "uid": uid or job["metadata"]["uid"]}
    name = {"name": f"train-work-{index}", "namespace": "ada"}
    return {"metadata": {**name, "labels": labels, "ownerReferences": [owner]}}


def hosts(cluster: MemoryCluster) -> list[str]:
    """The indices of the pods that the host list of the job names."""
    result = cluster.find(CONFIG_MAPS, "ada", "train-trial")
    assert result
    return [host.partition(".")[0].rpartition("-")[2] for host in result["data"]["work.host"].split("\n")]


async def test_host_lists_name_the_pods_that_the_operator_left() -> None:
    cluster = MemoryCluster()
    stored = cluster.put(DIJOBS, job(replicas=6))
    for index in range(6):
        cluster.put(PODS, di_pod(stored, index))
    async with controlling(cluster):
        await quiet(cluster)
        assert hosts(cluster) == list("012345")
        cluster.put(DIJOBS, job(replicas=3))
        for index in (2, 3, 4):
            cluster.drop(PODS, "ada", f"train-work-{index}")
        await quiet(cluster)
        assert hosts(cluster) == list("015")
        cluster.edit(PODS, "ada", "train-work-1", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
        cluster.put(PODS, di_pod(stored, 7, uid="of an earlier job"))
        await quiet(cluster)
        assert hosts(cluster) == list("015")
        cluster.drop(PODS, "ada", "train-work-5")
        await quiet(cluster)
        assert hosts(cluster) == list("012")


async def test_host_lists_name_no_pods_that_went_while_pods_could_not_be_watched() -> None:
    cluster = MemoryCluster()
    stored = cluster.put(DIJOBS, job(replicas=2))
    for index in (0, 1, 5):
        cluster.put(PODS, di_pod(stored, index))

    def forbidden(verb: str, resource: Resource, _: str) -> None:
        if (verb, resource) == ("watch", PODS) and cluster.find(PODS, "ada", "train-work-5"):
            cluster.drop(PODS, "ada", "train-work-5")
            raise ApiError(403)

    cluster.faults.append(forbidden)
    async with controlling(cluster):
        await quiet(cluster)
    assert hosts(cluster) == list("01")


async def test_a_pod_that_changes_no_host_list_has_no_job_looked_at() -> None:
    cluster = MemoryCluster()
    stored = cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await quiet(cluster)
        before = len(cluster.calls)
        for index in range(2):
            cluster.put(PODS, di_pod(stored, index))
        await quiet(cluster)
        assert len(cluster.calls) == before


@pytest.mark.parametrize("resource, name", MINE[:3])
async def test_what_is_deleted_is_created_again(resource: Resource, name: str) -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await quiet(cluster)
        cluster.drop(resource, "ada", name)
        await quiet(cluster)
    assert there(cluster) == EVERYTHING


async def test_a_lost_secret_is_created_again_when_all_jobs_are_looked_at() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster, resync=0.2):
        await until(lambda: there(cluster) == EVERYTHING)
        cluster.drop(SECRETS, "ada", "train-trial")
        await until(lambda: there(cluster) == EVERYTHING)


async def test_what_is_edited_is_changed_back_and_a_key_is_not() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await quiet(cluster)
        before = [cluster.find(*(resource, "ada", name)) for resource, name in MINE]
        cluster.edit(CONFIG_MAPS, "ada", "train-trial", {"data": {"work.host": "evil", "more": "x"}})
        cluster.edit(SERVICES, "ada", "train", {"spec": {"selector": {"job": "other"}}})
        cluster.edit(POLICIES, "ada", "train", {"spec": {"ingress": [{}]}})
        await quiet(cluster)
        after = [cluster.find(*(resource, "ada", name)) for resource, name in MINE]
    for each in (*before, *after):
        assert each is not None
        each["metadata"].pop("resourceVersion")
    assert after == before


async def test_what_is_no_longer_declared_goes_but_not_what_pods_mount() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await quiet(cluster)
        cluster.put(DIJOBS, job(plugins={}))
        await quiet(cluster)
    assert there(cluster) == ["configmaps/train-trial", "secrets/train-trial"]


async def test_what_was_not_declared_any_more_while_nobody_looked_goes_too() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins={"trial": {"policy": True}}))
    async with controlling(cluster):
        await quiet(cluster)
    cluster.put(DIJOBS, job(plugins={"trial": {}}))
    async with controlling(cluster):
        await quiet(cluster)
    assert there(cluster) == ["configmaps/train-trial", "services/train"]


@pytest.mark.parametrize("plugins", [{"unknown": {}}, {"trial": {"nonsense": True}}, {"trial": 7}])
async def test_if_a_job_is_not_understood_any_more_nothing_of_it_goes(plugins: Any) -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
        cluster.put(DIJOBS, job(plugins=plugins))
        await quiet(cluster)
    assert there(cluster) == ["configmaps/train-trial", "services/train"]


@pytest.mark.parametrize("resource, name", MINE)
@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"labels": {"app.kubernetes.io/managed-by": "jobgate"}},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": "other"}]},
    ],
    ids=["plain", "with our label", "of another owner"],
)
async def test_what_is_someone_elses_is_left_alone_and_reported(
    resource: Resource, name: str, metadata: dict[str, Any]
) -> None:
    cluster = MemoryCluster()
    theirs = cluster.put(
        resource, {"metadata": {"name": name, "namespace": "ada", **metadata}, "data": {"mine": "yes"}}
    )
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await until(lambda: events(cluster) and there(cluster) == EVERYTHING)
        await asyncio.sleep(0.3)
        assert cluster.find(resource, "ada", name) == theirs
        ((reason, message),) = events(cluster)
        assert reason == "ObjectInTheWay"
        assert f" {name} " in message
        cluster.drop(resource, "ada", name)
        await until(
            lambda: (cluster.find(resource, "ada", name) or theirs)["metadata"]["uid"] != theirs["metadata"]["uid"]
        )


async def test_who_erases_fields_of_a_job_is_named_by_an_event() -> None:
    cluster = MemoryCluster()
    result = job(plugins=None)
    del result["spec"]["plugins"]
    applied = {"spec": {**result["spec"], "plugins": {"svc": []}}}
    result["metadata"] |= {
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)},
        "managedFields": [{"manager": "an-operator", "operation": "Update"}],
    }
    cluster.put(DIJOBS, result)
    async with controlling(cluster):
        await until(lambda: events(cluster))
    ((reason, message),) = events(cluster)
    assert (reason, "an-operator has erased plugins" in message) == ("FieldsErased", True)


async def test_what_an_earlier_job_of_the_name_left_is_waited_for() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
        cluster.drop(DIJOBS, "ada", "train")
        new = cluster.put(DIJOBS, job())["metadata"]["uid"]
        await asyncio.sleep(0.2)
        old = [cluster.find(resource, "ada", name) for resource, name in MINE[:2]]
        assert all(each and each["metadata"]["ownerReferences"][0]["uid"] != new for each in old)
        for resource, name in MINE[:2]:  # garbage collection
            cluster.drop(resource, "ada", name)
        await until(lambda: len(there(cluster)) == 2)
    assert events(cluster) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"status": {"phase": "Succeeded"}},
        {"status": {"phase": "Failed"}},
        {"status": {"state": {"phase": "Completed"}}},
        {"status": {"conditions": [{"type": "Failed", "status": "True"}]}},
    ],
)
async def test_for_a_job_that_is_over_nothing_is_made(fields: dict[str, Any]) -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(**fields))
    async with controlling(cluster):
        await quiet(cluster)
    assert writes(cluster) == []


@pytest.mark.parametrize(
    "status",
    [{"phase": "Running"}, {"state": {"phase": "Aborted"}}, {"conditions": [{"type": "Failed", "status": "False"}]}, 7],
)
async def test_a_job_that_may_go_on_gets_its_objects(status: Any) -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(status=status))
    async with controlling(cluster):
        await quiet(cluster)
    assert there(cluster) == ["configmaps/train-trial", "services/train"]


async def test_two_jobs_of_one_name_in_two_namespaces_do_not_meet() -> None:
    cluster = MemoryCluster()
    for namespace, replicas in (("ada", 1), ("bob", 2)):
        cluster.put(DIJOBS, job(namespace=namespace, replicas=replicas))
    async with controlling(cluster):
        await quiet(cluster)
        cluster.put(DIJOBS, job(namespace="ada", plugins={}))
        await quiet(cluster)
    assert there(cluster, "ada") == ["configmaps/train-trial"]
    assert there(cluster, "bob") == ["configmaps/train-trial", "services/train"]


async def test_a_secret_without_its_key_is_reported_and_left() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster, resync=0.1):
        await until(lambda: there(cluster) == EVERYTHING)
        cluster.edit(SECRETS, "ada", "train-trial", {"stringData": {"key": None}})
        await until(lambda: events(cluster))
    assert [reason for reason, _ in events(cluster)] == ["ObjectIncomplete"]


async def test_what_cannot_be_changed_any_more_is_created_again() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
        cluster.edit(SERVICES, "ada", "train", {"spec": {"clusterIP": "10.0.0.1"}})
        await until(lambda: (cluster.find(SERVICES, "ada", "train") or {"spec": {}})["spec"].get("clusterIP") == "None")
    assert ("dry", "services", "train") in cluster.calls


def refusing(verb: str, plural: str, error: Exception) -> Callable[[str, Resource, str], None]:
    def fault(called: str, resource: Resource, _: str) -> None:
        if (called, resource.plural) == (verb, plural):
            raise error

    return fault


@pytest.mark.parametrize(
    "fault, message",
    [
        (refusing("get", "secrets", ApiError(403)), "Secret train-trial: the controller has no permission for Secrets"),
        (refusing("create", "secrets", ApiError(403, "Forbidden")), "Secret train-trial: the controller has no permission for Secrets"),
        (refusing("create", "configmaps", ApiError(403, "Forbidden", "exceeded quota")),
         "ConfigMap train-trial: the API server responded with 403 Forbidden: exceeded quota"),
        (refusing("create", "services", ApiError(422, "Invalid", "bad port")),
         "Service train: the API server responded with 422 Invalid: bad port"),
    ],
)  # fmt: skip
async def test_what_may_not_be_made_is_reported_and_holds_up_nothing_else(fault: Any, message: str) -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    cluster.faults.append(fault)
    async with controlling(cluster):
        await until(lambda: len(there(cluster)) == 3 and events(cluster))
        await asyncio.sleep(0.2)
        ((reason, result),) = events(cluster)
        assert reason == "CannotMakeObject"
        assert result.startswith(message)
        cluster.faults.clear()
        await until(lambda: there(cluster) == EVERYTHING)


async def test_in_a_namespace_that_goes_away_nothing_is_reported() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    gone = ApiError(403, "Forbidden", "because it is being terminated", terminating=True)
    cluster.faults += [refusing("create", plural, gone) for plural in ("configmaps", "services")]
    async with controlling(cluster):
        await asyncio.sleep(0.3)
    assert ("create", "events") not in {call[:2] for call in cluster.calls}


class Chance:
    """Fails in turn in every way there is, for a while."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, verb: str, resource: Resource, name: str) -> Callable[[], None] | None:
        if verb in {"list", "watch"} or self.left == 0:
            return None
        self.left -= 1
        turn = self.left % 6
        if turn == 0:
            raise ApiError(500, "InternalError")
        if turn == 1:
            raise TimeoutError
        if turn == 2:
            raise ApiError(429, "TooManyRequests")
        if turn == 3:
            raise ConnectionResetError
        return unreachable if turn == 4 else None


@pytest.mark.parametrize("times", range(1, 40, 3))
async def test_whatever_fails_and_whatever_answer_is_lost_it_ends_as_declared(times: int) -> None:
    cluster = MemoryCluster()
    cluster.faults.append(Chance(times))
    stored = cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster):
        await until(lambda: there(cluster) == EVERYTHING)
        cluster.put(DIJOBS, job(plugins=ALL, replicas=3))
        await until(
            lambda: (cluster.find(CONFIG_MAPS, "ada", "train-trial") or {})["data"]["work.host"].count("\n") == 2
        )
        cluster.put(DIJOBS, job(plugins={}))
        await until(lambda: there(cluster) == ["configmaps/train-trial", "secrets/train-trial"])
    uids = {
        reference["uid"]
        for each in cluster.objects.values()
        for reference in each["metadata"].get("ownerReferences", ())
    }
    assert uids == {stored["metadata"]["uid"]}
    assert events(cluster) == []


async def test_a_write_that_meets_another_is_done_on_what_that_left() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
        met: list[str] = []

        def meeting(verb: str, resource: Resource, name: str) -> None:
            if verb == "patch" and not met:
                met.append(name)
                cluster.edit(resource, "ada", name, {"metadata": {"labels": {"team": "blue"}}})

        cluster.faults.append(meeting)
        cluster.edit(CONFIG_MAPS, "ada", "train-trial", {"data": {"work.host": "evil"}})
        await until(lambda: met and "evil" not in str(cluster.find(CONFIG_MAPS, "ada", "train-trial")))
    result = cluster.find(CONFIG_MAPS, "ada", "train-trial")
    assert result
    assert result["metadata"]["labels"]["team"] == "blue"


async def test_two_who_do_not_agree_do_not_keep_the_api_server_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "jobgate.controller.run.WorkQueue", lambda **_: queues.WorkQueue(Backoff(first=0.05, most=10.0))
    )
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await until(lambda: len(there(cluster)) == 2)

        def undoing(verb: str, resource: Resource, name: str) -> Callable[[], None] | None:
            if verb != "patch":
                return None

            def undo() -> None:
                cluster.edit(resource, "ada", name, {"data": {"work.host": "evil"}})

            return undo

        cluster.faults.append(undoing)
        cluster.edit(CONFIG_MAPS, "ada", "train-trial", {"data": {"work.host": "evil"}})
        await asyncio.sleep(1.5)
    patches = [call for call in cluster.calls if call[0] == "patch"]
    assert 2 <= len(patches) <= 8


async def test_an_api_server_that_is_away_is_not_called_all_the_time() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
        away = [refusing(verb, each.plural, OSError()) for verb in ("list", "watch", "create", "patch", "get")
                for each in (CONFIG_MAPS, SERVICES, POLICIES, DIJOBS)]  # fmt: skip
        cluster.faults += away
        cluster.drop(SERVICES, "ada", "train")
        cluster.calls.clear()
        await asyncio.sleep(0.5)
        assert len(cluster.calls) < 60
        cluster.faults.clear()
        await until(lambda: len(there(cluster)) == 2)


async def test_nothing_is_written_before_it_is_known_what_there_is() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job())
    async with controlling(cluster):
        await quiet(cluster)
    cluster.calls.clear()
    cluster.faults.append(refusing("list", "services", ApiError(500)))
    async with controlling(cluster):
        await asyncio.sleep(0.2)
    assert writes(cluster) == []


async def test_one_job_that_cannot_be_done_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(crew: Any) -> Any:
        if crew.name == "bad":
            raise RuntimeError("a secret value")
        return desired(crew)

    monkeypatch.setattr("jobgate.controller.loop.desired", broken)
    cluster = MemoryCluster()
    for name in ("bad", "train"):
        cluster.put(DIJOBS, job(name))
    async with controlling(cluster) as metrics:
        await until(lambda: len(there(cluster)) == 2)
        assert b'controller_runtime_reconcile_errors_total{controller="jobgate"}' in metrics.exposition()


async def test_what_is_counted_is_what_was_done() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job(plugins=ALL))
    async with controlling(cluster) as metrics:
        await quiet(cluster)
        text = metrics.exposition().decode()
    for plural in ("configmaps", "services", "networkpolicies", "secrets"):
        assert f'jobgate_controller_writes_total{{action="create",resource="{plural}"}} 1.0' in text
    assert "jobgate_controller_unsettled_jobs 0.0" in text


def test_nothing_of_a_secret_is_in_an_error() -> None:
    from jobgate.cluster.client import rejection  # noqa: PLC0415

    status: Mapping[str, Any] = {"reason": "Invalid", "message": 'data[key]: Invalid value: "hush"'}
    assert "hush" not in str(rejection(SECRETS, 422, status))
    assert "hush" in str(rejection(CONFIG_MAPS, 422, status))


async def test_what_is_large_is_kept_right_and_remembered_by_its_metadata_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[Any] = []
    whole = Owned._kept

    def watched(owned: Owned, found: dict[str, Any]) -> dict[str, Any]:
        remembered = whole(owned, found)
        kept.append(remembered)
        return remembered

    monkeypatch.setattr(Owned, "_kept", watched)
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job("train", "ada", 2000, {"trial": {}}))
    async with controlling(cluster):
        await until(lambda: cluster.find(CONFIG_MAPS, "ada", "train-trial"))
        before = cluster.find(CONFIG_MAPS, "ada", "train-trial")
        assert before is not None
        cluster.edit(CONFIG_MAPS, "ada", "train-trial", {"data": {"work.host": "x" * 100_000}})
        await until(lambda: (cluster.find(CONFIG_MAPS, "ada", "train-trial") or {})["data"] == before["data"])
        cluster.edit(DIJOBS, "ada", "train", {"spec": {"plugins": {"trial": None, "env": []}}})
        await until(lambda: there(cluster) == ["configmaps/train-trial"])
    maps = [each for each in kept if each["metadata"]["name"] == "train-trial"]
    assert maps
    assert all(entry["kind"] == "PartialObjectMetadata" and "data" not in entry for entry in maps)
    assert all(len(str(item)) < 1000 for item in maps)


@pytest.mark.parametrize(
    "namespace, labels, expected",
    [
        ("ada", {}, 2),
        ("ada", {"jobgate.dev/admission": "enabled"}, 2),
        ("ada", {"jobgate.dev/admission": "disabled"}, 0),
        ("kube-system", {}, 0),
        ("jobgate-system", {}, 0),
    ],
)
async def test_namespaces_that_have_opted_out_and_those_of_the_system_are_left_alone(
    namespace: str, labels: dict[str, str], expected: int
) -> None:
    cluster = MemoryCluster()
    cluster.put(NAMESPACES, {"metadata": {"name": namespace, "namespace": "", "labels": labels}})
    cluster.put(DIJOBS, job("train", namespace, 2, {"trial": {}}))
    cluster.put(DIJOBS, job("train", "elsewhere", 2, {"trial": {}}))
    async with controlling(cluster):
        await until(lambda: len(there(cluster, "elsewhere")) == 2)
        await quiet(cluster)
    assert len(there(cluster, namespace)) == expected


async def test_a_namespace_is_served_as_soon_as_the_selector_matches_and_no_longer() -> None:
    cluster = MemoryCluster()
    for name, labels in (("ada", {}), ("bob", {"team": "vision"})):
        cluster.put(NAMESPACES, {"metadata": {"name": name, "namespace": "", "labels": labels}})
        cluster.put(DIJOBS, job("train", name, 2, {"trial": {}}))
    cluster.put(DIJOBS, job("train", "unknown", 2, {"trial": {}}))
    async with controlling(cluster, selector={"matchLabels": {"team": "vision"}}):
        await until(lambda: len(there(cluster, "bob")) == 2)
        await quiet(cluster)
        assert not there(cluster, "ada")
        assert not there(cluster, "unknown")
        cluster.edit(NAMESPACES, "", "ada", {"metadata": {"labels": {"team": "vision"}}})
        await until(lambda: len(there(cluster, "ada")) == 2)
        cluster.edit(NAMESPACES, "", "bob", {"metadata": {"labels": {"team": "web"}}})
        cluster.put(DIJOBS, job("late", "bob", 2, {"trial": {}}))
        await quiet(cluster)
    assert len(there(cluster, "bob")) == 2
    for name in ("ada", "bob"):
        labels = (cluster.find(CONFIG_MAPS, name, "train-trial") or {})["metadata"]["labels"]
        assert labels["jobgate.dev/installation-namespace"] == "jobgate-system"


async def test_jobs_are_gone_through_once_for_all_namespaces_of_a_list() -> None:
    cluster, passes = MemoryCluster(), list[Collection[str]]()
    for name in ("ada", "bob", "eve"):
        cluster.put(NAMESPACES, {"metadata": {"name": name, "namespace": ""}})
    territory = Territory(changed=passes.append)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(territory.namespaces.run(cluster))
        await until(lambda: bool(passes))
        cluster.edit(NAMESPACES, "", "bob", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
        await until(lambda: len(passes) > 1)
        running.cancel()
    assert passes == [{"ada", "bob", "eve"}, {"bob"}]


async def test_jobs_for_which_there_is_no_room_are_read_when_they_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jobgate.controller.jobs.Digests", lambda kind, settings, _: Digests(kind, settings, Room(0)))
    cluster = MemoryCluster()
    cluster.put(DIJOBS, job("train", "ada", 2, ALL))
    async with controlling(cluster):
        await until(lambda: len(there(cluster)) == len(MINE))
        cluster.put(DIJOBS, job("train", "ada", 3, ALL))
        await until(lambda: "train-work-2" in str(cluster.find(CONFIG_MAPS, "ada", "train-trial")))
        cluster.edit(DIJOBS, "ada", "train", {"spec": {"plugins": {"trial": None, "env": []}}})
        await until(lambda: there(cluster) == ["configmaps/train-trial", "secrets/train-trial"])


LATE, FRESH = OPERATOR_TIMEOUT + 60, OPERATOR_TIMEOUT - 60


def waiting(age: float, **fields: Any) -> dict[str, Any]:
    """A job that was created so many seconds ago."""
    result: dict[str, Any] = job()
    made = datetime.now(UTC) - timedelta(seconds=age)
    result["metadata"] |= {"creationTimestamp": f"{made:%Y-%m-%dT%H:%M:%SZ}", **fields.pop("metadata", {})}
    return result | fields


@pytest.mark.parametrize(
    ("case", "found", "said"),
    [
        ("it waits for long", (LATE, {}), ["JobNotRun"]),
        ("it has just been made", (FRESH, {}), []),
        ("its operator has written a status", (LATE, {"status": {"phase": "Pending"}}), []),
        ("the runner has taken it over", (LATE, taken_over({})), []),
        ("it is being deleted", (LATE, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_job_that_nothing_runs_is_reported(
    case: str, found: tuple[float, dict[str, Any]], said: list[str]
) -> None:
    del case
    age, fields = found
    cluster = MemoryCluster()
    cluster.put(DIJOBS, waiting(age, **fields))
    async with controlling(cluster):
        await quiet(cluster)
        assert [reason for reason, _ in events(cluster)] == said


async def test_a_job_is_reported_at_a_resync_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobgate.controller.loop.OPERATOR_TIMEOUT", 1e9)
    cluster = MemoryCluster()
    cluster.put(DIJOBS, waiting(LATE))
    async with controlling(cluster, resync=0.05):
        await quiet(cluster)
        assert events(cluster) == []
        monkeypatch.setattr("jobgate.controller.loop.OPERATOR_TIMEOUT", OPERATOR_TIMEOUT)
        await until(lambda: events(cluster))
        ((_, message),) = events(cluster)
        assert "jobgate run" in message


async def test_an_event_is_written_once_however_often_the_job_is_looked_at() -> None:
    cluster = MemoryCluster()
    cluster.put(DIJOBS, waiting(LATE))
    async with controlling(cluster, resync=0.02):
        await until(lambda: events(cluster))
        await quiet(cluster)
        assert [verb for verb, plural, _ in cluster.calls if plural == "events"] == ["create"]
