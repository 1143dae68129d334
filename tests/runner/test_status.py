"""The status of a job, to the letter of its kind's reference."""

from dataclasses import fields
from typing import Any

import pytest

from jobgate.jobs.policies import COMMAND
from jobgate.jobs.status import STATE, RunnerState
from jobgate.runner.actions import RequeueAfter
from jobgate.runner.state import RunState
from tests.runner.test_rendering import example
from tests.runner.world import KINDS, START, UID, World, dijob, holding, stamp, task, torchjob


def run(path: str) -> World:
    """A job of the examples whose pods run."""
    found = World(example(path))
    found.settle()
    return found


def end_all(found: World, code: int = 0) -> None:
    """End all pods that run."""
    for pod in [one for one in found.pods if one["status"]["phase"] == "Running"]:
        labels = pod["metadata"]["labels"]
        found.end(labels["jobgate.dev/task"], int(labels["batch.kubernetes.io/job-completion-index"]), code)
    found.settle()


def test_the_crds_have_the_fields_of_the_state() -> None:
    assert [one.name for one in fields(RunState)] == list(RunnerState.model_fields)


def conditions(found: World) -> list[tuple[str, str, str]]:
    """Type, status and reason of each condition, in their order."""
    return [(one["type"], one["status"], one.get("reason", "")) for one in found.status["conditions"]]


@pytest.mark.parametrize("path", ["dijob/with-tasks.yaml", "mxjob/dist.yaml", "mxjob/local.yaml", "torchjob/full.yaml"])
def test_a_status_fits_its_schema_at_every_look(path: str) -> None:
    found = World(example(path))
    found.job["metadata"]["annotations"]["aimaster"] = "ready"
    kind = KINDS.get(found.job["apiVersion"], found.job["kind"])
    assert kind is not None
    for number in range(12):
        found.step()
        assert kind.schema.prune(found.job).get("status", {}) == found.status
        assert kind.schema.check(found.job) == []
        found.kubernetes()
        if number == 8:
            end_all(found)
    assert all(one["observedGeneration"] == 1 for one in found.status["conditions"])


def test_of_a_dijob() -> None:
    found = World(dijob(task(2), task(1, name="judge")))
    found.settle()
    assert found.status == {
        "phase": "Running",
        "conditions": found.status["conditions"],
        "replicas": 3,
        "readyReplicas": 3,
        "taskStatus": {"work": {"Running": 2}, "judge": {"Running": 1}},
        "restarts": 0,
        "reschedules": 0,
        "jobgate": {
            "attempt": 0,
            "admitted": True,
            "phase": "Running",
            "begun": ["work", "judge"],
            "started": {"work": 2, "judge": 1},
        },
    }
    passed = [("Pending", "False", "JobPending"), ("Starting", "False", "JobStarting")]
    assert conditions(found) == [*passed, ("Running", "True", "JobRunning")]
    found.wait(60)
    end_all(found)
    assert found.status["phase"] == "Succeeded"
    assert found.status["completionTimestamp"] == "2026-01-01T00:01:00Z"
    assert "taskStatus" not in found.status
    assert holding(found.status) == ["Succeeded"]


def test_of_a_dijob_that_starts() -> None:
    found = World(dijob())
    found.step()
    found.kubernetes()
    found.pod()["status"] |= {"phase": "Pending", "conditions": []}
    found.step()
    assert (found.status["phase"], holding(found.status)) == ("Starting", ["Starting"])


def test_the_time_of_a_condition_changes_with_its_status_only() -> None:
    found = World(dijob(task(1), task(1, name="judge")))
    found.settle()
    found.wait(60)
    found.end("judge")
    found.settle()
    running = next(one for one in found.status["conditions"] if one["type"] == "Running")
    assert running["lastTransitionTime"] == stamp(START)


def test_of_a_torchjob() -> None:
    found = run("torchjob/queued-gang.yaml")
    labels = f"jobgate.dev/kind=torchjobs.train.distributed.io,jobgate.dev/job={found.job['metadata']['name']}"
    selector = f"{labels},jobgate.dev/task={{}}".format
    assert conditions(found) == [("Created", "True", "JobCreated"), ("Running", "True", "JobRunning")]
    workers = found.job["spec"]["torchTaskSpecs"]["Worker"]["numTasks"]
    ended = {"succeed": 0, "succeeded": 0, "failed": 0, "evicted": 0}
    assert found.status["taskStatuses"] == {
        "Master": {"selector": selector("master"), "active": 1, **ended},
        "Worker": {"selector": selector("worker"), "active": workers, **ended},
    }
    assert found.status["startTime"] == stamp(START)
    found.wait(60)
    end_all(found)
    assert conditions(found) == [
        ("Created", "True", "JobCreated"),
        ("Running", "False", "JobRunning"),
        ("Succeeded", "True", "JobSucceeded"),
    ]
    assert found.status["completionTime"] == "2026-01-01T00:01:00Z"


def test_a_torchjob_runs_as_soon_as_its_minimum_does_and_restarts_when_a_pod_fails() -> None:
    found = run("torchjob/queued-gang.yaml")
    found.pod("worker")["status"] |= {"phase": "Pending", "conditions": []}
    found.job["status"] = {STATE: found.status[STATE]}
    found.step()
    assert holding(found.status) == ["Created", "Running"]
    found.pod("worker")["status"]["phase"] = "Failed"
    next(one for name, one in found.jobs.items() if name.endswith("-worker"))["status"]["failed"] = 1
    found.step()
    assert holding(found.status) == ["Created", "Restarting"]


def test_a_torchjob_fails_by_an_exit_code_that_no_retry_helps() -> None:
    found = run("torchjob/minimal.yaml")
    found.end("master", code=137)
    found.settle()
    assert conditions(found)[-1][:2] == ("Running", "True")
    found.end("master", code=1)
    found.settle()
    assert conditions(found)[-1] == ("Failed", "True", "JobFailed")
    message = found.status["conditions"][-1]["message"]
    assert message.startswith("task Master has failed: ")
    assert message.endswith("only after exit codes 130, 137, 138, 143: consider OnFailure")


@pytest.mark.parametrize("clean", ["None", "Running", "All"])
def test_an_elastic_torchjob_ends_with_its_master_although_workers_cannot_join_any_more(clean: str) -> None:
    world = World(elastic(cleanPodPolicy=clean))
    world.settle()
    world.end("master")
    world.end("worker")
    world.settle()
    assert conditions(world)[-1] == ("Running", "True", "JobRunning")
    world.wait(29)
    world.settle()
    assert conditions(world)[-1] == ("Running", "True", "JobRunning")
    world.wait(1)
    world.settle()
    assert conditions(world)[-1] == ("Succeeded", "True", "JobSucceeded")
    assert world.running() == []
    assert len(world.pods) == (0 if clean == "All" else 2)


def test_a_worker_that_fails_after_the_master_has_succeeded_fails_no_elastic_torchjob() -> None:
    world = World(elastic())
    world.settle()
    world.end("master")
    world.settle()
    failed = {"type": "Failed", "status": "True", "message": "too many failures"}
    world.jobs["train-worker"]["status"]["conditions"] = [failed]
    world.step()
    assert conditions(world)[-1] == ("Running", "True", "JobRunning")
    world.wait(30)
    world.step()
    assert conditions(world)[-1] == ("Succeeded", "True", "JobSucceeded")


@pytest.mark.parametrize("waits", ["held", "old"])
def test_an_elastic_torchjob_that_cannot_succeed_yet_is_not_looked_at_without_end(waits: str) -> None:
    world = World(elastic())
    world.settle()
    world.end("master")
    world.settle()
    if waits == "held":
        world.job["metadata"]["annotations"][COMMAND] = "AbortJob"
    else:
        world.job["status"][STATE] |= {"tasks": {"worker": 1}, "restarts": 1}
        world.jobs["train-worker"]["metadata"]["deletionTimestamp"] = stamp(world.now)
    for _ in range(4):
        world.step()
    assert [action for action in world.plan() if isinstance(action, RequeueAfter)] == [RequeueAfter(30)]
    world.wait(30)
    world.step()
    assert [action for action in world.plan() if isinstance(action, RequeueAfter)] == []


def test_a_torchjob_whose_workers_need_no_master_waits_for_them() -> None:
    for job in (elastic(enableTorchElastic=False), elastic(backend="etcd")):
        world = World(job)
        world.settle()
        world.end("master")
        world.wait(3600)
        world.settle()
        assert conditions(world)[-1] == ("Running", "True", "JobRunning")


def elastic(backend: str = "c10d", **spec: Any) -> dict[str, Any]:
    """Return an elastic TorchJob with two workers."""
    job = torchjob("OnFailure", **spec)
    endpoint = {"rendezvousBackend": backend, "rendezvousEndpoint": "train-master-0:29400"}
    policy = {"numMinReplicas": 1, "numMaxReplicas": 2, **endpoint}
    job["spec"] = {"enableTorchElastic": True, "torchElasticPolicy": policy, **job["spec"]}
    job["spec"]["torchTaskSpecs"]["Worker"] = {**job["spec"]["torchTaskSpecs"]["Master"], "numTasks": 2}
    return job


def test_a_torchjobs_workers_wait_for_its_master_and_all_for_the_word_of_its_aimaster() -> None:
    found = run("torchjob/full.yaml")
    assert found.running() == ["gpt-aimaster-0"]
    message = "TorchJob gpt is created; waiting to start: master, worker (annotation aimaster: ready)"
    assert (holding(found.status), found.status["conditions"][-1]["message"]) == (["Created"], message)
    found.job["metadata"]["annotations"]["aimaster"] = "ready"
    found.settle()
    pods = [line for line in found.log if line.startswith("pod")]
    assert pods[:2] == ["pod gpt-aimaster-0", "pod gpt-master-0"]
    assert len(found.running()) == 10


def test_a_torchjob_runs_no_longer_than_it_may() -> None:
    found = run("torchjob/full.yaml")
    found.wait(86400)
    found.settle()
    assert conditions(found)[-1] == ("Failed", "True", "DeadlineExceeded")
    assert found.running() == []


def test_of_an_mxjob() -> None:
    found = run("mxjob/dist.yaml")
    states = [(one["Mx_replica_type"], one["state"], one["ReplicasStates"]) for one in found.status["replicaStatuses"]]
    assert (found.status["phase"], found.status["state"], found.status["controlPaused"]) == (
        "Running",
        "Running",
        False,
    )
    assert states == [
        ("SCHEDULER", "Running", {"Running": 1}),
        ("SERVER", "Running", {"Running": 1}),
        ("WORKER", "Running", {"Running": 2}),
    ]
    assert holding(found.status) == ["Ready"]
    found.end("scheduler")
    found.settle()
    assert (found.status["phase"], found.status["state"], found.running()) == ("Done", "Succeeded", [])
    assert holding(found.status) == ["Succeeded"]


def test_a_runtime_id_is_made_up_once() -> None:
    job = example("mxjob/local.yaml")
    assert job["spec"]["runtimeId"] == UID[:4]
    found = World(job)
    found.settle()
    assert list(found.jobs) == [f"{job['metadata']['name']}-worker-{UID[:4]}"]


def test_a_paused_mxjob_is_left_alone() -> None:
    found = World(example("mxjob/local.yaml"))
    found.job["status"] = {"controlPaused": True}
    assert found.plan() == []


def test_an_mxjob_fails_with_a_reason() -> None:
    job: Any = example("mxjob/local.yaml")
    job["spec"]["replicaSpecs"][0]["template"]["spec"]["restartPolicy"] = "Never"
    found = World(job)
    found.settle()
    found.end("worker", code=1)
    found.settle()
    assert (found.status["phase"], found.status["state"]) == ("Failed", "Failed")
    assert found.status["reason"].startswith("task worker has failed")


def reasons(found: World) -> list[str]:
    """The reasons of the Events."""
    return [event.reason for event in found.events]


def test_an_evicted_pod_of_a_dijob_is_rescheduled_and_a_failed_one_restarted() -> None:
    found = World(dijob(task(2)))
    found.settle()
    found.leave([found.pod()])
    found.step()
    assert (found.status["phase"], found.status["reschedules"], found.status["restarts"]) == ("Rescheduling", 1, 0)
    assert (found.status["readyReplicas"], found.status["taskStatus"]) == (1, {"work": {"Running": 1}})
    found.settle()
    found.end(code=1)
    found.step()
    assert (found.status["phase"], found.status["reschedules"], found.status["restarts"]) == ("Restarting", 1, 1)
    found.settle()
    assert found.status["phase"] == "Running"
    assert reasons(found) == [
        "JobCreated",
        "JobRunning",
        "JobRescheduling",
        "JobRunning",
        "JobRestarting",
        "JobRunning",
    ]


def test_a_succeeded_pod_that_is_gone_is_not_missing() -> None:
    found = World(dijob(task(3)))
    found.settle()
    found.end()
    found.settle()
    found.pods.remove(found.pod())
    found.pod(number=1)["status"]["conditions"] = []
    found.step()
    assert (found.status["phase"], found.status["reschedules"]) == ("Running", 0)
    found.leave([found.pod(number=1)])
    found.step()
    assert found.status["phase"] == "Rescheduling"
    found.pods.remove(found.pod(number=1))
    found.step()
    assert "pods of task work are gone: 1" in found.status["conditions"][-1]["message"]


def test_a_job_that_was_replaced_goes_on_although_a_succeeded_pod_is_gone() -> None:
    found = World(dijob(task(3)))
    found.settle()
    found.end()
    found.settle()
    found.job["status"][STATE]["phase"] = "Rescheduling"
    found.pods.remove(found.pod())
    found.pod(number=1)["status"]["conditions"] = []
    found.step()
    assert found.status["phase"] == "Starting"


def test_a_dijob_without_a_restart_left_reports_its_last_failed_pod() -> None:
    found = World(dijob(task(2), backoffLimit=1))
    found.settle()
    found.end(code=1)
    found.settle()
    found.wait(1)
    pod = found.pod(number=1)["metadata"]["name"]
    found.end(number=1, code=137)
    found.settle()
    message = f"{pod} failed with exit code 137, and the job has reached its limit of restarts: 1"
    assert (found.status["phase"], found.status["conditions"][-1]["message"]) == ("Failed", message)
    assert [event.message for event in found.events if event.reason == "JobFailed"] == [message]


def test_a_dijob_reports_why_its_node_rejected_a_pod() -> None:
    found = World(dijob(task()))
    found.settle()
    pod = found.pod()
    pod["status"] = {"phase": "Failed", "reason": "OutOfcpu"}
    found.step()
    assert f"{pod['metadata']['name']} failed (OutOfcpu)" in found.status["conditions"][-1]["message"]


def test_a_dijob_that_is_scaled_is_rescheduled() -> None:
    found = World(dijob(task(2)))
    found.settle()
    for size, change in ((4, "task work was scaled from 2 to 4 pods"), (1, "task work was scaled from 4 to 1 pods")):
        found.job["spec"]["tasks"][0]["replicas"] = size
        found.settle()
        assert found.status["phase"] == "Running"
        assert [event.message for event in found.events if event.reason == "JobScaled"][-1] == change
    assert (found.status["reschedules"], found.status["restarts"]) == (2, 0)


def test_a_pod_that_is_not_ready_any_more_leaves_a_job_running() -> None:
    for found in (World(dijob(task(2))), run("mxjob/dist.yaml"), run("torchjob/queued-gang.yaml")):
        found.settle()
        name = found.pods[0]["metadata"]["labels"]["jobgate.dev/task"]
        found.pod(name)["status"] |= {"conditions": []}
        found.step()
        assert "Running" in {found.status.get("phase"), *holding(found.status)}


@pytest.mark.parametrize("code", [0, 1])
def test_no_pod_that_is_deleted_after_the_end_counts(code: int) -> None:
    found = World(dijob(task(1), task(1, name="judge"), backoffLimit=0))
    found.settle()
    found.end(code=code)
    if not code:
        found.end("judge")
    found.settle()
    assert (found.status["phase"], found.status["readyReplicas"]) == ("Failed" if code else "Succeeded", 0)


def test_an_mxjob_is_cleaned_up_until_no_pod_of_it_runs() -> None:
    found = run("mxjob/dist.yaml")
    found.end("scheduler")
    seen = []
    for _ in range(20):
        found.step()
        seen.append((found.status["phase"], found.status["state"]))
        found.kubernetes()
    assert list(dict.fromkeys(seen))[-2:] == [("CleanUp", "Succeeded"), ("Done", "Succeeded")]
    states = {one["mxReplicaType"]: (one["state"], one["replicasStates"]) for one in found.status["replicaStatuses"]}
    assert states["SCHEDULER"] == ("Succeeded", {"Succeeded": 1})
    assert states["WORKER"] == ("Unknown", {})


def test_a_succeeded_role_of_an_mxjob_is_not_starting() -> None:
    found = run("mxjob/dist.yaml")
    for number in range(2):
        found.end("worker", number)
    found.step()
    assert {one["mxReplicaType"]: one["state"] for one in found.status["replicaStatuses"]}["WORKER"] == "Succeeded"


def test_an_mxjob_does_not_run_before_its_pods_and_does_not_go_back_when_one_fails() -> None:
    found = World(example("mxjob/dist.yaml"))
    for _ in range(3):
        found.step()
    assert (found.status["phase"], found.status["state"], found.pods) == ("Creating", "Unknown", [])
    found.settle()
    for _ in range(8):
        found.leave([found.pod("server")])
        found.step()
        assert (found.status["phase"], holding(found.status)[-1]) == ("Running", "RemovingDeadMember")
        found.settle()
    conditions_ = found.status["conditions"]
    assert [one["type"] for one in conditions_] == ["RemovingDeadMember", "Ready"] * 5
    assert {one["type"]: one["status"] for one in conditions_[:2]} == {"RemovingDeadMember": "False", "Ready": "True"}
    assert conditions_[-1]["transitionTime"] == stamp(found.now)


def test_a_torchjob_runs_with_the_minimum_of_its_gang_and_not_before() -> None:
    found = World(example("torchjob/queued-gang.yaml"))
    found.settle()
    for number in range(1, 4):
        found.pod("worker", number)["status"] |= {"phase": "Pending", "conditions": []}
    found.job["status"] = {STATE: {"attempt": 0, "admitted": True}}
    found.step()
    assert holding(found.status) == ["Created"]
    found.pod("worker", 1)["status"]["phase"] = "Running"
    found.step()
    assert holding(found.status) == ["Created", "Running"]


def test_an_aborted_torchjob_is_not_queuing() -> None:
    found = run("torchjob/minimal.yaml")
    found.job["metadata"]["annotations"][COMMAND] = "AbortJob"
    found.settle()
    assert conditions(found)[-1] == ("Created", "True", "JobAborted")
    assert "no pod runs since AbortJob" in found.status["conditions"][-1]["message"]
    found.job["metadata"]["annotations"][COMMAND] = "ResumeJob"
    found.settle()
    assert conditions(found) == [("Created", "True", "JobCreated"), ("Running", "True", "JobRunning")]


def test_a_torchjob_counts_evicted_pods() -> None:
    found = run("torchjob/minimal.yaml")
    found.pod("master")["status"] |= {"phase": "Failed", "reason": "Evicted"}
    found.step()
    counts = found.status["taskStatuses"]["Master"]
    assert (counts["active"], counts["failed"], counts["evicted"]) == (0, 1, 1)
    assert conditions(found)[-1] == ("Restarting", "True", "JobRestarting")


def test_an_elastic_torchjob_reports_its_scaling() -> None:
    found = run("torchjob/elastic.yaml")
    worker = found.job["spec"]["torchTaskSpecs"]["Worker"]
    first, most = worker["numTasks"], found.job["spec"]["torchElasticPolicy"]["numMaxReplicas"]
    seen = []
    for size in (first, first + 1, most):
        worker["numTasks"] = size
        found.settle()
        scaling = found.status["elasticScalingStatuses"]["Worker"]
        assert scaling == found.status["elasticScalingStatues"]["Worker"]
        seen.append((scaling["elasticCondition"], scaling["continue"], scaling["lastReplicas"], scaling["curReplicas"]))
        assert holding(found.status)[-1] == "Running"
    assert seen == [
        ("Start", True, first, first),
        ("Continue", True, first, first + 1),
        ("ReachMaxReplicas", False, first + 1, most),
    ]
    end_all(found)
    assert found.status["elasticScalingStatuses"]["Worker"]["elasticCondition"] == "Stop"
