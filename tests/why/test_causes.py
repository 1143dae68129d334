"""Why a job waits, from the objects that were read."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from certs import Reading
from jobgate.cluster import Resource
from jobgate.cluster.events import EVENTS
from jobgate.cluster.lease import LEASES
from jobgate.configured.catalogue import kinds_of, named_in_catalogue
from jobgate.doctor.observed import ClusterSnapshot, NotChecked, Ref
from jobgate.jobs.kind import JobKind
from jobgate.plugins.queueing import KUEUE_GROUP, KUEUE_QUEUE
from jobgate.runner.lost import NODES
from jobgate.runner.seen import CLAIMS, JOBS, PODS
from jobgate.why.causes import CLASSES, WORKLOADS, Answer, Situation, explain
from tests.runner.test_rendering import example
from tests.runner.world import KINDS, START, World, dijob, queued, stamp, stored, task, torchjob, vcjob, vctask
from tests.why.test_nodes import node

Object = dict[str, Any]
HOME = "jobgate-system"
NOW = START + timedelta(minutes=5)
LEASE = {"spec": {"holderIdentity": "a", "renewTime": stamp(NOW), "leaseDurationSeconds": 15}}


def answer(
    world: World, lists: Mapping[Resource, Any] | None = None, kind: JobKind | None = None, **objects: Any
) -> Answer:
    """The answer about the job of a world, with more lists of its namespace, nodes, and a StorageClass and Lease."""
    found: dict[Resource, Any] = {JOBS: [*world.jobs.values()], PODS: world.pods, **(lists or {})}
    refs = {Ref(resource, "", "" if resource == NODES else "lab"): value for resource, value in found.items()}
    stored = {
        Ref(CLASSES, "fast"): objects.get("storage"),
    }
    missing: dict[Ref, Any] = {Ref(resource, "", "lab"): [] for resource in (EVENTS, CLAIMS, *WORKLOADS)}
    held = objects.get("lease", LEASE)
    named = {**held, "metadata": {"name": "canary-runner"}} if isinstance(held, dict) else held
    missing[Ref(LEASES, "", HOME)] = [named] if isinstance(named, dict) else named
    missing[Ref(NODES)] = NotChecked("this account cannot list nodes")
    seen = ClusterSnapshot(stored, _Lists({**missing, **refs}), clock=Reading(NOW, timedelta()))
    of = kind or KINDS.get(world.job["apiVersion"], world.job["kind"])
    assert isinstance(of, JobKind)
    return explain(Situation(of, world.job, seen, HOME))


class _Lists(dict[Ref, Any]):
    """Lists; those that a test does not name are empty."""

    def __missing__(self, _: Ref) -> Any:
        return []


def causes(world: World, lists: Mapping[Resource, Any] | None = None, **more: Any) -> list[tuple[str, str]]:
    """The causes: topic and text."""
    return [(str(cause.topic), str(cause)) for cause in answer(world, lists, **more).causes]


def settled(job: Object) -> World:
    """A job that runs."""
    world = World(job)
    world.settle()
    return world


def unscheduled(world: World, message: str = "0/1 nodes are available: 1 Insufficient cpu.") -> World:
    """Let all pods of a world find no node."""
    for pod in world.pods:
        conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
        pod["status"] = {"phase": "Pending", "conditions": conditions}
    return world


def asking(cpu: str, replicas: int = 1, **spec: Any) -> Object:
    """A task whose pods ask for CPU."""
    result = task(replicas)
    result["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    result["template"]["spec"] |= spec
    return result


def event(about: str, reason: str, message: str, kind: str = "Warning") -> Object:
    """An Event about an object."""
    return {
        "involvedObject": {"uid": about},
        "reason": reason,
        "message": message,
        "type": kind,
        "lastTimestamp": stamp(NOW),
    }


def claim(phase: str = "Pending", **spec: Any) -> Object:
    """A claim."""
    return {"metadata": {"name": "data", "uid": "claim"}, "spec": spec, "status": {"phase": phase}}


MOUNTS: dict[str, Any] = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}


def test_a_job_that_runs_has_no_cause() -> None:
    assert answer(settled(dijob(task(2)))) == Answer("DIJob lab/train", "runs", "all pods have started")


def test_a_job_that_has_ended_says_how() -> None:
    world = settled(dijob(task(1)))
    world.end()
    world.settle()
    assert answer(world) == Answer("DIJob lab/train", "has ended", "Succeeded: the job has succeeded")


def test_a_job_that_nobody_has_taken_up_names_what_to_install() -> None:
    job = dijob(task(1))
    job["status"] = {}
    job["metadata"]["creationTimestamp"] = stamp(START)
    first = answer(World(job)).causes[0]
    assert first.what == "no operator and no runner has taken it up"
    assert "--run dijobs.diengine.opendilab.org" in first.fix
    job["metadata"]["creationTimestamp"] = stamp(NOW)
    assert answer(World(job)).causes == ()


@pytest.mark.parametrize(
    ("lease", "reported"),
    [
        (LEASE, False),
        ({"spec": {**LEASE["spec"], "renewTime": stamp(START)}}, True),
        ({"spec": {**LEASE["spec"], "holderIdentity": ""}}, True),
        ([], False),
        (NotChecked("this account cannot list leases"), False),
    ],
    ids=["held", "expired", "given back", "of another name", "not readable"],
)
def test_a_runner_that_has_stopped_is_named_first(lease: Any, *, reported: bool) -> None:
    found = causes(unscheduled(settled(dijob(task(1)))), lease=lease)
    assert (found[0][0] == "runner") is reported
    assert len(found) == 1 + reported


def test_a_job_that_is_stopped_says_how_to_go_on() -> None:
    for spec, state, what in (
        ({"suspend": True}, {}, "it is suspended"),
        ({}, {"held": "AbortJob after PodFailed"}, "no pod runs since AbortJob after PodFailed"),
    ):
        job = dijob(task(1), **spec)
        job["status"]["jobgate"] |= state
        assert causes(World(job)) == [("stopped", what)]


@pytest.mark.parametrize(
    "job", [dijob(task(1)), vcjob(), torchjob(), stored(example("mxjob/dist.yaml"))], ids=lambda job: str(job["kind"])
)
def test_a_job_in_a_queue_gives_the_answer_of_its_status(job: Object) -> None:
    world = World(queued(job))
    world.verdict = "queue a has 2 of pods, the job asks for 1, and the jobs before it leave 0"
    world.settle()
    assert causes(world) == [("queue", world.verdict)]


def test_what_the_runner_reports_is_given_if_nothing_else_is_known() -> None:
    world = World(dijob(task(1)))
    world.job["status"]["conditions"] = [
        {"type": "Pending", "status": "True", "message": "Service train is in the way"}
    ]
    assert (answer(world).state, answer(world).message) == ("waits", "Service train is in the way")


def test_a_job_that_grows_beyond_its_queue_says_so() -> None:
    world = settled(dijob(task(1)))
    growth = "what the job asks for more than was released waits: queue a has 1 of pods"
    world.job["status"]["conditions"][-1]["message"] += f"; {growth}"
    assert growth in causes(world)[0][1]


def test_pods_that_cannot_be_created_give_the_reason_of_the_event() -> None:
    world = World(dijob(task(2)))
    world.step()
    (batch,) = world.jobs.values()
    batch["status"] = {"startTime": stamp(START)}
    batch["spec"]["suspend"] = False
    denied = 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest"'
    found = causes(world, {EVENTS: [event(batch["metadata"]["uid"], "FailedCreate", denied)]})
    assert found == [
        ("creation", 'pods of work cannot be created: forbidden: violates PodSecurity "restricted:latest"')
    ]


def test_nodes_are_named_instead_of_the_message_of_the_scheduler() -> None:
    world = unscheduled(settled(dijob(asking("3"))))
    (cause,) = answer(world, {NODES: [node("n0", "2")]}).causes
    assert "n0 comes nearest with 2 of 2 cpu free" in cause.what
    assert cause.detail == "the scheduler reports: 0/1 nodes are available: 1 Insufficient cpu."


@pytest.mark.parametrize("nodes", [NotChecked("this account cannot list nodes"), [node("n0", "9")]])
def test_where_nodes_are_not_known_or_have_room_the_scheduler_has_the_word(nodes: Any) -> None:
    world = unscheduled(settled(dijob(asking("3"))))
    (found,) = causes(world, {NODES: nodes})
    assert found == ("nodes", f"pod {world.pods[0]['metadata']['name']}: 0/1 nodes are available: 1 Insufficient cpu.")


def test_a_job_that_no_node_can_ever_take_is_told_so_while_it_waits_in_its_queue() -> None:
    world = World(queued(dijob(asking("3"))))
    world.verdict = "1 other job is before it in queue a"
    world.settle()
    (first, second) = causes(world, {NODES: [node("n0", "2")]})
    assert first == ("queue", world.verdict)
    assert second[1].startswith("task work: a pod asks for 3 cpu")
    assert "no node of 1 takes it even if empty: n0 comes nearest" in second[1]


CLAIMED: list[tuple[str, Any, list[Object], Any, list[str]]] = [
    ("is missing", [], [], None, ["PersistentVolumeClaim data does not exist"]),
    ("is bound", [claim("Bound")], [], None, []),
    ("has no class", [claim(storageClassName="fast")], [], None, ["is Pending: StorageClass fast does not exist"]),
    ("is pending", [claim(storageClassName="fast")], [], {}, ["PersistentVolumeClaim data is Pending"]),
    (
        "waits for a pod",
        [claim(storageClassName="fast")],
        [event("claim", "WaitForFirstConsumer", "waiting", "Normal")],
        {},
        [],
    ),
    ("is lost", [claim("Lost")], [], None, ["PersistentVolumeClaim data is Lost"]),
    ("cannot be listed", NotChecked("this account cannot list persistentvolumeclaims"), [], None, []),
]


@pytest.mark.parametrize(
    ("case", "claims", "events", "storage", "expected"), CLAIMED, ids=[case for case, *_ in CLAIMED]
)
def test_a_claim_that(case: str, claims: Any, events: list[Object], storage: Any, expected: list[str]) -> None:
    world = unscheduled(settled(dijob(asking("1", **MOUNTS))), 'persistentvolumeclaim "data" not found')
    found = [
        text for topic, text in causes(world, {CLAIMS: claims, EVENTS: events}, storage=storage) if topic == "claim"
    ]
    assert len(found) == len(expected)
    assert all(part in text for part, text in zip(expected, found, strict=True)), (case, found)


def test_the_message_of_the_scheduler_about_a_claim_is_left_out_if_the_claim_is_named() -> None:
    world = unscheduled(settled(dijob(asking("1", **MOUNTS))), 'persistentvolumeclaim "data" not found')
    assert [topic for topic, _ in causes(world, {NODES: [node()]})] == ["claim"]


def test_a_claim_of_a_volcano_job_that_the_runner_creates_is_not_missing() -> None:
    world = World(vcjob(vctask(), volumes=[{"mountPath": "/d", "volumeClaimName": "data"}]))
    assert causes(world) == [("claim", "PersistentVolumeClaim data does not exist")]
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = World(vcjob(vctask(), volumes=[{"mountPath": "/d", "volumeClaimName": "data", "volumeClaim": spec}]))
    assert causes(made) == []


MOUNT = event("pod", "FailedMount", 'secret "key" not found')
INIT = {"initContainerStatuses": [{"name": "fetch", "state": {"running": {"startedAt": stamp(START)}}}]}
RUNNING = {"name": "main", "state": {"running": {"startedAt": stamp(START)}}}
RUNS = {"phase": "Running", "containerStatuses": [RUNNING]}
ENDED = {"terminated": {"exitCode": 1, "finishedAt": stamp(NOW)}}
AGAIN = {"name": "main", "restartCount": 1, "state": {"running": {"startedAt": stamp(NOW)}}, "lastState": ENDED}
BACKOFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}}
STARTS: list[tuple[str, Object, list[Object], str, str]] = [
    ("has failed to mount", {}, [MOUNT], "True", 'FailedMount: secret "key" not found'),
    ("has mounted", {}, [{**MOUNT, "type": "Normal"}], "True", "node n0 has not begun to start it"),
    ("runs an init container", INIT, [MOUNT], "True", f"init container fetch runs since {stamp(START)}"),
    (
        "has just failed",
        {"containerStatuses": [{"name": "main", "restartCount": 1, "state": BACKOFF}]},
        [],
        "True",
        "CrashLoopBackOff: container main",
    ),
    ("has restarted once, and runs", {**RUNS, "containerStatuses": [AGAIN]}, [], "True", ""),
    ("starts on a dead node", INIT, [], "Unknown", "node n0 is not ready"),
    ("runs on a dead node", RUNS, [], "Unknown", "node n0 is not ready"),
    ("runs", RUNS, [MOUNT], "True", ""),
    (
        "is not ready",
        {"phase": "Running", "containerStatuses": [{**RUNNING, "ready": False}]},
        [event("pod", "Unhealthy", "Readiness probe failed")],
        "True",
        "runs, and is not ready: Unhealthy: Readiness probe failed",
    ),
    ("has ended on a dead node", {"phase": "Succeeded"}, [], "Unknown", ""),
]


@pytest.mark.parametrize(("case", "status", "events", "ready", "expected"), STARTS, ids=[case for case, *_ in STARTS])
def test_a_pod_that_has_a_node_and(case: str, status: Object, events: list[Object], ready: str, expected: str) -> None:
    world = settled(dijob(task(1)))
    pod = world.pod()
    pod["metadata"]["uid"], pod["spec"]["nodeName"] = "pod", "n0"
    pod["status"] = {"phase": "Pending", **status}
    found = [text.partition(": ")[2] for _, text in causes(world, {EVENTS: events, NODES: [node("n0", "4", ready)]})]
    assert len(found) == bool(expected), (case, found)
    assert not expected or found[0].startswith(expected)


def test_what_keeps_one_pod_of_a_gang_away_comes_before_the_others_that_wait_for_it() -> None:
    keeps_apart = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
    world = unscheduled(settled(dijob(task(2))), "pod group is unschedulable, waiting for minCount pods from a gang")
    world.pods[1]["status"]["conditions"][0]["message"] = f"{keeps_apart} no new claims to deallocate, preemption: 0/2"
    first, second = answer(world).causes
    assert (first.what, first.topic, len(first.pods)) == (keeps_apart, "nodes", 1)
    assert "podAntiAffinity" in first.fix
    assert second.topic == "gang"


def test_the_report_of_the_scheduler_is_one_about_nodes() -> None:
    world = unscheduled(settled(dijob(asking("3", 2))), "pod group is unschedulable, waiting for minCount pods")
    world.pods[1]["status"]["conditions"][0]["message"] = "0/1 nodes are available: 1 Insufficient cpu."
    (cause,) = (
        each for each in answer(world, {NODES: [node("n0", "4")], PODS: world.pods}).causes if each.topic == "nodes"
    )
    assert cause.detail == "the scheduler reports: 0/1 nodes are available: 1 Insufficient cpu."


def test_a_container_that_was_killed_for_its_memory_says_so() -> None:
    world = settled(dijob(task(1)))
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    container = {"name": "main", "restartCount": 3, "state": BACKOFF, "lastState": killed}
    world.pod()["status"] = {"phase": "Running", "containerStatuses": [container]}
    (cause,) = answer(world).causes
    assert cause.what.endswith("container main restarts repeatedly, last exit code 137 (OOMKilled)")
    assert cause.fix == "raise its memory limit, or let it use less"


def test_pods_with_the_same_cause_are_one() -> None:
    world = settled(dijob(task(3)))
    for pod in world.pods:
        pod["spec"]["nodeName"] = "n0"
    ((topic, text),) = causes(world, {NODES: [node("n0", "4", "Unknown")]})
    assert topic == "node"
    assert text.startswith("pods train-work-0-")
    assert text.count(", train-work-") == 2


def test_the_image_is_named_with_the_message_of_the_kubelet() -> None:
    world = settled(dijob(task(1)))
    pod = world.pod()
    pod["spec"]["nodeName"] = "n0"
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image di: denied"}}
    pod["status"] = {"phase": "Pending", "containerStatuses": [{"name": "main", "image": "di", "state": waiting}]}
    (cause,) = answer(world).causes
    assert (cause.what, cause.detail) == ("ImagePullBackOff: image di", "Back-off pulling image di: denied")


def test_a_pod_that_a_finalizer_keeps_names_it() -> None:
    world = settled(dijob(task(1)))
    world.leave([world.pod()])
    world.pod()["metadata"]["finalizers"].append("example.com/keep")
    (found,) = [text for topic, text in causes(world) if topic == "deletion"]
    assert found.endswith("deleted, and has not ended: finalizer example.com/keep keeps it")


@pytest.mark.parametrize(
    ("hours", "detail"),
    [
        (0, "the runner replaces it at 00:05:30 UTC by default, unless others can write to its volumes"),
        (
            1,
            "the runner was to replace it at 23:05:30 UTC by default, unless others can write to its volumes, or its node",
        ),
    ],
)
def test_a_pod_on_a_lost_node_says_when_it_is_replaced(hours: int, detail: str) -> None:
    world = settled(dijob(task(1)))
    world.pod()["spec"]["nodeName"] = "n0"
    world.now -= timedelta(hours=hours)
    world.leave([world.pod()])
    (cause,) = [cause for cause in answer(world).causes if cause.topic == "deletion"]
    assert cause.detail.startswith(detail)


def test_a_task_names_the_tasks_that_it_waits_for_and_how_far_they_are() -> None:
    world = World(dijob(task(2), task(1, "after", dependsOn={"name": ["work"]})))
    world.settle()
    world.pods = [pod for pod in world.pods if "work" in pod["metadata"]["name"]]
    world.jobs["train-after"]["spec"]["suspend"] = True
    world.pod("work", 1)["status"]["conditions"] = []
    assert ("order", "task after waits for task work, of which 1 of 2 pods have started") in causes(world)


def test_a_task_does_not_name_the_tasks_that_have_started() -> None:
    world = World(dijob(task(1, "first"), task(2), task(1, "after", dependsOn={"name": ["first", "work"]})))
    world.settle()
    world.pods = [pod for pod in world.pods if "after" not in pod["metadata"]["name"]]
    world.jobs["train-after"]["spec"]["suspend"] = True
    world.pod("work", 1)["status"]["conditions"] = []
    assert ("order", "task after waits for task work, of which 1 of 2 pods have started") in causes(world)


def test_kueue_gives_its_reason() -> None:
    (kind,) = kinds_of(named_in_catalogue("jobs.batch")[:1])[:1]
    batch = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "lab", "uid": "job", "labels": {KUEUE_QUEUE: "gpu"}},
        "spec": {"suspend": True},
        "status": {},
    }
    reserved = {
        "type": "QuotaReserved",
        "status": "False",
        "message": "insufficient unused quota for cpu, 2 more needed",
    }
    owner = [{"uid": "job", "controller": True}]
    workload = {"metadata": {"name": "w", "ownerReferences": owner}, "spec": {}, "status": {"conditions": [reserved]}}
    world = World(batch)
    world.job["metadata"]["creationTimestamp"] = stamp(NOW)
    expected = "Kueue has not admitted it to queue gpu: Workload w: insufficient unused quota for cpu, 2 more needed"
    assert causes(world, {WORKLOADS[0]: [workload]}, kind=kind) == [("queue", expected)]


def test_a_gated_pod_of_a_group_that_kueue_holds_names_queue_and_workload() -> None:
    world = settled(dijob(task(1)))
    pod = world.pod()
    pod["metadata"]["labels"] |= {KUEUE_QUEUE: "gpu", KUEUE_GROUP: "g"}
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    pod["status"] = {"phase": "Pending", "conditions": [gated]}
    ((topic, text),) = causes(world)
    assert topic == "gate"
    assert "Kueue has not admitted it to queue gpu: Workload g does not exist" in text


def test_a_job_of_another_kind_counts_its_pods() -> None:
    (kind,) = kinds_of(named_in_catalogue("rayclusters.ray.io")[:1])[:1]
    ray = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "namespace": "lab", "uid": "ray"}}
    world = World(settled(dijob(task(2))).job)
    pods = settled(dijob(task(2))).pods
    for pod in pods:
        pod["metadata"]["ownerReferences"] = [{"uid": "ray", "controller": True}]
    world.job, world.pods = {**ray, "status": {"state": "suspended"}}, pods
    assert answer(world, kind=kind) == Answer("RayCluster lab/r", "runs", "2 of 2 pods run")
    unscheduled(world)
    assert [topic for topic, _ in causes(world, kind=kind)] == ["nodes"]
