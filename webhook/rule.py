"""A rule: its name, what it reads of a job, and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar

from webhook.cause import Cause, Notice
from webhook.context import Context
from webhook.job import Job

Check: TypeAlias = Callable[[Job[Any], Context], Iterable[Cause | Notice]]

#: In which plain jobs a rule surely finds nothing: see `rule`.
Condition: TypeAlias = Callable[[Job[Any], Context], bool]
Quiet: TypeAlias = tuple[str | Condition, ...] | Mapping[str, Mapping[str, Any]] | Condition

Added = TypeVar("Added", bound=Callable[..., None])

#: The attribute of a default that says where it adds nothing.
_QUIET: Final = "quiet"

#: What the words of a job's tasks begin with, in what a rule says it reads.
TASKS = "tasks."


def _never(_: Job[Any], __: Context) -> bool:
    return False


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
        without: words; in a plain job that says none of them it surely finds nothing. See `webhook.quiet` for more.
        values: by word, the JSON Schema of the values in which it surely finds nothing, all together; `required`, which
            is true or absent, says that the word must be there. None: there are none.
        quiet: tells of a plain job whether it surely finds nothing in it. It reads the job by `job.said`.
    """

    name: str
    about: str
    check: Check
    when: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    updates: bool = False
    without: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, Any]] | None = None
    quiet: Condition = _never

    def __call__(self, job: Job[Any], context: Context) -> Iterable[Cause | Notice]:
        """Yield all that the rule finds."""
        return self.check(job, context)

    @cached_property
    def of_the_job(self) -> frozenset[str]:
        """The words of the job that it reads."""
        return frozenset(word for word in (*self.reads, *self.whole) if not word.startswith(TASKS))

    @cached_property
    def of_each_task(self) -> frozenset[str]:
        """The words that it reads of one task at a time."""
        return frozenset(word.removeprefix(TASKS) for word in self.reads if word.startswith(TASKS))

    @cached_property
    def of_all_tasks(self) -> frozenset[str]:
        """The words that it reads of all tasks together."""
        return frozenset(word.removeprefix(TASKS) for word in self.whole if word.startswith(TASKS))

    @property
    def words(self) -> tuple[str, ...]:
        """All words that it reads, each once."""
        return tuple(dict.fromkeys((*self.when, *self.reads, *self.whole)))


def rule(
    *when: str,
    reads: tuple[str, ...] = (),
    whole: tuple[str, ...] = (),
    updates: bool = False,
    quiet: Quiet | None = None,
) -> Callable[[Callable[..., Iterable[Cause | Notice]]], Rule]:
    """Make a rule of the function below: `@rule("queue")`. Its name and docstring are the rule's.

    Args:
        when: the words of which the job must have at least one for the rule to be called.
        reads: the words that it relies on, as far as they fit the schema.
        whole: the words that it reads of all tasks together.
        updates: whether it is for updates alone.
        quiet: where the rule surely finds nothing in a plain job, so that it is not called: without these words; where
            words fit schemas, as `{"queue": {"maxLength": 63}}`; or where a function says so, alone or after words. It
            saves time, no more.

    Raises:
        TypeError: the parentheses are missing, and the function itself came as a word.
    """
    if any(callable(word) for word in when):
        raise TypeError("write @rule(…) with parentheses, and in them the words that the rule reads")

    def made(check: Callable[..., Iterable[Cause | Notice]]) -> Rule:
        about = " ".join((check.__doc__ or "").split())
        return Rule(
            name=check.__name__,
            about=about,
            check=check,
            when=when,
            reads=reads,
            whole=whole,
            updates=updates,
            **_conditions(quiet),
        )

    return made


def adds_nothing(quiet: Quiet) -> Callable[[Added], Added]:
    """Say of the default below in which plain jobs it surely adds nothing, as a rule says where it finds nothing.

    A plain job has the defaults of the fields of its spec and its parts: `@adds_nothing({})` says that the default adds
    nothing else.
    """

    def marked(default: Added) -> Added:
        setattr(default, _QUIET, quiet)
        return default

    return marked


def as_rule(default: Callable[..., None]) -> Rule:
    """Return a default as a rule that is quiet where it adds nothing."""
    quiet = getattr(default, _QUIET, _never)
    return Rule(name=getattr(default, "__name__", ""), about="", check=lambda _, __: (), **_conditions(quiet))


def _conditions(quiet: Quiet | None) -> dict[str, Any]:
    if quiet is None or isinstance(quiet, Mapping):
        return {} if quiet is None else {"values": quiet}
    said = (quiet,) if callable(quiet) else quiet
    words, tells = tuple(one for one in said if isinstance(one, str)), [one for one in said if callable(one)]
    return {"without": words, **({"quiet": tells[0]} if tells else {})}
