"""The pods of MxJobs: whose they are by the name of their batch Job, and what they are promised."""

from typing import Any

import pytest

from jobgate.jobs.members import Claim
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.mxjob.operator import MEMBERS, claim
from jobgate.plugins import Crew
from tests.kinds.mxjob.jobs import dist, faults, local, template, validate
from tests.plugins.crews import of_job, pod, promised, variables, wired

FOUR = {"scheduler": {"psRootPort": 9000}, "server": {"replicas": 2}, "worker": {"replicas": 3}}
LABELS = {"mxnet.mlkube.io": "", "job_type": "WORKER", "runtime_id": "a1b2", "task_index": "2"}


def of(**spec: Any) -> Crew:
    return of_job(MXJOB, dist(**FOUR | {"runtimeId": "a1b2"} | spec))


@pytest.mark.parametrize(
    "labels, expected",
    [
        ({"batch.kubernetes.io/job-name": "resnet-worker-a1b2-2"}, Claim("resnet", "worker", 2, facts={"runtime-id": "a1b2"})),
        ({"job-name": "resnet-worker-a1b2-2"}, Claim("resnet", "worker", 2, facts={"runtime-id": "a1b2"})),
        ({"batch.kubernetes.io/job-name": "a-worker-a1b2-2-worker-a1b2-2"}, Claim("a-worker-a1b2-2", "worker", 2, facts={"runtime-id": "a1b2"})),
        ({"batch.kubernetes.io/job-name": "r-worker-a1b2-x", "task_index": "x"}, Claim("r", "worker", None, facts={"runtime-id": "a1b2"})),
        ({"batch.kubernetes.io/job-name": "resnet-worker-a1b2-1"}, None),
        ({"batch.kubernetes.io/job-name": "resnet-server-a1b2-2"}, None),
        ({"batch.kubernetes.io/job-name": "resnet-worker-a1b2-2", "runtime_id": None}, None),
        ({"batch.kubernetes.io/job-name": "resnet-worker-a1b2-2", "job_type": 1}, None),
        ({"batch.kubernetes.io/job-name": 7}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_name_of_the_batch_job_without_its_ending_is_the_jobs(labels: dict[str, Any], expected: Claim) -> None:
    assert claim({"metadata": {"name": "resnet-worker-a1b2-2-x7k9q", "labels": LABELS | labels}}) == expected


@pytest.mark.parametrize("broken", [{}, {"metadata": None}, {"metadata": {"labels": []}}])
def test_a_pod_of_any_json_is_nobodys(broken: dict[str, Any]) -> None:
    assert claim(broken) is None


def test_pods_are_known_by_a_label_that_tells_no_job_and_get_ours() -> None:
    assert MEMBERS.selector == {"matchLabels": {"mxnet.mlkube.io": ""}}
    assert of().marked
    assert of().labels == {"jobgate.dev/kind": "mxjobs.mxnet.mlkube.io", "jobgate.dev/job": "job"}


SAME = {"DMLC_USE_KUBERNETES": "1", "DMLC_PS_ROOT_URI": "job-scheduler-a1b2-0", "DMLC_PS_ROOT_PORT": "9000", "DMLC_NUM_SERVER": "2", "DMLC_NUM_WORKER": "3"}  # fmt: skip


@pytest.mark.parametrize(
    "task, index, own",
    [
        ("scheduler", 0, {"DMLC_ROLE": "scheduler"}),
        ("server", 1, {"DMLC_ROLE": "server"}),
        ("worker", 2, {"DMLC_ROLE": "worker", "DMLC_WORKER_ID": "2"}),
    ],
)
def test_all_get_the_address_of_the_scheduler_and_workers_their_number(task: str, index: int, own: Any) -> None:
    assert promised(of(), task, index) == SAME | own


@pytest.mark.parametrize(
    "scheduler, port",
    [({}, "9091"), ({"psRootPort": 9000}, "9000"), ({"PsRootPort": 9001}, "9001"), ({"psRootPort": None}, "9091")],
)
def test_the_port_is_the_schedulers_in_either_spelling(scheduler: dict[str, Any], port: str) -> None:
    assert promised(of(scheduler=scheduler), "worker")["DMLC_PS_ROOT_PORT"] == port


def test_a_local_worker_has_nobody_to_find() -> None:
    result = of_job(MXJOB, local())
    assert promised(result, "worker") == {}
    assert result.facts == {}


@pytest.mark.parametrize(
    "spec, host",
    [
        ({"runtimeId": "a1b2"}, "job-worker-a1b2-1"),
        ({"runtimeId": None, "RuntimeId": "c3d4"}, "job-worker-c3d4-1"),
        ({"runtimeId": None}, "job-worker-xxxx-1"),
        ({"runtimeId": "{0}"}, "job-worker-{0}-1"),
    ],
)
def test_pods_are_called_as_their_batch_jobs_are(spec: dict[str, Any], host: str) -> None:
    result = of(**spec)
    assert result.pod_name(result.parts[2], 1) == host


def test_a_pod_whose_name_is_made_up_is_found_by_that_of_its_batch_job() -> None:
    result = of(plugins={"env": None, "svc": []})
    after = wired(pod("mxnet"), result, "worker", 1)
    assert after["spec"]["hostname"] == "job-worker-a1b2-1"
    assert after["spec"]["subdomain"] == "job"
    assert variables(after, "mxnet")["VC_HOST"] == "job-worker-a1b2-1.job"
    assert after["metadata"]["labels"] == {
        "jobgate.dev/kind": "mxjobs.mxnet.mlkube.io",
        "jobgate.dev/job": "job",
        "jobgate.dev/task": "worker",
        "jobgate.dev/index": "1",
    }


def test_what_the_operator_has_set_stays_and_other_containers_get_the_same() -> None:
    both = {"template": template({"name": "mxnet", "image": "i"}, {"name": "board", "image": "i"})}
    result = of(plugins={"env": []}, worker={"replicas": 3} | both)
    env = [{"name": "DMLC_ROLE", "value": "worker"}, {"name": "DMLC_PS_ROOT_URI", "value": "elsewhere"}]
    after = wired(pod({"name": "mxnet", "env": env}, "board"), result)
    assert variables(after, "mxnet")["DMLC_PS_ROOT_URI"] == "elsewhere"
    assert variables(after, "board")["DMLC_PS_ROOT_URI"] == "job-scheduler-a1b2-0"


def test_a_local_job_of_a_dotted_name_can_have_no_service() -> None:
    document = local() | {"metadata": {"name": "res.net"}}
    document["spec"]["plugins"] = {"svc": []}
    (fault,) = faults(validate(document))
    assert fault.startswith('metadata.name: Invalid value: "res.net": must consist of')
    assert fault.endswith("plugin svc creates a Service named <job>")
