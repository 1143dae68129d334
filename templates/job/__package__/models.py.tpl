"""The shape of the kind $name: `$group/$version`."""

from typing import Annotated

from crdgen import Atomic, Column, CustomResource, Doc, Int32, MaxItems, MinItems, Model, Names, PodTemplate, Version
from jobgate.api import ENTRIES_LIMIT, PLUGINS_DOC, Plugins, RunStatus
from pydantic import Field


class Task(Model):
    """Pods that share a template and play one role."""

    name: Annotated[str, Field(min_length=1), Doc("Unique in the job.")]
    replicas: Annotated[int, Int32(minimum=1), Doc("Number of pods.")] = 1
    template: Annotated[PodTemplate, Doc("Template of the pods.")]


class Spec(Model):
    """A training job."""

    epochs: Annotated[int, Int32(minimum=1), Doc("How often all data is read.")]
    checkpoint_every: Annotated[int | None, Int32(minimum=1), Doc("Epochs between checkpoints. Default: all.")] = None
    suspend: Annotated[bool | None, Doc("Whether the job waits, without pods.")] = None
    plugins: Annotated[Plugins | None, PLUGINS_DOC] = None
    tasks: Annotated[list[Task], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("The tasks of the job.")]


class Status(RunStatus):
    """How far the job has come."""

    phase: Annotated[str | None, Doc("Pending, Running, Succeeded, Failed, …")] = None


RESOURCE = CustomResource(
    group="$group",
    names=Names(kind="$name"),
    versions=(
        Version(
            "$version",
            spec=Spec,
            status=Status,
            description="$name: say here what it is for.",
            columns=(Column("Phase", ".status.phase"),),
        ),
    ),
)
