"""The rules of a SweepJob beyond its schema."""

from collections.abc import Iterator

from jobgate.rules.shared import shared_rules
from jobgate.rules.updates import MayChange, Mutable
from sweepjob.models import SweepJobSpec
from webhook import Cause, Context, Duplicate, Job, Notice, Path, Rule, readable, rule


@rule("trials")
def trials_try_different_values(job: Job[SweepJobSpec], _: Context) -> Iterator[Cause]:
    """Two trials of the same values cost twice and tell nothing new."""
    seen: dict[frozenset[tuple[str, str]], Path] = {}
    for index, trial in readable(job.spec.trials, "parameters"):
        path = Path("spec") / "trials" / index
        first = seen.setdefault(frozenset(trial.parameters.items()), path)
        if first is not path:
            detail = f"{first} tries the same: change a value, or leave one of them out"
            yield Duplicate(path / "parameters", trial.parameters, detail)


@rule("parallelism", reads=("trials",))
def there_are_trials_to_run_at_a_time(job: Job[SweepJobSpec], _: Context) -> Iterator[Notice]:
    """More parallelism than trials is legal, and nothing comes of it until there are more."""
    if job.spec.parallelism > len(job.spec.trials):
        yield Notice("spec.parallelism", f"must be at most the number of trials, {len(job.spec.trials)}")


MAY_CHANGE = MayChange(
    {
        "spec.parallelism": Mutable.ALWAYS,
        "spec.suspend": Mutable.ALWAYS,
        "spec.trials": Mutable.WHILE_SUSPENDED,
    }
)

RULES: tuple[Rule, ...] = (
    trials_try_different_values,
    there_are_trials_to_run_at_a_time,
    *shared_rules(),
    MAY_CHANGE.rule(),
)
