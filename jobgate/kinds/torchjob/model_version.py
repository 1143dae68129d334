"""The model that a job brings forth: the shape of `spec.modelVersion`."""

from __future__ import annotations

from typing import Annotated, Any

from crdgen import Doc, Model, PreserveUnknown


class NFS(Model):
    """A folder of an NFS server."""

    server: Annotated[str | None, Doc("The host that exports the folder.")] = None
    path: Annotated[str | None, Doc("The folder that it exports.")] = None
    mount_path: Annotated[str | None, Doc("Where the containers see it, and write the model to.")] = None


class LocalStorage(Model):
    """A folder of the node that the master runs on."""

    node_name: Annotated[str | None, Doc("The node; that of the master when absent.")] = None
    path: Annotated[str | None, Doc("The folder on the node.")] = None
    mount_path: Annotated[str | None, Doc("Where the containers see it, and write the model to.")] = None


class Storage(Model):
    """Where the model is written to: one of the two."""

    nfs: NFS | None = None
    local_storage: LocalStorage | None = None


class ModelVersionSpec(Model):
    """A version of a model, and the image that it is built into when the job has succeeded."""

    model_name: Annotated[str | None, Doc("The Model that this is a version of; made where it is missing.")] = None
    image_repo: Annotated[str | None, Doc("The repository of the image.")] = None
    image_tag: Annotated[
        str | None, Doc("The tag of the image; the first characters of the ModelVersion's UID when absent.")
    ] = None
    created_by: Annotated[str | None, Doc("The operator writes the job's name here.")] = None
    storage: Storage | None = None


class ModelVersion(Model):
    """What the job brings forth. Only its spec is read; it has the shape of a whole object for the operator's sake."""

    api_version: str | None = None
    kind: str | None = None
    metadata: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not read: the operator makes its own.")] = None
    spec: ModelVersionSpec | None = None
    status: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not read: the operator makes its own.")] = None
