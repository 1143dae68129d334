"""The plan of a kind: what the words of its rules mean for it, worked out once.

A denial names every fault at once, also where the schema rejects some of the object. So rules run on whatever can be
read, and the plan decides which of them can run on it: from what each rule says that it reads, and from what of the job
fits its schema.

Most jobs are right, and of those it is known sooner which rules find nothing (`webhook.quiet`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from webhook.job import Job
from webhook.path import Path
from webhook.quiet import PLACES, Quiet, json_default
from webhook.rule import TASKS, Rule
from webhook.task import TASK_WORDS, Task, UnknownWord
from webhook.view import model_of, part_of

if TYPE_CHECKING:
    from webhook.kind import Kind

#: The words of jobs that rules of all kinds may read. Not every kind has each.
JOB_WORDS = frozenset(
    {
        "active_deadline_seconds",
        "backoff_limit",
        "max_replicas",
        "min_available",
        "min_replicas",
        "plugins",
        "policies",
        "prerequisites",
        "priority_class_name",
        "queue",
        "scheduler_name",
        "suspend",
        "ttl_seconds_after_finished",
        "volumes",
    }
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a job in one kind.

    Attributes:
        path: where it is in the job.
        attributes: the way to it from the spec on; empty where the kind does not have it.
        default: what a spec that does not have it says by it, as JSON.
    """

    path: Path
    attributes: tuple[str, ...] = ()
    default: Any = None

    def read(self, spec: BaseModel) -> Any:
        """Return its value; None where the job does not have it, or where it does not fit its schema."""
        part: Any = spec if self.attributes else None
        for attribute in self.attributes:
            if part is None:
                return None
            part = part.__dict__.get(attribute)
        return part

    def fits(self, spec: BaseModel) -> bool:
        """Tell whether it can be read."""
        part: Any = spec
        for attribute in self.attributes:
            if part is None:
                return True
            if attribute not in part.__dict__:
                return False
            part = part.__dict__[attribute]
        return True


class Plan:
    """What the rules of one kind read, and which of them can be called for a job.

    Raises:
        UnknownWord: a rule reads what is no word, or the parts are no field of the spec.
        TypeError: a rule is a plain function.
    """

    def __init__(self, kind: Kind) -> None:
        if kind.parts not in kind.spec.model_fields and kind.parts not in kind.words:
            fields = ", ".join(kind.spec.model_fields)
            raise UnknownWord(
                f"parts of {kind.kind} is {kind.parts!r}, which is no field of its spec; there are: {fields}"
            )
        self._kind = kind
        self._words: dict[str, Word] = {}
        self._part = part_of(kind.spec, kind.parts)
        self.rules = tuple(rule for rule in kind.rules if self._has(rule))
        when = sorted({word for rule in self.rules for word in rule.when})
        self._asked = [(word, self.word(word)) for word in when if not word.startswith(TASKS)]
        self._asked_of_tasks = [(word, word.removeprefix(TASKS)) for word in when if word.startswith(TASKS)]
        # Most jobs of a kind say the same words.
        self._chosen = lru_cache(maxsize=256)(self.chosen)
        self.quiet = Quiet(kind, self)

    def word(self, word: str) -> Word:
        """Return what a word of the job means.

        Raises:
            UnknownWord: it means nothing.
        """
        found = self._words.get(word)
        if found is None:
            found = self._words[word] = self._resolved(word)
        return found

    def readable(self, spec: BaseModel) -> bool:
        """Tell whether a spec's parts can be read, each as far as it fits its schema."""
        return self.word(self._kind.parts).fits(spec)

    def tasks(self, spec: BaseModel) -> Sequence[Task]:
        """Return the neutral views of a spec's parts; none where these do not fit their schema."""
        return tuple(self._kind.tasks(spec)) if self.readable(spec) else ()

    def unreadable(self, spec: BaseModel) -> Iterator[Path]:
        """Yield where the words of the job are that cannot be read, except its parts."""
        parts = self.word(self._kind.parts)
        for word in sorted({word for rule in self.rules for word in rule.of_the_job}):
            meaning = self.word(word)
            if meaning != parts and not meaning.fits(spec):
                yield meaning.path

    def calls(self, job: Job[Any], *, whole: bool, updates: bool) -> list[tuple[Rule, Job[Any]]]:
        """Return the rules to call for a job, each with the job as it is to see it.

        Args:
            job: with all its tasks.
            whole: whether all of it fits its schema.
            updates: whether it is an update.
        """
        said = {word for word, meaning in self._asked if meaning.read(job.spec) is not None}
        said |= {word for word, of_task in self._asked_of_tasks if any(task.says(of_task) for task in job.tasks)}
        called = self._chosen(frozenset(said), updates)
        if whole:
            return [(rule, job) for rule in called]
        broken = self._broken(job)
        return [(rule, seen) for rule in called if (seen := _seen(rule, job, broken)) is not None]

    def chosen(self, said: frozenset[str], updates: bool) -> Sequence[Rule]:
        """Return the rules that are called for a job that says these words."""
        return [
            rule
            for rule in self.rules
            if (updates or not rule.updates) and not (rule.when and said.isdisjoint(rule.when))
        ]

    def _has(self, rule: Rule) -> bool:
        """Tell whether the kind has one of the words that a rule is called for, and that all its words are words."""
        given: object = rule
        if not isinstance(given, Rule):
            name = getattr(given, "__qualname__", repr(given))
            raise TypeError(f"{name} is a function and no rule: put @rule(…) before it, with the words that it reads")
        had = [self._means(word, rule) for word in rule.words]
        for word in (*(rule.values or ()), *rule.without):
            if not word.startswith(PLACES):
                self._means(word, rule)
        return not rule.when or any(had[: len(rule.when)])

    def _means(self, word: str, rule: Rule) -> bool:
        """Tell whether the kind has a word of a rule."""
        task_word = word.removeprefix(TASKS)
        try:
            if task_word == word:
                return bool(self.word(word).attributes)
        except UnknownWord:
            raise self._slip(rule, word) from None
        own = self._part is not None and task_word in self._part.model_fields
        if not own and task_word not in TASK_WORDS:
            raise self._slip(rule, word)
        return True

    def _slip(self, rule: Rule, word: str) -> UnknownWord:
        """Return the error for a word that is none, with the nearest one that there is."""
        kind, fields = self._kind, self._part.model_fields if self._part else ()
        of_tasks = [TASKS + name for name in (*fields, *TASK_WORDS)]
        meant = word.replace(f"{kind.parts}.", TASKS, 1)  # the tasks by the name that the kind has for them
        close = get_close_matches(meant, [*kind.spec.model_fields, *JOB_WORDS, *of_tasks], n=1)
        hint = f": did you mean {close[0]}?" if close else ""
        return UnknownWord(f"the rule {rule.name} reads {word}, which is no word of {kind.kind} or its tasks{hint}")

    def _resolved(self, word: str) -> Word:
        path = Path("spec")
        model: type[BaseModel] | None = self._kind.spec
        attributes = self._kind.words.get(word) or tuple(word.split("."))
        default = None
        for attribute in attributes:
            field = model.model_fields.get(attribute) if model is not None else None
            if field is None:
                if word in JOB_WORDS:
                    return Word(path / attribute)
                raise UnknownWord(word)
            path /= field.alias or attribute
            model = model_of(field.annotation)
            default = json_default(field)
        return Word(path, attributes, default)

    def _broken(self, job: Job[Any]) -> frozenset[str]:
        """Return the words of a job that cannot be read; `tasks.` for its tasks as a whole."""
        words = {word for rule in self.rules for word in rule.of_the_job} | {self._kind.parts}
        broken = {word for word in words if not self.word(word).fits(job.spec)}
        return frozenset(broken | {TASKS} if self._kind.parts in broken else broken)


def _seen(rule: Rule, job: Job[Any], broken: frozenset[str]) -> Job[Any] | None:
    """Return a job that does not fit its schema as a rule is to see it; None where the rule cannot read it."""
    if not rule.of_the_job.isdisjoint(broken) or (TASKS in broken and (rule.of_each_task or rule.of_all_tasks)):
        return None
    if any(not rule.of_all_tasks.isdisjoint(task.broken) for task in job.tasks):
        return None
    return job.of(tuple(task for task in job.tasks if rule.of_each_task.isdisjoint(task.broken)))
