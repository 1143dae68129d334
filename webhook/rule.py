"""A rule: its name, what it reads of a job, and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from webhook.cause import Cause, Notice
from webhook.context import Context
from webhook.job import Job

Check: TypeAlias = Callable[[Job[Any], Context], Iterable[Cause | Notice]]

#: What the words of a job's tasks begin with, in what a rule says it reads.
TASKS = "tasks."


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that validation checks, and what it reads to do so.

    A word is a field of the job's spec by the name of its attribute (`queue`, `model_version.spec`), or one of its
    tasks' (`tasks.replicas`). What words mean for a kind is worked out once, when the kind is made (`webhook.plan`).

    Attributes:
        name: what metrics, logs and the documentation call it.
        about: why it exists, and where it comes from: its line in the documentation.
        check: yields all that it finds.
        when: the words of which a job must have at least one for the rule to be called; none: it is always called. A
            word that does not fit its schema counts as absent, and `job.word` returns None for it.
        reads: what it relies on. Where such a word of the job does not fit its schema, the rule is not called; tasks of
            which such a word does not fit are left out of the `job.tasks` that it sees.
        whole: words that it reads of all tasks together, as for a sum: where one does not fit, it is not called.
        updates: whether it is called for updates alone, with the stored object in its context.
    """

    name: str
    about: str
    check: Check
    when: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    updates: bool = False

    def __call__(self, job: Job[Any], context: Context) -> Iterable[Cause | Notice]:
        """Yield all that the rule finds."""
        return self.check(job, context)

    @property
    def words(self) -> tuple[str, ...]:
        """All words that it reads, each once."""
        return tuple(dict.fromkeys((*self.when, *self.reads, *self.whole)))


def rule(
    *when: str, reads: tuple[str, ...] = (), whole: tuple[str, ...] = (), updates: bool = False
) -> Callable[[Callable[..., Iterable[Cause | Notice]]], Rule]:
    """Make a rule of the function below: `@rule("queue")`. Its name and docstring are the rule's.

    Args:
        when: the words of which the job must have at least one for the rule to be called.
        reads: the words that it relies on, as far as they fit the schema.
        whole: the words that it reads of all tasks together.
        updates: whether it is for updates alone.

    Raises:
        TypeError: the parentheses are missing, and the function itself came as a word.
    """
    if any(callable(word) for word in when):
        raise TypeError("write @rule(…) with parentheses, and in them the words that the rule reads")

    def made(check: Callable[..., Iterable[Cause | Notice]]) -> Rule:
        about = " ".join((check.__doc__ or "").split())
        return Rule(name=check.__name__, about=about, check=check, when=when, reads=reads, whole=whole, updates=updates)

    return made
