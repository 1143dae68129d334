"""Changes of jobs that jobgate runs: tasks that have not started may change; of others, the denial says what to do."""

import copy
from time import process_time
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from tests.kinds.mxjob import jobs as mx
from tests.kinds.test_runs_here import RUNS, dijob
from tests.kinds.torchjob import jobs as torch
from tests.kinds.vcjob import jobs as vc
from webhook import Operation

KINDS = installed()
#: Where each kind has the image of its second task.
VC, TORCH, MX = "spec.tasks[1]", "spec.torchTaskSpecs[Worker]", "spec.replicaSpecs[1]"
IMAGE = "template.spec.containers[0].image"


def jobs() -> dict[str, tuple[str, dict[str, Any]]]:
    """A job of each kind whose updates are limited, with the path of its second task."""
    return {
        "jobs.batch.volcano.sh": (VC, vc.job(vc.task("chief"), vc.task("worker"), queue="research")),
        "torchjobs.train.distributed.io": (TORCH, torch.job()),
        "mxjobs.mxnet.mlkube.io": (
            MX,
            mx.job("dist", *map(mx.role, ("SCHEDULER", "WORKER", "SERVER")), runtimeId="abcd"),
        ),
    }


def templates(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The templates of a job."""
    spec = job["spec"]
    parts = spec.get("tasks") or spec.get("replicaSpecs") or [*spec["torchTaskSpecs"].values()]
    return [part["template"] for part in parts]


def changed(job: dict[str, Any], **container: Any) -> dict[str, Any]:
    """The job with another image of its second task."""
    result = copy.deepcopy(job)
    templates(result)[1]["spec"]["containers"][0] |= container or {"image": "other"}
    return result


def faults(new: dict[str, Any], old: dict[str, Any], status: Any, settings: Settings = RUNS) -> list[str]:
    """The causes of an update of a job with this status."""
    name = {"metadata": {**old["metadata"], "namespace": "default"}}
    before = {**judge({**old, **name}, ReviewOptions(KINDS)).document, "status": status}
    options = ReviewOptions(KINDS, operation=Operation.UPDATE, stored=(before,), settings=settings)
    verdict = judge({**new, **name, "status": status}, options).status or {}
    return [f"{each['field']}: {each['message']}" for each in verdict.get("details", {}).get("causes", [])]


def begun(*tasks: str, **state: Any) -> dict[str, Any]:
    """The status of a job that jobgate runs, of which these tasks have started."""
    return {"jobgate": {"attempt": 0, **({"begun": [*tasks]} if tasks else {}), **state}}


WAITS = [None, {}, begun(), begun("chief", "master", "scheduler"), begun(held="AbortJob")]


@pytest.mark.parametrize("status", WAITS, ids=str)
@pytest.mark.parametrize("plural", jobs())
def test_a_task_that_has_not_started_may_change(plural: str, status: Any) -> None:
    _, old = jobs()[plural]
    for fields in (
        {"image": "other"},
        {"env": [{"name": "A", "value": "b"}]},
        {"resources": {"requests": {"cpu": "9"}}},
    ):
        assert faults(changed(old, **fields), old, status) == []
    placed = copy.deepcopy(old)
    templates(placed)[1]["spec"] |= {"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]}
    templates(placed)[1]["spec"] |= {"affinity": {"nodeAffinity": {}}, "priorityClassName": "urgent"}
    assert faults(placed, old, status) == []


@pytest.mark.parametrize("plural", jobs())
def test_the_denial_for_a_started_task_says_how_it_changes(plural: str) -> None:
    task, old = jobs()[plural]
    assert faults(changed(old), old, begun("worker")) == [
        f"{task}.{IMAGE}: Forbidden: may not change, because task worker has started: from "
        f'"{templates(old)[1]["spec"]["containers"][0]["image"]}" to "other". Abort the job (kubectl annotate {plural} '
        f"{old['metadata']['name']} jobgate.dev/command=AbortJob), change it, and start all of its pods again "
        "(jobgate.dev/command=ResumeJob)"
    ]


@pytest.mark.parametrize("plural", jobs())
def test_a_change_that_the_rules_deny_is_denied_while_a_job_waits_too(plural: str) -> None:
    task, old = jobs()[plural]
    (fault,) = faults(changed(old, resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}), old, begun())
    assert fault.startswith(f"{task}.template.spec.containers[0].resources.requests")


#: The status that the operator of a kind writes first.
ACCEPTED: dict[str, dict[str, Any]] = {
    "jobs.batch.volcano.sh": {"state": {"phase": "Pending"}},
    "torchjobs.train.distributed.io": {"conditions": [{"type": "Created", "status": "True"}]},
    "mxjobs.mxnet.mlkube.io": {"phase": "Creating"},
}


@pytest.mark.parametrize("plural", jobs())
def test_what_the_operator_runs_may_not_change(plural: str) -> None:
    task, old = jobs()[plural]
    for status, settings in ((begun(), Settings()), (ACCEPTED[plural], RUNS)):
        (fault,) = faults(changed(old), old, status, settings)
        assert fault.startswith(f"{task}.{IMAGE}: Forbidden: may not change after the job is created: from")


@pytest.mark.parametrize(
    ("plural", "ended"),
    [
        ("jobs.batch.volcano.sh", {"state": {"phase": "Completed"}}),
        ("torchjobs.train.distributed.io", {"conditions": [{"type": "Failed", "status": "True"}]}),
        ("mxjobs.mxnet.mlkube.io", {"phase": "Done"}),
    ],
)
def test_a_job_that_has_ended_does_not_change(plural: str, ended: dict[str, Any]) -> None:
    _, old = jobs()[plural]
    (fault,) = faults(changed(old), old, {**begun(), **ended})
    assert "may not change, because the job has ended: from" in fault
    assert fault.endswith('to "other". Create a job with another name')


def test_other_fields_stay() -> None:
    _, old = jobs()["jobs.batch.volcano.sh"]
    new = copy.deepcopy(old)
    new["spec"]["queue"] = "other"
    assert [fault.partition(": from")[0] for fault in faults(new, old, begun())] == [
        "spec.queue: Forbidden: may not change after the job is created"
    ]
    new = copy.deepcopy(old)
    new["spec"]["policies"] = [{"event": "PodFailed", "action": "RestartJob"}]
    assert faults(new, old, begun()) == []
    (fault,) = faults(new, old, begun("chief"))
    assert fault.startswith("spec.policies: Forbidden: may not change, because task chief has started: ")


def test_kueue_counts_all_pods_of_a_job_together() -> None:
    settings = Settings(runs=RUNS.runs, plugins={Queueing.name: QueueingArguments(system=System.KUEUE)})
    _, old = jobs()["jobs.batch.volcano.sh"]
    assert faults(changed(old), old, begun(), settings) == []
    (fault,) = faults(changed(old), old, begun("chief"), settings)
    why = "may not change, because task chief has started, and Kueue counts all pods of the job together: from"
    assert why in fault
    old["spec"]["queue"] = "default"
    assert faults(changed(old), old, begun("chief"), settings) == []


def test_a_task_with_another_case_of_its_key_is_found() -> None:
    old = torch.job({"Master": torch.master(), "worker": torch.task(2)})
    assert faults(changed(old), old, begun("master")) == []
    (fault,) = faults(changed(old), old, begun("worker"))
    assert fault.startswith(f"spec.torchTaskSpecs[worker].{IMAGE}: Forbidden: may not change, because task worker has")


@pytest.mark.parametrize(
    ("status", "warned"),
    [(begun("work"), True), (begun(), False), ({"phase": "Starting", **begun()}, False), ({"phase": "Starting"}, True)],
)
def test_a_dijob_warns_of_started_tasks_only(status: dict[str, Any], *, warned: bool) -> None:
    before = {**dijob(), "status": {"phase": "Running", **status}}
    options = ReviewOptions(KINDS, operation=Operation.UPDATE, settings=RUNS, stored=(before,))
    warnings = judge(dijob(labels={"team": "new"}), options).warnings
    assert any("former template" in warning for warning in warnings) == warned


def test_a_job_of_many_started_tasks_is_compared_in_linear_time() -> None:
    times = []
    for number in (50, 200):
        old = vc.job(*(vc.task(f"t{index}") for index in range(number)))
        new = copy.deepcopy(old)
        for template in templates(new):
            template["spec"]["containers"][0] |= {"image": "other", "workingDir": "/other"}
        status = begun(*(f"t{index}" for index in range(number)))
        tries = []
        for _ in range(3):
            start = process_time()
            assert len(faults(new, old, status)) > 0
            tries.append(process_time() - start)
        times.append(min(tries))
    assert times[1] < 10 * times[0]
