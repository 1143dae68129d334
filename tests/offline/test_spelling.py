"""Suggestions for unknown fields, as users read them in the output of `jobgate review`."""

import json
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from jobgate.cli import main

UNKNOWN = "unknown field: rejected by kubectl, dropped for other clients"
JOB, TASK, POD = ("spec",), ("spec", "tasks", 0), ("spec", "tasks", 0, "template", "spec")
CONTAINER = (*POD, "containers", 0)


def volcano() -> dict[str, Any]:
    task = {"name": "a", "replicas": 1, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a"},
        "spec": {"minAvailable": 1, "tasks": [task]},
    }  # fmt: skip


def dijob() -> dict[str, Any]:
    return {**volcano(), "apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob"}


def kubeflow() -> dict[str, Any]:
    task = {"replicas": 1, "template": {"spec": {"containers": [{"name": "pytorch", "image": "b"}]}}}
    return {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"},
        "spec": {"pytorchReplicaSpecs": {"Worker": task}},
    }  # fmt: skip


def warnings(document: dict[str, Any]) -> list[str]:
    """Return the warnings of unknown fields."""
    done = CliRunner().invoke(main, ["review", "-", "--output=json"], input=yaml.safe_dump(document))
    (entry,) = json.loads(done.stdout)
    return [warning for warning in entry["warnings"] if UNKNOWN in warning]


def with_field(document: dict[str, Any], place: tuple[str | int, ...], field: str) -> dict[str, Any]:
    inner: Any = document
    for step in place:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    inner[field] = {}
    return document


@pytest.mark.parametrize(
    ("document", "place", "field", "expected"),
    [
        (volcano(), POD, "priorityClass", "priorityClassName"),
        (volcano(), JOB, "priorityClass", "priorityClassName"),
        (volcano(), POD, "node_selector", "nodeSelector"),
        (volcano(), POD, "imagePullSecret", "imagePullSecrets"),
        (volcano(), POD, "toleration", "tolerations"),
        (volcano(), POD, "restart", "restartPolicy"),
        (volcano(), POD, "image", "containers[].image"),
        (volcano(), POD, "imagePullPolicy", "containers[].imagePullPolicy"),
        (volcano(), CONTAINER, "cmd", "command"),
        (volcano(), CONTAINER, "environment", "env"),
        (volcano(), CONTAINER, "Image", "image"),
        (volcano(), CONTAINER, "image_pull_policy", "imagePullPolicy"),
        (volcano(), CONTAINER, "limits", "resources.limits"),
        (volcano(), (*CONTAINER, "resources"), "limit", "limits"),
        (volcano(), CONTAINER, "volumeMount", "volumeMounts"),
        (volcano(), CONTAINER, "nodeSelector", "spec.tasks[0].template.spec.nodeSelector"),
        (volcano(), POD, "replicas", "spec.tasks[0].replicas"),
        (volcano(), TASK, "replica", "replicas"),
        (volcano(), JOB, "maxRetries", "maxRetry"),
        (volcano(), JOB, "template", "tasks[].template"),
        (volcano(), JOB, "zzz", ""),
        (dijob(), JOB, "maxRetries", "backoffLimit"),
        (dijob(), TASK, "replica", "replicas"),
        (kubeflow(), ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec"), "node_selector", "nodeSelector"),
        (kubeflow(), ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers", 0), "cmd", "command"),
    ],
)
def test_an_unknown_field_gets_a_suggestion(
    document: dict[str, Any], place: tuple[str | int, ...], field: str, expected: str
) -> None:
    (warning,) = warnings(with_field(document, place, field))
    assert warning.endswith(f": did you mean {expected}?" if expected else UNKNOWN), warning


def test_an_item_gets_suggestions_too() -> None:
    item = {"apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "a"}, "spec": {}}
    (warning,) = warnings(with_field(item, JOB, "mountPath"))
    assert warning.endswith(": did you mean pvcStorage.mountPath?")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("*", "not YAML: did not find expected alphabetic or numeric character while scanning an alias: quote a value that begins with *"),
        ("*any", "*any has no anchor: quote the text, or write &any before its value"),
        ("& b", "not YAML: did not find expected alphabetic or numeric character while scanning an anchor: quote a value that begins with &"),
    ],
)  # fmt: skip
def test_an_event_without_quotes_has_a_hint_at_its_place(value: str, expected: str) -> None:
    text = yaml.safe_dump(volcano()) + f"  policies:\n  - event: {value}\n    action: RestartJob\n"
    done = CliRunner().invoke(main, ["review", "-"], input=text)
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if "error:" in line]
    number = text[: text.index("event:")].count("\n") + 1
    assert line.startswith(f"<stdin>:{number}:"), line
    assert expected in line
