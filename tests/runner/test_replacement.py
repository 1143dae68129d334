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
    found = world(task(2), backoffLimit=9)
    found.end(code=1)
    found.settle()
    assert len(found.running()) == 2
    for delay in (10, 20):
        found.end(code=1)
        found.wait(delay - 1)
        found.settle()
        assert len(found.running()) == 1
        found.wait(1)
        found.settle()
        assert len(found.running()) == 2
    assert found.status["restarts"] == 3
    found.wait(600)
    found.end(code=1)
    found.end(number=1, code=1)
    found.settle()
    assert (len(found.running()), found.status["restarts"]) == (2, 5)


def test_a_deleted_pod_is_replaced_as_soon_as_it_is_gone_and_is_no_failure() -> None:
    found = world(task(1), backoffLimit=0)
    found.leave(found.pods)
    (change,) = (action for action in found.plan() if isinstance(action, Patch))
    assert (change.found["kind"], change.changes["metadata"]["finalizers"]) == ("Pod", None)
    found.end(code=143)
    found.settle()
    assert (found.status["phase"], found.status["restarts"]) == ("Running", 0)


def test_finalizers_of_others_stay() -> None:
    found = world(task(1))
    found.pod()["metadata"]["finalizers"].append("kueue.x-k8s.io/managed")
    found.leave(found.pods)
    (change,) = (action for action in found.plan() if isinstance(action, Patch))
    assert change.changes["metadata"]["finalizers"] == ["kueue.x-k8s.io/managed"]


def test_a_pod_that_the_runner_deletes_is_released_before() -> None:
    """Even if the runner dies between the two, the exit code of the pod decides nothing."""
    found = World(vcjob(vctask(2), policies=[{"event": "PodFailed", "action": "RestartPartition"}]))
    found.job["spec"]["tasks"][0]["partitionPolicy"] = {"totalPartitions": 1, "partitionSize": 2}
    found.settle()
    found.end(number=1, code=1)
    found.step()
    actions = [action for action in found.plan() if isinstance(action, Patch | Delete)]
    other = found.pod(number=0)["metadata"]["name"]
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
    found = World(job)
    found.settle()
    name = next(iter(found.jobs)).rpartition("-")[2]
    found.end(name, code=code)
    if any(isinstance(action, SetState) for action in found.plan()):
        found.step()  # it counts the restart first
    pods = [action.found for action in found.plan() if isinstance(action, Patch) and action.found["kind"] == "Pod"]
    assert [pod["metadata"]["name"] for pod in pods] == [found.pod(name)["metadata"]["name"]] * released


@pytest.mark.parametrize(("code", "released"), [(7, True), (8, False)])
def test_the_policies_with_which_a_batch_job_was_created_say_which_pods_it_replaces(code: int, released: bool) -> None:
    """Its `podFailurePolicy` cannot be changed."""
    found = World(vcjob(vctask(policies=[{"exitCode": 7, "action": "RestartPod"}])))
    found.settle()
    found.job["spec"]["tasks"][0]["policies"][0]["exitCode"] = 8
    found.end(code=code)
    if any(isinstance(action, SetState) for action in found.plan()):
        found.step()  # it counts the restart first
    patched = [action for action in found.plan() if isinstance(action, Patch) and action.found["kind"] == "Pod"]
    assert bool(patched) == released
