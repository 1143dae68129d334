"""The shape of a SweepJob: `example.com/v1`, with trials."""

from enum import StrEnum
from typing import Annotated

from crdgen import Atomic, Column, CustomResource, Doc, Int32, MaxItems, MinItems, Model, Names, PodTemplate, Version
from jobgate.api import ENTRIES_LIMIT, DependsOn, LifecyclePolicy, RunStatus
from pydantic import Field


class Goal(StrEnum):
    """Whether more of the metric is better, or less."""

    MAXIMIZE = "Maximize"
    MINIMIZE = "Minimize"


class Trial(Model):
    """One training run with values of its own."""

    name: Annotated[str, Field(min_length=1), Doc("Unique in the sweep.")]
    parameters: Annotated[dict[str, str], Doc("The value of each hyperparameter that the trial tries.")]
    replicas: Annotated[int, Int32(minimum=1), Doc("How many pods the trial trains with.")] = 1
    min_available: Annotated[int | None, Int32(minimum=0), Doc("How many of its pods start together.")] = None
    depends_on: Annotated[DependsOn | None, Doc("The trials that must be there before this one.")] = None
    policies: Annotated[list[LifecyclePolicy] | None, Atomic, Doc("What is done at events of its pods.")] = None
    template: Annotated[PodTemplate, Doc("What its pods are made from.")]


class SweepJobSpec(Model):
    """A sweep: the same training with other hyperparameters, in search of the best."""

    metric: Annotated[str, Field(min_length=1), Doc("The number that trials are compared by.")]
    goal: Goal = Goal.MAXIMIZE
    parallelism: Annotated[int, Int32(minimum=1), Doc("How many trials run at a time.")] = 1
    min_replicas: Annotated[int | None, Int32(minimum=1), Doc("Fewest pods of all trials.")] = None
    max_replicas: Annotated[int | None, Int32(minimum=1), Doc("Most pods of all trials.")] = None
    min_available: Annotated[int | None, Int32(minimum=0), Doc("How many pods start together.")] = None
    queue: Annotated[str | None, Doc("The queue that the sweep waits in.")] = None
    suspend: Annotated[bool | None, Doc("Whether the sweep waits, without pods.")] = None
    policies: Annotated[list[LifecyclePolicy] | None, Atomic, Doc("What is done at events of any pod.")] = None
    trials: Annotated[
        list[Trial], Atomic, MinItems(1), MaxItems(ENTRIES_LIMIT), Doc("The trials, in the order in which they start.")
    ]


class SweepJobStatus(RunStatus):
    """How far the sweep has come."""

    phase: Annotated[str | None, Doc("Pending, Running, Succeeded, Failed, …")] = None
    best: Annotated[str | None, Doc("The name of the best trial so far.")] = None


RESOURCE = CustomResource(
    group="example.com",
    names=Names(kind="SweepJob", short_names=("sweep",)),
    versions=(
        Version(
            "v1",
            spec=SweepJobSpec,
            status=SweepJobStatus,
            description="A sweep of hyperparameters that sweeper runs.",
            columns=(Column("Phase", ".status.phase"), Column("Best", ".status.best")),
        ),
    ),
)
