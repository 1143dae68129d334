"""The rules of what a job brings forth: the version of a model, and the volume that the pods write it to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from jobgate.kinds.common.pod.reading import mapping, objects
from jobgate.kinds.torchjob.models import NFS, LocalStorage, ModelVersionSpec, Storage, TorchJobSpec
from jobgate.kinds.torchjob.operator import MODEL_VOLUME
from jobgate.names import LABEL_LIMIT, dns_subdomain
from webhook import Cause, Context, Duplicate, Forbidden, Invalid, Job, Notice, Path, Required, TooLong, readable, rule
from webhook.view import json_name

MODEL_VERSION = Path("spec") / "modelVersion"
SPEC = MODEL_VERSION / "spec"
STORAGE = SPEC / "storage"

#: What must be set of the spec, and of each sort of storage.
_OF_SPEC = {
    "model_name": "must be the name of the Model",
    "image_repo": "must be the repository of the image to build",
    "storage": "must set nfs or localStorage, where the pods write the model",
}
_OF_FOLDERS = {
    "path": "must be the directory to mount",
    "mount_path": "must be the mount path in the containers, where the model is written",
}
_OF_STORAGES = {"nfs": {"server": "must be the host of the NFS server", **_OF_FOLDERS}, "local_storage": _OF_FOLDERS}


def _spec(job: Job[TorchJobSpec]) -> ModelVersionSpec | None:
    output = job.spec.model_version
    return output.spec if output is not None else None


def _storage(job: Job[TorchJobSpec]) -> Storage | None:
    spec = _spec(job)
    return spec.storage if spec is not None else None


def _missing(part: BaseModel, required: Mapping[str, str], path: Path) -> Iterator[Cause]:
    """Yield the attributes that are empty; the schema reports those that cannot be read."""
    for name, detail in required.items():
        if not getattr(part, name, part):
            yield Required(path / json_name(type(part), name), detail)


@rule("model_version", reads=("model_version.spec",))
def an_output_says_what_it_is(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator crashes on a job whose model version is incomplete."""
    if job.spec.model_version is None:
        return
    if (spec := _spec(job)) is None:
        yield Required(SPEC, "must set modelName, imageRepo and storage")
    else:
        yield from _missing(spec, _OF_SPEC, SPEC)


@rule("model_version.spec.model_name")
def a_model_has_a_legal_name(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The model name is the name of an object and the value of a label."""
    spec = _spec(job)
    name = spec.model_name if spec is not None else None
    if name and len(name) > LABEL_LIMIT:
        yield TooLong(SPEC / "modelName", name, LABEL_LIMIT)
    elif name and (fault := dns_subdomain(name)):
        yield Invalid(SPEC / "modelName", name, fault)


@rule(
    "model_version.spec.storage", reads=("model_version.spec.storage.nfs", "model_version.spec.storage.local_storage")
)
def an_output_has_one_storage(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The pods write the model to one volume."""
    storage = _storage(job)
    if storage is None:
        return
    if storage.nfs is not None and storage.local_storage is not None:
        yield Forbidden(STORAGE / "localStorage", f"may not be set together with {STORAGE}.nfs")
    elif storage.nfs is None and storage.local_storage is None:
        yield Required(STORAGE, "must set nfs or localStorage, where the pods write the model")


@rule("model_version.spec.storage")
def a_storage_can_be_mounted(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """A storage needs a directory, and a mount path in the containers."""
    storage = _storage(job)
    for name, required in _OF_STORAGES.items():
        folder: NFS | LocalStorage | None = getattr(storage, name, None)
        if folder is None:
            continue
        path = STORAGE / json_name(Storage, name)
        yield from _missing(folder, required, path)
        for _, one in readable([folder], "path"):
            if isinstance(one, NFS) and one.path and not one.path.startswith("/"):
                yield Invalid(path / "path", one.path, "must be an absolute path")
            elif isinstance(one, LocalStorage) and one.path and ".." in one.path.split("/"):
                yield Invalid(path / "path", one.path, "must not contain '..'")


@rule(
    "model_version",
    reads=(
        "tasks.template",
        "model_version.spec.storage.nfs.mount_path",
        "model_version.spec.storage.local_storage.mount_path",
    ),
)
def the_model_volume_is_left_to_the_operator(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator adds a volume with this name to every pod, and mounts it into every container."""
    if job.spec.model_version is None:
        return
    storage = _storage(job)
    used = (storage.nfs or storage.local_storage) if storage is not None else None
    mount_path = used.mount_path if used is not None else None
    for task in job.tasks:
        path = task.template_path / "spec"
        pod = mapping(task.template.get("spec"))
        for index, volume in objects(pod.get("volumes")):
            if volume.get("name") == MODEL_VOLUME:
                detail = "reserved: torch-on-k8s adds a volume with this name for spec.modelVersion"
                yield Duplicate(path / "volumes" / index / "name", MODEL_VOLUME, detail)
        for place, container in objects(pod.get("containers")):
            for index, mount in objects(container.get("volumeMounts")):
                if mount_path and mount.get("mountPath") == mount_path:
                    at = path / "containers" / place / "volumeMounts" / index / "mountPath"
                    yield Duplicate(
                        at, mount_path, "reserved: torch-on-k8s mounts the storage of spec.modelVersion here"
                    )


@rule("model_version")
def only_the_spec_of_a_model_version_is_read(job: Job[TorchJobSpec], __: Context) -> Iterator[Notice]:
    """The operator uses only the spec, and generates the rest of the object."""
    for name in ("metadata", "status"):
        if getattr(job.spec.model_version, name, None):
            yield Notice(MODEL_VERSION / name, "torch-on-k8s ignores this field and generates the value")


#: The rules, in the order in which a reader wants to know.
output_rules = (
    an_output_says_what_it_is,
    a_model_has_a_legal_name,
    an_output_has_one_storage,
    a_storage_can_be_mounted,
    the_model_volume_is_left_to_the_operator,
    only_the_spec_of_a_model_version_is_read,
)
