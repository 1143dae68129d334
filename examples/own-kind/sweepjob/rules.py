"""The rules of a SweepJob beyond its schema."""

from collections.abc import Iterator

from jobgate.api import Cause, Context, Duplicate, Job, MayChange, Mutable, Notice, Path, Rule, rule, shared_rules

from sweepjob.models import SweepJobSpec


@rule()
def trials_try_different_values(job: Job[SweepJobSpec], _: Context) -> Iterator[Cause]:
    """A second trial of the same values gives no new result."""
    seen: dict[frozenset[tuple[str, str]], Path] = {}
    for path, trial in job.each("trials"):
        first = seen.setdefault(frozenset(trial.parameters.items()), path)
        if first is not path:
            detail = f"{first} tries the same: change a value, or leave one of them out"
            yield Duplicate(path / "parameters", trial.parameters, detail)


@rule("parallelism")
def there_are_trials_to_run_at_a_time(job: Job[SweepJobSpec], _: Context) -> Iterator[Notice]:
    """More parallelism than trials is valid, but has no effect."""
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
