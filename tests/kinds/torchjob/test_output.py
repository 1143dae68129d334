"""The rules of what a job brings forth."""

from typing import Any

import pytest

from tests.kinds.torchjob.jobs import TASKS, container, faults, job, output, task, tasks, template, validate
from tests.messages import compare

SPEC = "spec.modelVersion.spec"
STORAGE = f"{SPEC}.storage"
LOCAL = {"path": "/models", "mountPath": "/model"}
SUBDOMAIN = (
    "must consist of lower case letters, digits, '-' and '.', and each part between dots must begin and end with a "
    "letter or a digit"
)


@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"modelVersion": {}}, [f"{SPEC}: Required value"]),
        ({"modelVersion": {"spec": {}}},
         [f"{SPEC}.modelName: Required value", f"{SPEC}.imageRepo: Required value", f"{STORAGE}: Required value"]),
        (output({}), [f"{STORAGE}: Required value"]),
        (output({"nfs": {"server": "s", **LOCAL}, "localStorage": LOCAL}), [f"{STORAGE}.localStorage: Forbidden"]),
        (output({"nfs": {}}),
         [f"{STORAGE}.nfs.server: Required value", f"{STORAGE}.nfs.path: Required value", f"{STORAGE}.nfs.mountPath: Required value"]),
        (output({"localStorage": {"nodeName": "n"}}),
         [f"{STORAGE}.localStorage.path: Required value", f"{STORAGE}.localStorage.mountPath: Required value"]),
        (output({"nfs": {"server": "s", **LOCAL, "path": "models"}}), [f"{STORAGE}.nfs.path: Invalid value"]),
        (output({"localStorage": {**LOCAL, "path": "/a/../b"}}), [f"{STORAGE}.localStorage.path: Invalid value"]),
        (output(modelName="ResNet"), [f"{SPEC}.modelName: Invalid value"]),
        (output(modelName="m" * 64), [f"{SPEC}.modelName: Too long"]),
        (output(imageRepo=""), [f"{SPEC}.imageRepo: Required value"]),
    ],
)  # fmt: skip
def test_an_output_is_complete(spec: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/torchjob", faults(validate(job(**spec))), expected)


def test_the_model_volume_is_the_operators() -> None:
    mount = container(volumeMounts=[{"name": "modelvolume", "mountPath": "/model"}])
    parts = tasks(task(1, template=template(mount, volumes=[{"name": "modelvolume", "emptyDir": {}}])))
    assert faults(validate(job(parts))) == []
    pod = f"{TASKS}[Worker].template.spec"
    assert faults(validate(job(parts, **output()))) == [
        f'{pod}.volumes[0].name: Duplicate value: "modelvolume": reserved: torch-on-k8s adds a volume with '
        "this name for spec.modelVersion",
        f'{pod}.containers[0].volumeMounts[0].mountPath: Duplicate value: "/model": reserved: torch-on-k8s '
        "mounts the storage of spec.modelVersion here",
    ]


@pytest.mark.parametrize("part, value", [("metadata", {"name": "a"}), ("status", {"image": "b"})])
def test_what_is_not_read_of_a_model_version_is_a_warning(part: str, value: dict[str, Any]) -> None:
    spec = output()
    spec["modelVersion"][part] = value
    response = validate(job(**spec))
    assert (faults(response), response.warnings) == (
        [],
        [f"spec.modelVersion.{part}: torch-on-k8s ignores this field and generates the value"],
    )


def test_what_typed_clients_write_of_them_is_none() -> None:
    spec = output()
    spec["modelVersion"] |= {"metadata": {}, "status": {}}
    assert validate(job(**spec)).warnings == []
