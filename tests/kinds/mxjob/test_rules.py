"""The rules of an MxJob: a case that passes, a case that fails, the message that the user reads."""

from typing import Any

import pytest

from tests.kinds.mxjob.jobs import POD, TEMPLATE, container, dist, faults, job, local, role, template, validate
from tests.messages import compare

USES = (
    "mxnet-operator names batch Jobs and the scheduler's Service <job>-<role>-<runtimeId>-<index>, which may have "
    "at most 63 characters"
)
LABEL = "must consist of lower case letters, digits and '-', and begin and end with a letter or a digit"
ROLES = "spec.replicaSpecs"


@pytest.mark.parametrize(
    "case, document",
    [
        ("a local job of one worker", job("local", role())),
        ("a distributed job of all three roles", dist()),
        ("any number of servers and workers", dist(server={"replicas": 3}, worker={"replicas": 5})),
        ("roles in any order", job("dist", role("WORKER"), role("SCHEDULER"), role("SERVER"))),
        ("another container beside", local(template=template({"name": "logs", "image": "i"}, container()))),
        ("a pod that is never restarted", local(template=template(restartPolicy="Never"))),
        ("the longest name of a distributed job", dist("j" * 46)),
        ("the longest name of a local job", job("local", role(), name="j" * 49)),
        ("a longer name beside a shorter runtime id", dist("j" * 48, runtimeId="ab")),
        ("a local job needs no Service, so dots may stand in its name", job("local", role(), name="a.b")),
        ("a local job may begin with a digit", job("local", role(), name="0a")),
        ("a generated name", job("local", role(), metadata={"generateName": "sweep-"})),
        ("a port and a runtime id", dist(scheduler={"psRootPort": 65535}, runtimeId="a1b2")),
        ("variables of a local job are all its own", local(template=template(container(env=[{"name": "DMLC_ROLE", "value": "x"}])))),
        ("variables of another container", dist(worker={"template": template(
            container(), {"name": "logs", "image": "i", "env": [{"name": "DMLC_ROLE", "value": "x"}]})})),
    ],
)  # fmt: skip
def test_what_is_sound_is_allowed_without_a_word(case: str, document: dict[str, Any]) -> None:
    response = validate(document)
    assert (faults(response), response.warnings) == ([], []), case


@pytest.mark.parametrize(
    "document, expected",
    [
        (job("Local", role()), ["spec.jobMode: Unsupported value"]),
        (job("local"), ["spec.replicaSpecs: Invalid value"]),
        (job("local", None), ["spec.replicaSpecs[0]: Invalid value"]),
        (job("local", {}), ["spec.replicaSpecs[0].template: Required value"]),
        (job("local", role("Worker")), ["spec.replicaSpecs[0].mxReplicaType: Unsupported value"]),
        (job("dist", role("SCHEDULER"), role("SERVER"), role("WORKER"), role("WORKER"), role("SCHEDULER")),
         ["spec.replicaSpecs[3].mxReplicaType: Duplicate value", "spec.replicaSpecs[4].mxReplicaType: Duplicate value"]),
        (job("local", role(), role()), ["spec.replicaSpecs[1].mxReplicaType: Duplicate value"]),
        (local(template=template({"name": "mxnet-0", "image": "i"})),
         ["spec.replicaSpecs[0].template.spec.containers: Required value"]),
        (local(template=template({"name": "main", "image": "i"}, initContainers=[container()])),
         ["spec.replicaSpecs[0].template.spec.containers: Required value"]),
        (dist(scheduler={"replicas": 0}, server={"replicas": -1}),
         ["spec.replicaSpecs[0].replicas: Invalid value", "spec.replicaSpecs[1].replicas: Invalid value"]),
        (dist(scheduler={"replicas": 2}), ["spec.replicaSpecs[0].replicas: Invalid value"]),
        (local(replicas=2), ["spec.replicaSpecs[0].replicas: Invalid value"]),
        (dist(scheduler={"psRootPort": 0}), ["spec.replicaSpecs[0].psRootPort: Invalid value"]),
        (dist(scheduler={"PsRootPort": 65536}), ["spec.replicaSpecs[0].PsRootPort: Invalid value"]),
        (job("local", role(), role("SERVER")), ["spec.replicaSpecs[1].mxReplicaType: Forbidden"]),
        (job("local", role("SCHEDULER")),
         ["spec.replicaSpecs[0].mxReplicaType: Forbidden", "spec.replicaSpecs: Required value"]),
        (job("dist", role("WORKER")), ["spec.replicaSpecs: Required value", "spec.replicaSpecs: Required value"]),
        (job("dist", role("SERVER")), ["spec.replicaSpecs: Required value", "spec.replicaSpecs: Required value"]),
        (local(template=template(restartPolicy="Always")),
         ["spec.replicaSpecs[0].template.spec.restartPolicy: Invalid value"]),
        (local(template=template() | {"metadata": {"labels": {"job-name": "x"}}}),
         ["spec.replicaSpecs[0].template.metadata.labels[job-name]: Forbidden"]),
        (dist("j" * 47), ["metadata.name: Too long"]),
        (dist("j" * 48, worker={"replicas": 1001}), ["metadata.name: Too long"]),
        (dist("j" * 48, worker={"replicas": 9_998}), ["metadata.name: Too long"]),
        (dist(runtimeId="a" * 48), ["spec.runtimeId: Too long"]),
        (job("local", role(), metadata={"generateName": "g" * 60}), ["metadata.generateName: Too long"]),
        (dist("a.b"), ["metadata.name: Invalid value"]),
        (dist(RuntimeId="A_b"), ["spec.RuntimeId: Invalid value"]),
        (dist(runtimeId="a", RuntimeId="a"), ["spec.RuntimeId: Forbidden"]),
        (dist(scheduler={"psRootPort": 1, "PsRootPort": 2}), ["spec.replicaSpecs[0].PsRootPort: Forbidden"]),
    ],
)  # fmt: skip
def test_what_is_not_is_rejected_with_every_fault(document: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/mxjob", faults(validate(document)), expected)


@pytest.mark.parametrize(
    "document, warning",
    [
        (dist(server={"psRootPort": 9091}), f"{ROLES}[1].psRootPort: only used for the SCHEDULER: remove it"),
        (dist(scheduler={"PsRootPort": 9091}), f"{ROLES}[0].PsRootPort: deprecated spelling: use psRootPort"),
        (dist(RuntimeId="a1b2"), "spec.RuntimeId: deprecated spelling: use runtimeId"),
        (dist("0a"),
         "metadata.name: before Kubernetes 1.36, the name of a Service must not begin with a digit, and the "
         "scheduler's Service begins with this name"),
        (local(template=template() | {"metadata": {"labels": {"job_type": "x"}}}),
         f"{TEMPLATE}.metadata.labels[job_type]: mxnet-operator overwrites this value in every pod"),
        (dist(scheduler={"template": template(container(env=[{"name": "DMLC_NUM_WORKER", "value": "7"}]))}),
         f"{POD}.containers[0].env[0].name: mxnet-operator sets this variable in the container mxnet: remove "
         "it"),
    ],
)  # fmt: skip
def test_what_is_legal_and_not_what_happens_is_a_warning(document: dict[str, Any], warning: str) -> None:
    response = validate(document)
    assert (response.allowed, response.warnings) == (True, [warning])


def test_variables_of_a_distributed_job_are_a_warning_where_the_operator_is_not_mended() -> None:
    own = template(container(env=[{"name": "LR", "value": "0.1"}]))
    (warning,) = validate(dist(worker={"template": own}), operator_can=frozenset()).warnings
    assert warning.startswith(f"{ROLES}[2].template.spec.containers[0].env: mxnet-operator overwrites the first")
    assert validate(dist(worker={"template": own})).warnings == []
    assert validate(local(template=own), operator_can=frozenset()).warnings == []


def test_a_broken_part_hides_no_fault_of_another() -> None:
    document = job("dist", role("Server"), role("SCHEDULER", replicas=2), role("WORKER", replicas="3"),
                   role("WORKER", psRootPort="x", template=template(restartPolicy="Always")), runtimeId=5, name="a.b")  # fmt: skip
    assert [fault.split(": ")[0] for fault in faults(validate(document))] == [
        "spec.runtimeId",
        f"{ROLES}[0].mxReplicaType",
        f"{ROLES}[2].replicas",
        f"{ROLES}[3].psRootPort",
        f"{ROLES}[1].replicas",
        f"{ROLES}[3].mxReplicaType",
        "metadata.name",
        f"{ROLES}[3].template.spec.restartPolicy",
    ]
