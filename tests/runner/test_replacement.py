"""Which pods are replaced, and when."""

import pytest

from jobgate.runner.actions import Delete, Patch, SetState
from tests.runner.world import Object, World, dijob, task, torchjob, vcjob, vctask


def world(*tasks: Object, **spec: object) -> World:
    """A DIJob whose pods run."""
    result = World(dijob(*tasks, **spec))
    result.settle()
    return result


def test_the_first_failure_of_a_pod_is_replaced_at_once_and_a_crash_loop_is_slowed_down() -> None:
    """The delays after the first are those of the Job controller."""
    cluster = world(task(2), backoffLimit=9)
    cluster.end(code=1)
    cluster.settle()
    assert len(cluster.running()) == 2
    for delay in (10, 20):
        cluster.end(code=1)
        cluster.wait(delay - 1)
        cluster.settle()
        assert len(cluster.running()) == 1
        cluster.wait(1)
        cluster.settle()
        assert len(cluster.running()) == 2
    assert cluster.status["restarts"] == 3
    cluster.wait(600)
    cluster.end(code=1)
    cluster.end(number=1, code=1)
    cluster.settle()
    assert (len(cluster.running()), cluster.status["restarts"]) == (2, 5)


def test_a_deleted_pod_is_replaced_as_soon_as_it_is_gone_and_is_no_failure() -> None:
    cluster = world(task(1), backoffLimit=0)
    cluster.leave(cluster.pods)
    (change,) = (action for action in cluster.plan() if isinstance(action, Patch))
    assert (change.found["kind"], change.changes["metadata"]["finalizers"]) == ("Pod", None)
    cluster.end(code=143)
    cluster.settle()
    assert (cluster.status["phase"], cluster.status["restarts"]) == ("Running", 0)


def test_finalizers_of_others_stay() -> None:
    cluster = world(task(1))
    cluster.pod()["metadata"]["finalizers"].append("kueue.x-k8s.io/managed")
    cluster.leave(cluster.pods)
    (change,) = (action for action in cluster.plan() if isinstance(action, Patch))
    assert change.changes["metadata"]["finalizers"] == ["kueue.x-k8s.io/managed"]


def test_a_pod_that_the_runner_deletes_is_released_before() -> None:
    """Even if the runner dies between the two, the exit code of the pod decides nothing."""
    cluster = World(vcjob(vctask(2), policies=[{"event": "PodFailed", "action": "RestartPartition"}]))
    cluster.job["spec"]["tasks"][0]["partitionPolicy"] = {"totalPartitions": 1, "partitionSize": 2}
    cluster.settle()
    cluster.end(number=1, code=1)
    cluster.step()
    actions = [action for action in cluster.plan() if isinstance(action, Patch | Delete)]
    other = cluster.pod(number=0)["metadata"]["name"]
    of_other = [type(action) for action in actions if action.found["metadata"]["name"] == other]
    assert of_other == [Patch, Delete]


@pytest.mark.parametrize(
    ("job", "code", "released"),
    [
        (dijob(task()), 1, True),
        (dijob(task(), policies=[{"event": "PodFailed", "action": "RestartPod"}]), 1, True),
        (torchjob("ExitCode"), 137, True),
        (torchjob("ExitCode"), 1, False),
        (torchjob("Never"), 137, False),
        (vcjob(vctask(policies=[{"exitCode": 7, "action": "RestartPod"}])), 7, True),
        (vcjob(vctask(policies=[{"exitCode": 7, "action": "RestartPod"}])), 8, False),
    ],
)
def test_only_failed_pods_that_are_replaced_are_released(job: Object, code: int, released: bool) -> None:
    cluster = World(job)
    cluster.settle()
    name = next(iter(cluster.jobs)).rpartition("-")[2]
    cluster.end(name, code=code)
    if any(isinstance(action, SetState) for action in cluster.plan()):
        cluster.step()  # it counts the restart first
    pods = [action.found for action in cluster.plan() if isinstance(action, Patch) and action.found["kind"] == "Pod"]
    assert [pod["metadata"]["name"] for pod in pods] == [cluster.pod(name)["metadata"]["name"]] * released


@pytest.mark.parametrize(("code", "released"), [(7, True), (8, False)])
def test_the_policies_with_which_a_batch_job_was_created_say_which_pods_it_replaces(code: int, released: bool) -> None:
    """Its `podFailurePolicy` cannot be changed."""
    cluster = World(vcjob(vctask(policies=[{"exitCode": 7, "action": "RestartPod"}])))
    cluster.settle()
    cluster.job["spec"]["tasks"][0]["policies"][0]["exitCode"] = 8
    cluster.end(code=code)
    if any(isinstance(action, SetState) for action in cluster.plan()):
        cluster.step()  # it counts the restart first
    patched = [action for action in cluster.plan() if isinstance(action, Patch) and action.found["kind"] == "Pod"]
    assert bool(patched) == released
