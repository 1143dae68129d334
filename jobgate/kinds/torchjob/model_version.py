"""The model that a job brings forth: the shape of `spec.modelVersion`."""

from __future__ import annotations

from typing import Annotated, Any

from crdgen import Doc, Model, PreserveUnknown


class NFS(Model):
    """A folder of an NFS server."""

    server: Annotated[str | None, Doc("Host of the NFS server.")] = None
    path: Annotated[str | None, Doc("Exported path of the NFS server.")] = None
    mount_path: Annotated[str | None, Doc("Mount path in the containers, where the model is written.")] = None


class LocalStorage(Model):
    """A folder of the node that the master runs on."""

    node_name: Annotated[str | None, Doc("Name of the node. Defaults to the node of the master.")] = None
    path: Annotated[str | None, Doc("Path of the directory on the node.")] = None
    mount_path: Annotated[str | None, Doc("Mount path in the containers, where the model is written.")] = None


class Storage(Model):
    """Where the model is written to: one of the two."""

    nfs: NFS | None = None
    local_storage: LocalStorage | None = None


class ModelVersionSpec(Model):
    """A version of a model, and the image that it is built into when the job has succeeded."""

    model_name: Annotated[str | None, Doc("Name of the Model. It is created if it does not exist.")] = None
    image_repo: Annotated[str | None, Doc("Repository of the image.")] = None
    image_tag: Annotated[
        str | None, Doc("Tag of the image. Defaults to the first characters of the ModelVersion's UID.")
    ] = None
    created_by: Annotated[str | None, Doc("Name of the job, set by the operator.")] = None
    storage: Storage | None = None


class ModelVersion(Model):
    """What the job brings forth. Only its spec is read; it has the shape of a whole object for the operator's sake."""

    api_version: str | None = None
    kind: str | None = None
    metadata: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not used: the operator generates it.")] = None
    spec: ModelVersionSpec | None = None
    status: Annotated[dict[str, Any] | None, PreserveUnknown, Doc("Not used: the operator generates it.")] = None
