"""The rules of what a job brings forth."""

from typing import Any

import pytest

from tests.kinds.torchjob.jobs import TASKS, container, faults, job, output, task, tasks, template, validate

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
        ({"modelVersion": {}}, [f"{SPEC}: Required value: the model, the repository of its image and a storage"]),
        ({"modelVersion": {"spec": {}}},
         [f"{SPEC}.modelName: Required value: the Model that this is a version of",
          f"{SPEC}.imageRepo: Required value: the repository of the image that is built",
          f"{STORAGE}: Required value: nfs or localStorage, where the pods write the model to"]),
        (output({}), [f"{STORAGE}: Required value: nfs or localStorage, where the pods write the model to"]),
        (output({"nfs": {"server": "s", **LOCAL}, "localStorage": LOCAL}),
         [f"{STORAGE}.localStorage: Forbidden: {STORAGE}.nfs is the storage already: use one of the two"]),
        (output({"nfs": {}}),
         [f"{STORAGE}.nfs.server: Required value: the host that exports the folder",
          f"{STORAGE}.nfs.path: Required value: the folder that is mounted",
          f"{STORAGE}.nfs.mountPath: Required value: where the containers see the folder, and write the model to"]),
        (output({"localStorage": {"nodeName": "n"}}),
         [f"{STORAGE}.localStorage.path: Required value: the folder that is mounted",
          f"{STORAGE}.localStorage.mountPath: Required value: where the containers see the folder, and write the model to"]),
        (output({"nfs": {"server": "s", **LOCAL, "path": "models"}}),
         [f'{STORAGE}.nfs.path: Invalid value: "models": must be an absolute path']),
        (output({"localStorage": {**LOCAL, "path": "/a/../b"}}),
         [f"{STORAGE}.localStorage.path: Invalid value: \"/a/../b\": must not contain '..'"]),
        (output(modelName="ResNet"), [f'{SPEC}.modelName: Invalid value: "ResNet": {SUBDOMAIN}']),
        (output(modelName="m" * 64), [f'{SPEC}.modelName: Too long: "{"m" * 64}": may not be more than 63 characters']),
        (output(imageRepo=""), [f"{SPEC}.imageRepo: Required value: the repository of the image that is built"]),
    ],
)  # fmt: skip
def test_an_output_is_complete(spec: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(job(**spec))) == expected


def test_the_model_volume_is_the_operators() -> None:
    mount = container(volumeMounts=[{"name": "modelvolume", "mountPath": "/model"}])
    parts = tasks(task(1, template=template(mount, volumes=[{"name": "modelvolume", "emptyDir": {}}])))
    assert faults(validate(job(parts))) == []
    pod = f"{TASKS}[Worker].template.spec"
    assert faults(validate(job(parts, **output()))) == [
        f'{pod}.volumes[0].name: Duplicate value: "modelvolume": torch-on-k8s adds a volume of this name for spec.modelVersion',
        f'{pod}.containers[0].volumeMounts[0].mountPath: Duplicate value: "/model": torch-on-k8s mounts the storage of '
        "spec.modelVersion there",
    ]


@pytest.mark.parametrize("part, value", [("metadata", {"name": "a"}), ("status", {"image": "b"})])
def test_what_is_not_read_of_a_model_version_is_a_warning(part: str, value: dict[str, Any]) -> None:
    spec = output()
    spec["modelVersion"][part] = value
    response = validate(job(**spec))
    assert (faults(response), response.warnings) == (
        [],
        [f"spec.modelVersion.{part}: torch-on-k8s does not read it: the ModelVersion gets its own"],
    )


def test_what_typed_clients_write_of_them_is_none() -> None:
    spec = output()
    spec["modelVersion"] |= {"metadata": {}, "status": {}}
    assert validate(job(**spec)).warnings == []
