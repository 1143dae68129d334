"""Violations of the levels, by the version of their definition; a pod may be any JSON."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from jobgate.podchecks.pod_security.checks import violations
from jobgate.podchecks.pod_security.policy import Certainty, standard
from tests.differential.pods.pod_security import PODS, plain, restricted
from webhook.path import Path

ANYTHING: list[Any] = [None, True, -1, "x", [[]], {"": "x"}]
#: Enough of them: each field is in at least one.
SOME = list(PODS.values())[::3]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list within a value with each key or place in it."""
    for key, child in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(child, dict | list):
            yield from places(child)


@pytest.mark.parametrize("anything", ANYTHING, ids=repr)
def test_no_json_makes_a_check_fail(anything: Any) -> None:
    for pod in SOME:
        changed = deepcopy(pod)
        for parent, key in places(changed):
            before, parent[key] = parent[key], anything
            for violation in violations(changed, Path("template")):
                assert str(violation.path).startswith("template.")
            parent[key] = before


def test_a_sound_pod_violates_nothing() -> None:
    assert not list(violations(restricted(), Path()))


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod that says nothing else of security."""
    return {**plain(), "spec": {**plain()["spec"], **spec}}


WINDOWS = pod(os={"name": "windows"})
ROOT = restricted()
ROOT["spec"].setdefault("securityContext", {})["runAsUser"] = 0
ESCALATION, DROP, USER, SECCOMP = "allowPrivilegeEscalation", "drop", "runAsNonRoot", "seccompProfile.type"


@pytest.mark.parametrize(
    ("held", "of", "fields"),
    [
        ("baseline:v1.25", pod(volumes=[{"name": "a", "hostPath": {"path": "/a"}}]), ["hostPath"]),
        ("restricted:v1.25", plain(), [ESCALATION, DROP, USER, SECCOMP]),
        ("restricted:v1.25", WINDOWS, [USER]),
        ("restricted:v1.25", ROOT, ["runAsUser"]),
    ],
)
def test_a_pod_violates_what_the_pinned_definition_has(held: str, of: dict[str, Any], fields: list[str]) -> None:
    certain = standard(held)
    assert not [
        violation for violation in violations(of, Path()) if certain.violated_by(violation) is Certainty.BY_VERSION
    ]
    result = [str(each.path) for each in violations(of, Path()) if certain.violated_by(each) is Certainty.YES]
    assert len(result) == len(fields), result
    assert all(map(str.endswith, result, fields)), result
