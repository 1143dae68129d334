"""Updates of an MxJob: nothing of a stored job changes, and the operator's own writes go through."""

import copy
from typing import Any

import pytest

from jobgate.kinds.mxjob import MXJOB
from tests.kinds.mxjob.jobs import container, dist, faults, job, local, mutate, role, template, validate
from tests.kinds.mxjob.test_defaults import defaulted
from tests.messages import compare

ROLES = "spec.replicaSpecs"
STORED = defaulted(dist(scheduler={"psRootPort": 9000}, server={"replicas": 2}))


def edited(index: int, **fields: Any) -> dict[str, Any]:
    """Return the stored job with other fields of one role; those that are None are left out."""
    document = copy.deepcopy(STORED)
    part = document["spec"]["replicaSpecs"][index] | fields
    document["spec"]["replicaSpecs"][index] = {key: value for key, value in part.items() if value is not None}
    return document


@pytest.mark.parametrize(
    "document, expected",
    [
        (edited(2, replicas=3), ["spec.replicaSpecs[2].replicas: Forbidden"]),
        (edited(0, psRootPort=9001), ["spec.replicaSpecs[0].psRootPort: Forbidden"]),
        (edited(0, psRootPort=None, PsRootPort=9001), ["spec.replicaSpecs[0].PsRootPort: Forbidden"]),
        (edited(1, template=template(container(image="other"), restartPolicy="OnFailure")),
         ["spec.replicaSpecs[1].template.spec.containers[0].image: Forbidden"]),
    ],
)  # fmt: skip
def test_an_edit_is_rejected_for_the_operator_would_pass_over_it(document: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/mxjob", faults(validate(document, STORED)), expected)


def test_a_role_may_not_come_to_a_stored_job() -> None:
    stored = defaulted(local())
    document = job("dist", *stored["spec"]["replicaSpecs"], role("SCHEDULER"), role("SERVER"))
    assert sorted(fault.split(": ")[0] for fault in faults(validate(document, stored))) == ["spec.jobMode", ROLES]


def test_labels_may_change() -> None:
    assert validate(STORED | {"metadata": {"name": "job", "labels": {"a": "b"}}}, STORED).allowed


def as_the_operator_writes(document: dict[str, Any]) -> dict[str, Any]:
    """Return a job as the operator writes it back: its own spellings, a runtime id, a port for every role.

    Between it and admission the API server drops the nulls that Go writes.
    """
    written = copy.deepcopy(document)
    written["spec"].setdefault("RuntimeId", written["spec"].pop("runtimeId", "x1y2"))
    for spec in written["spec"]["replicaSpecs"]:
        spec["PsRootPort"] = spec.pop("psRootPort", 9091)
        spec["template"].setdefault("metadata", {})["creationTimestamp"] = None
        spec["template"]["spec"]["containers"][0]["resources"] = {}
    return MXJOB.schema.default(written)


def test_the_operators_own_write_goes_through() -> None:
    written = as_the_operator_writes(STORED)
    assert not mutate(written, STORED).patch
    assert faults(validate(written, STORED)) == []


def test_so_does_what_it_makes_of_a_runtime_id_of_the_users() -> None:
    stored = STORED | {"spec": STORED["spec"] | {"runtimeId": "mine"}}
    assert faults(validate(as_the_operator_writes(stored), stored)) == []


def test_so_do_both_spellings_where_the_one_was_put_back() -> None:
    written = as_the_operator_writes(STORED)
    written["spec"]["replicaSpecs"][0]["psRootPort"] = 9000
    assert faults(validate(written, STORED)) == []


def test_two_spellings_with_two_values_are_rejected_then_too() -> None:
    reported = faults(validate(edited(0, PsRootPort=9001), STORED))
    assert [fault.split(": ")[:2] for fault in reported] == [
        [f"{ROLES}[0].PsRootPort", "Forbidden"],
        [f"{ROLES}[0].PsRootPort", "Forbidden"],
    ]


def test_a_runtime_id_once_there_stays() -> None:
    stored = as_the_operator_writes(STORED)
    other = copy.deepcopy(stored)
    other["spec"]["RuntimeId"] = "zzzz"
    assert faults(validate(other, stored)) == [
        'spec.RuntimeId: Forbidden: may not change after the job is created: from "x1y2" to "zzzz"'
    ]


def test_accelerators_that_the_installation_has_since_are_no_edit() -> None:
    gpu = {"nvidia.com/gpu": {"volumes": [{"name": "d", "hostPath": "/d", "mountPath": "/d"}]}}
    stored = defaulted(local(template=template(container(resources={"limits": {"nvidia.com/gpu": 1}}))))
    written = as_the_operator_writes(stored)
    written["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {
        "limits": {"nvidia.com/gpu": 1}
    }
    assert faults(validate(written, stored, accelerators=gpu)) == []
