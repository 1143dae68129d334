"""The rules of what a job brings forth: the version of a model, and the volume that the pods write it to."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.reading import mapping, objects
from jobgate.kinds.torchjob.model_version import NFS, LocalStorage
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import MODEL_VOLUME
from jobgate.names import LABEL_LIMIT, dns_subdomain
from webhook import Cause, Context, Duplicate, Forbidden, Invalid, Job, Notice, Path, Required, TooLong, readable, rule

MODEL_VERSION = Path("spec") / "modelVersion"
SPEC = MODEL_VERSION / "spec"
STORAGE = SPEC / "storage"


@rule("model_version", reads=("model_version.spec",))
def an_output_says_what_it_is(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator reads all of it, and dies of a job that leaves some out."""
    output = job.spec.model_version
    if output is None:
        return
    if output.spec is None:
        yield Required(SPEC, "must set the model, the image repository and a storage")
        return
    for _, spec in readable([output.spec], "model_name"):
        if not spec.model_name:
            yield Required(SPEC / "modelName", "must be the name of the Model")
    for _, spec in readable([output.spec], "image_repo"):
        if not spec.image_repo:
            yield Required(SPEC / "imageRepo", "must be the repository of the image to build")
    for _, spec in readable([output.spec], "storage"):
        if spec.storage is None:
            yield Required(STORAGE, "must set nfs or localStorage, where the pods write the model")


@rule("model_version.spec.model_name")
def a_model_has_a_legal_name(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """It is the name of an object, and the value of a label."""
    output = job.spec.model_version
    name = output.spec.model_name if output is not None and output.spec is not None else None
    if name and len(name) > LABEL_LIMIT:
        yield TooLong(SPEC / "modelName", name, LABEL_LIMIT)
    elif name and (fault := dns_subdomain(name)):
        yield Invalid(SPEC / "modelName", name, fault)


@rule(
    "model_version.spec.storage", reads=("model_version.spec.storage.nfs", "model_version.spec.storage.local_storage")
)
def an_output_has_one_storage(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The pods write the model to one volume."""
    output = job.spec.model_version
    storage = output.spec.storage if output is not None and output.spec is not None else None
    if storage is None:
        return
    if storage.nfs is not None and storage.local_storage is not None:
        yield Forbidden(STORAGE / "localStorage", f"may not be set together with {STORAGE}.nfs")
    elif storage.nfs is None and storage.local_storage is None:
        yield Required(STORAGE, "must set nfs or localStorage, where the pods write the model")


@rule("model_version.spec.storage")
def a_storage_can_be_mounted(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """Both sorts of storage are a folder somewhere, and one in the containers."""
    output = job.spec.model_version
    storage = output.spec.storage if output is not None and output.spec is not None else None
    if storage is None:
        return
    for _, one in readable([storage], "nfs"):
        if one.nfs is not None:
            yield from _nfs_faults(one.nfs, STORAGE / "nfs")
    for _, one in readable([storage], "local_storage"):
        if one.local_storage is not None:
            yield from _folder_faults(one.local_storage, STORAGE / "localStorage")


def _nfs_faults(nfs: NFS, path: Path) -> Iterator[Cause]:
    for _, one in readable([nfs], "server"):
        if not one.server:
            yield Required(path / "server", "must be the host of the NFS server")
    yield from _folder_faults(nfs, path)
    for _, one in readable([nfs], "path"):
        if one.path and not one.path.startswith("/"):
            yield Invalid(path / "path", one.path, "must be an absolute path")


def _folder_faults(storage: NFS | LocalStorage, path: Path) -> Iterator[Cause]:
    for _, one in readable([storage], "path"):
        if not one.path:
            yield Required(path / "path", "must be the directory to mount")
        elif isinstance(one, LocalStorage) and ".." in one.path.split("/"):
            yield Invalid(path / "path", one.path, "must not contain '..'")
    for _, one in readable([storage], "mount_path"):
        if not one.mount_path:
            yield Required(path / "mountPath", "must be the mount path in the containers, where the model is written")


@rule(
    "model_version",
    reads=(
        "tasks.template",
        "model_version.spec.storage.nfs.mount_path",
        "model_version.spec.storage.local_storage.mount_path",
    ),
)
def the_model_volume_is_left_to_the_operator(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator adds a volume of this name to every pod, and mounts it into every container: pods need it unique."""
    output = job.spec.model_version
    if output is None:
        return
    storage = output.spec.storage if output.spec is not None else None
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
    """The field holds a whole object, and the operator makes one of its own from the spec."""
    output = job.spec.model_version
    for _, one in readable([output] if output is not None else [], "metadata"):
        if one.metadata:
            yield Notice(MODEL_VERSION / "metadata", "torch-on-k8s ignores this field and generates the value")
    for _, one in readable([output] if output is not None else [], "status"):
        if one.status:
            yield Notice(MODEL_VERSION / "status", "torch-on-k8s ignores this field and generates the value")


#: The rules, in the order in which a reader wants to know.
output_rules = (
    an_output_says_what_it_is,
    a_model_has_a_legal_name,
    an_output_has_one_storage,
    a_storage_can_be_mounted,
    the_model_volume_is_left_to_the_operator,
    only_the_spec_of_a_model_version_is_read,
)
