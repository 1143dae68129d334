"""Rules for a job's output: the version of a model, and the volume that the pods write it to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here, who_runs
from jobgate.kinds.torchjob.models import TorchJobSpec
from jobgate.kinds.torchjob.operator import MODEL_VOLUME
from jobgate.names import LABEL_LIMIT, dns_subdomain
from jobgate.podchecks.reading import containers
from webhook import Cause, Duplicate, Forbidden, Invalid, Notice, Path, Required, TooLong, rule
from webhook.values import objects, spec_of
from webhook.view import json_name

#: Required fields of the spec, and of each type of storage.
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

_SPEC = "model_version.spec"
_STORAGE = f"{_SPEC}.storage"


def _missing(part: BaseModel, required: Mapping[str, str], path: Path) -> Iterator[Cause]:
    """Yield a cause for each empty attribute. Invalid attributes are already reported."""
    for name, detail in required.items():
        if not getattr(part, name, True):
            yield Required(path / json_name(type(part), name), detail)


@rule("model_version")
def an_output_says_what_it_is(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator crashes on a job whose model version is incomplete."""
    if (spec := job.get(_SPEC)) is None:
        yield Required(job.at(_SPEC), "must set modelName, imageRepo and storage")
    else:
        yield from _missing(spec, _OF_SPEC, job.at(_SPEC))


@rule(f"{_SPEC}.model_name")
def a_model_has_a_legal_name(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The model name is the name of an object and the value of a label."""
    path, name = job.at(f"{_SPEC}.model_name"), job.get(f"{_SPEC}.model_name")
    if name and len(name) > LABEL_LIMIT:
        yield TooLong(path, name, LABEL_LIMIT)
    elif name and (fault := dns_subdomain(name)):
        yield Invalid(path, name, fault)


@rule(_STORAGE)
def an_output_has_one_storage(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The pods write the model to one volume."""
    storage, path = job.get(_STORAGE), job.at(_STORAGE)
    if storage.nfs is not None and storage.local_storage is not None:
        yield Forbidden(path / "localStorage", f"may not be set together with {path}.nfs: remove one of them")
    elif storage.nfs is None and storage.local_storage is None:
        yield Required(path, "must set nfs or localStorage, where the pods write the model")


@rule(_STORAGE)
def a_storage_can_be_mounted(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """A storage needs a directory, and a mount path in the containers."""
    storage = job.get(_STORAGE)
    for name, required in _OF_STORAGES.items():
        folder, path = getattr(storage, name, None), job.at(f"{_STORAGE}.{name}")
        if folder is None:
            continue
        yield from _missing(folder, required, path)
        written = getattr(folder, "path", None)
        if written and name == "nfs" and not written.startswith("/"):
            yield Invalid(path / "path", written, "must be an absolute path")
        elif written and name != "nfs" and ".." in written.split("/"):
            yield Invalid(path / "path", written, "must not contain '..'")


@rule("model_version")
def the_model_volume_is_left_to_the_operator(job: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """The operator adds a volume with this name to every pod, and mounts it into every container."""
    mount_paths = {name: job.get(f"{_STORAGE}.{name}.mount_path") for name in _OF_STORAGES}
    mount_path = mount_paths["nfs" if job.get(f"{_STORAGE}.nfs") else "local_storage"]
    runs = who_runs(job, context)
    for task in job.tasks:
        for index, volume in objects(spec_of(task.template).get("volumes")):
            if volume.get("name") == MODEL_VOLUME:
                detail = f"reserved: {runs} adds a volume with this name for spec.modelVersion"
                yield Duplicate(task.template_path / "spec" / "volumes" / index / "name", MODEL_VOLUME, detail)
        for container in containers(task.template, task.template_path, ("containers",)):
            for index, mount in objects(container.json.get("volumeMounts")):
                if mount_path and mount.get("mountPath") == mount_path:
                    detail = f"reserved: {runs} mounts the storage of spec.modelVersion here"
                    yield Duplicate(container.path / "volumeMounts" / index / "mountPath", mount_path, detail)


@rule("model_version")
def only_the_spec_of_a_model_version_is_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """The operator uses only the spec, and generates the rest of the object; the runner creates no such object."""
    ignores = f"{who_runs(job, context)} ignores this field"
    detail = ignores if runs_here(job, context) else f"{ignores} and generates the value"
    for name in ("metadata", "status"):
        if getattr(job.spec.model_version, name, None):
            yield Notice(f"spec.modelVersion.{name}", detail)


#: The rules, in the order of the documentation.
output_rules = (
    an_output_says_what_it_is,
    a_model_has_a_legal_name,
    an_output_has_one_storage,
    a_storage_can_be_mounted,
    the_model_volume_is_left_to_the_operator,
    only_the_spec_of_a_model_version_is_read,
)
