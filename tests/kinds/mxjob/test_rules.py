"""The rules of an MxJob: a case that passes, a case that fails, the message that the user reads."""

from typing import Any

import pytest

from tests.kinds.mxjob.jobs import POD, TEMPLATE, container, dist, faults, job, local, role, template, validate

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
        (job("Local", role()), ['spec.jobMode: Unsupported value: "Local": supported values: "local", "dist"']),
        (job("local"), [f"{ROLES}: Invalid value: []: must have at least one item"]),
        (job("local", None), [f"{ROLES}[0]: Invalid value: null: must be an object, not null"]),
        (job("local", {}), [f"{TEMPLATE}: Required value: must be set"]),
        (job("local", role("Worker")),
         [f'{ROLES}[0].mxReplicaType: Unsupported value: "Worker": supported values: "SCHEDULER", "SERVER", "WORKER"']),
        (job("dist", role("SCHEDULER"), role("SERVER"), role("WORKER"), role("WORKER"), role("SCHEDULER")),
         [f'{ROLES}[3].mxReplicaType: Duplicate value: "WORKER": {ROLES}[2] already has the role WORKER: '
          "increase its replicas",
          f'{ROLES}[4].mxReplicaType: Duplicate value: "SCHEDULER": {ROLES}[0] already has the role SCHEDULER']),
        (job("local", role(), role()),
         [f'{ROLES}[1].mxReplicaType: Duplicate value: "WORKER": {ROLES}[0] already has the role WORKER']),
        (local(template=template({"name": "mxnet-0", "image": "i"})),
         [f"{POD}.containers: Required value: one container must be named mxnet: mxnet-operator runs the "
          "training in it"]),
        (local(template=template({"name": "main", "image": "i"}, initContainers=[container()])),
         [f"{POD}.containers: Required value: one container must be named mxnet: mxnet-operator runs the "
          "training in it"]),
        (dist(scheduler={"replicas": 0}, server={"replicas": -1}),
         [f"{ROLES}[0].replicas: Invalid value: 0: must be at least 1", f"{ROLES}[1].replicas: Invalid value: -1: must be at least 1"]),
        (dist(scheduler={"replicas": 2}), [f"{ROLES}[0].replicas: Invalid value: 2: must be 1 for the role "
                                           "SCHEDULER"]),
        (local(replicas=2),
         [f"{ROLES}[0].replicas: Invalid value: 2: must be 1 for a local job: set spec.jobMode to dist for "
          "more workers"]),
        (dist(scheduler={"psRootPort": 0}), [f"{ROLES}[0].psRootPort: Invalid value: 0: must be at least 1"]),
        (dist(scheduler={"PsRootPort": 65536}), [f"{ROLES}[0].PsRootPort: Invalid value: 65536: must be at most 65535"]),
        (job("local", role(), role("SERVER")),
         [f"{ROLES}[1].mxReplicaType: Forbidden: a local job has no SERVER: remove the element, or set "
          "spec.jobMode to dist"]),
        (job("local", role("SCHEDULER")),
         [f"{ROLES}[0].mxReplicaType: Forbidden: a local job has no SCHEDULER: remove the element, or set "
          "spec.jobMode to dist",
          f"{ROLES}: Required value: a local job needs a WORKER: add an element with mxReplicaType WORKER"]),
        (job("dist", role("WORKER")),
         [f"{ROLES}: Required value: a dist job needs a SCHEDULER: add an element with mxReplicaType SCHEDULER",
          f"{ROLES}: Required value: a dist job needs a SERVER: add an element with mxReplicaType SERVER"]),
        (job("dist", role("SERVER")),
         [f"{ROLES}: Required value: a dist job needs a SCHEDULER: add an element with mxReplicaType SCHEDULER",
          f"{ROLES}: Required value: a dist job needs a WORKER: add an element with mxReplicaType WORKER"]),
        (local(template=template(restartPolicy="Always")),
         [f'{POD}.restartPolicy: Invalid value: "Always": must be OnFailure or Never, as the pods belong to '
          "batch Jobs"]),
        (local(template=template() | {"metadata": {"labels": {"job-name": "x"}}}),
         [f"{TEMPLATE}.metadata.labels[job-name]: Forbidden: set by the API server for the pods of batch "
          "Jobs: remove it"]),
        (dist("j" * 47), [f'metadata.name: Too long: "{"j" * 47}": may not be more than 46 characters: {USES}']),
        (dist("j" * 48, worker={"replicas": 1001}),
         [f'metadata.name: Too long: "{"j" * 48}": may not be more than 46 characters: {USES}']),
        (dist("j" * 48, worker={"replicas": 100_001}),
         [f'metadata.name: Too long: "{"j" * 48}": may not be more than 44 characters: {USES}']),
        (dist(runtimeId="a" * 48), [f'spec.runtimeId: Too long: "{"a" * 48}": may not be more than 47 characters: {USES}']),
        (job("local", role(), metadata={"generateName": "g" * 60}),
         [f'metadata.generateName: Too long: "{"g" * 60}": may not be more than 44 characters: {USES}']),
        (dist("a.b"), [f'metadata.name: Invalid value: "a.b": {LABEL}: {USES}']),
        (dist(RuntimeId="A_b"), [f'spec.RuntimeId: Invalid value: "A_b": {LABEL}']),
        (dist(runtimeId="a", RuntimeId="a"),
         ["spec.RuntimeId: Forbidden: same field as runtimeId, which is also set: remove RuntimeId"]),
        (dist(scheduler={"psRootPort": 1, "PsRootPort": 2}),
         [f"{ROLES}[0].PsRootPort: Forbidden: same field as psRootPort, which is also set: remove PsRootPort"]),
    ],
)  # fmt: skip
def test_what_is_not_is_refused_with_every_fault(document: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(document)) == expected


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
