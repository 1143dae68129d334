"""The defaults and rules of the kind $name, beyond its models. Their docstrings are its documentation.

`says` is what CEL can say of a function. `jobgate manifests --policies` renders it as admission policies, which hold
while no server answers. What CEL cannot say needs none.
"""

from collections.abc import Iterator

from jobgate.api import (
    Cause,
    Context,
    Draft,
    Fault,
    Fill,
    Invalid,
    Job,
    MayChange,
    Mutable,
    Place,
    fill,
    fill_each,
    limit_what_is_not_shared,
    rule,
    says,
    shared_rules,
)

from $package.models import Spec, Task


@says()
def constants(draft: Draft, _: Context) -> None:
    """The defaults of the models, for an API server without the defaults of the CRD."""
    spec = draft.at("spec")
    if spec is not None:
        fill(spec, Spec)
    fill_each(draft, "spec", "tasks", model=Task)


@says(Fill(Place.JOB, "spec.checkpointEvery", "object.spec.epochs", "has(object.spec.epochs)"))
def one_checkpoint_at_the_end(draft: Draft, _: Context) -> None:
    """Without a period, a checkpoint is written after the last epoch."""
    spec = draft.at("spec")
    if spec is not None and "epochs" in spec:
        spec.setdefault("checkpointEvery", spec["epochs"])


@rule("checkpoint_every")
@says(Fault("checkpoint_every", "$$(it) > $$(epochs)"))
def a_checkpoint_is_written(job: Job[Spec], _: Context) -> Iterator[Cause]:
    """A job without any checkpoint would lose its result."""
    period = job.spec.checkpoint_every
    if period is not None and period > job.spec.epochs:
        yield Invalid("spec.checkpointEvery", period, f"must be at most spec.epochs, {job.spec.epochs}")


#: All other fields stay as they were created.
MAY_CHANGE = MayChange({"spec.suspend": Mutable.ALWAYS, "spec.tasks": Mutable.WHILE_SUSPENDED})

DEFAULTS = (constants, one_checkpoint_at_the_end, limit_what_is_not_shared("spec", "tasks"))
RULES = (a_checkpoint_is_written, *shared_rules(), MAY_CHANGE.rule())
