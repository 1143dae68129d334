"""Injection into a pod: only absent fields, idempotent, and nothing that the restricted profile rejects."""

from typing import Any

import jsonpatch
import pytest

from jobgate.podchecks.pod_security.checks import violations
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.inject import inject, volume_name
from jobgate.prerequisites.reference import NAMESPACED
from jobgate.prerequisites.resolve import resolve
from tests.prerequisites.items import Known, examples, item, named, starts
from webhook import Draft, Path


def content(*documents: dict[str, Any]) -> Injection:
    """The content of items together."""
    result, conflicts = content_of(
        resolve([named(document["metadata"]["name"]) for document in documents], Known(documents).find())
    )
    assert not conflicts
    return result


def pod(**container: Any) -> dict[str, Any]:
    """A pod with one container that has a command."""
    main = {
        "name": "main",
        "image": "python",
        "command": ["python", "a b", "$(HOME)"],
        "args": ["", "it's"],
        **container,
    }
    return {"metadata": {"name": "one"}, "spec": {"containers": [main]}}


def injected(before: dict[str, Any], what: Injection, wish: str = "") -> tuple[dict[str, Any], list[str]]:
    """The pod after injection, as its patch makes it, and what could not be."""
    draft = Draft(before)
    problems = [each.message() for each in inject(draft, what, wish)]
    after = jsonpatch.apply_patch(before, draft.patch)
    assert after == draft.value
    return after, problems


def everything() -> Injection:
    """The content of all plugins."""
    return content(
        item("a", cmd=starts("echo $HOME"), env=[{"name": "A", "value": "1"}]),
        item("b", pvcStorage={"name": "data.set", "subPath": "x", "readOnly": True}),
        item("c", cmd=starts("sleep 1", event="taskFails"),
             env=[{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
    )  # fmt: skip


def test_a_pod_gets_mounts_variables_and_hooks_and_keeps_every_word_of_its_command() -> None:
    after, problems = injected(pod(env=[{"name": "MINE", "value": "$(A)"}]), everything())
    assert not problems
    (container,) = after["spec"]["containers"]
    name = volume_name("data.set")
    assert after["spec"]["volumes"] == [{"name": name, "persistentVolumeClaim": {"claimName": "data.set"}}]
    assert container["volumeMounts"] == [{"name": name, "mountPath": "/mnt/data.set", "subPath": "x", "readOnly": True}]
    assert [variable["name"] for variable in container["env"]] == ["A", "KEY", "MINE"], (
        "so that the pod's own can refer to them"
    )
    words = [*container["command"], *(container.get("args") or [])]
    assert words[-5:] == ["python", "a b", "$(HOME)", "", "it's"]


def test_a_secret_is_a_reference_in_the_pod_and_nowhere_a_text() -> None:
    token = item("a", cmd=starts('login "$TOKEN"'), env=[
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "registry", "key": "token"}}},
    ])  # fmt: skip
    after, _ = injected(pod(), content(token))
    (container,) = after["spec"]["containers"]
    assert container["env"] == token["spec"]["env"]
    assert "registry" not in str(container["command"]) + str(after["metadata"])


def test_injecting_twice_equals_once() -> None:
    once, _ = injected(pod(), everything())
    again, problems = injected(once, everything())
    assert (again, problems) == (once, [])


def test_an_exported_pod_gets_the_hooks_of_today_in_the_place_of_the_old() -> None:
    old, _ = injected(pod(), content(item("a", cmd=starts("echo old"))))
    new, _ = injected(old, content(item("a", cmd=starts("echo new"))))
    fresh, _ = injected(pod(), content(item("a", cmd=starts("echo new"))))
    assert new == fresh


def test_nothing_that_is_injected_breaks_the_restricted_profile() -> None:
    security = {
        "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    after, _ = injected(pod(securityContext=security), everything())
    assert not list(violations(after, Path()))


MOUNT = item("a", pvcStorage={"name": "c", "mountPath": "/d"})
TWO = {"containers": [{"name": "main", "command": ["x"]}, {"name": "side", "command": ["y"]}]}
CLAIM = {"name": "mine", "persistentVolumeClaim": {"claimName": "c"}}


@pytest.mark.parametrize(
    ("spec", "wish", "what", "expected"),
    [
        ({"containers": [{"name": "main"}]}, "", [item("a", cmd=starts("x"))], "CommandRequired: container main: hooks run around a command"),
        ({"containers": [{"name": "main"}]}, "", [MOUNT], ""),
        (TWO, "", [MOUNT], "UnknownContainer: the pod has 2 containers"),
        (TWO, "side", [MOUNT], ""),
        (TWO, "other", [MOUNT], "UnknownContainer: annotation jobgate.dev/prerequisites-container names 'other'"),
        (TWO, "", [item("a")], ""),
        ({"containers": [{"name": "main", "volumeMounts": [{"name": "scratch", "mountPath": "/d/"}]}]}, "", [MOUNT],
         "MountConflict: ClusterPrerequisite a: the container mounts scratch at /d already"),
        ({"containers": [{"name": "main"}], "volumes": [{"name": "pvc-c", "emptyDir": {}}]}, "", [MOUNT],
         "VolumeConflict: ClusterPrerequisite a: the pod's volume pvc-c is not claim c"),
        ({"containers": [{"name": "main", "volumeMounts": [{"name": "mine", "mountPath": "/d"}]}], "volumes": [CLAIM]}, "",
         [MOUNT], ""),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_pod_says_why(spec: Any, wish: str, what: list[dict[str, Any]], expected: str) -> None:
    _, problems = injected({"metadata": {}, "spec": spec}, content(*what), wish)
    assert len(problems) == bool(expected)
    assert all(problem.startswith(expected) for problem in problems)


def test_the_volume_that_a_pod_has_for_a_claim_is_used() -> None:
    spec = {"containers": [{"name": "main"}], "volumes": [CLAIM]}
    after, _ = injected({"metadata": {}, "spec": spec}, content(MOUNT))
    assert after["spec"]["volumes"] == [CLAIM]
    assert after["spec"]["containers"][0]["volumeMounts"] == [{"name": "mine", "mountPath": "/d"}]


def test_the_scenario_imagenet_with_validation_mounts_its_claim_once() -> None:
    references = [named(name, NAMESPACED) for name in ("imagenet", "imagenet-only-validation")]
    after, problems = injected(pod(), content_of(resolve(references, Known(examples()).find()))[0])
    assert not problems
    assert [volume["name"] for volume in after["spec"]["volumes"]] == ["pvc-confignfs"]
    assert after["spec"]["containers"][0]["volumeMounts"] == [
        {"name": "pvc-confignfs", "mountPath": "/mnt/confignfs_pvc"}
    ]


@pytest.mark.parametrize("claim", ["a", "a" * 63, "a.b.c", "a" * 200 + ".b"])
def test_a_volume_is_called_by_its_claim_in_a_dns_label(claim: str) -> None:
    assert len(volume_name(claim)) <= 63
    assert "." not in volume_name(claim)
