"""Quiet rules: those that surely find nothing in a job, as its JSON shows, so that they are not called.

Most jobs are valid. One call in C tells that a job is *plain* (`Kind.plain`): it fits its schema, its templates are
valid, and so are the values that rules name (`Rule.values`). Then a rule may be quiet because the job says none of some
words (`Rule.without`), which is remembered for each set of words, or because a function tells (`Rule.quiet`). If all
rules are quiet, no typed view of the job is made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from webhook.context import Context
from webhook.rule import TASKS, Condition, Rule, as_rule
from webhook.view import json_name, part_of

if TYPE_CHECKING:
    from webhook.job import Job
    from webhook.kind import Kind, TaskWord
    from webhook.plan import Plan

#: What a rule may be quiet without, in addition to words: a key of the templates, a key of their `spec`, an annotation
#: of the job, the plugins that the installation sets.
TEMPLATE: Final = "tasks.template."
POD: Final = "tasks.template.spec."
ANNOTATION: Final = "annotations."
IMPOSED: Final = "settings.plugins"
PLACES: Final = (TEMPLATE, ANNOTATION, IMPOSED)

#: Sets of words of a kind's plain jobs for which the rules to call are remembered.
_REMEMBERED: Final = 256


class _Words(NamedTuple):
    """The words that a plain job has, of those that rules ask for: keys of its parts, and words of what lies deeper."""

    spec: frozenset[str]
    tasks: frozenset[str]
    templates: frozenset[str]
    pods: frozenset[str]
    annotations: frozenset[str]
    deep: tuple[str, ...]
    imposed: bool


class _NotQuiet(NamedTuple):
    """What is not quiet in plain jobs of some words, as far as words and values tell.

    Attributes:
        rules: by their conditions, of an UPDATE (True) and of a CREATE (False).
        defaults: those that may add something.
    """

    rules: Mapping[bool, Sequence[tuple[Condition, Sequence[Rule]]]]
    defaults: Sequence[Rule]


class Quiet:
    """The rules of one kind that surely find nothing in a plain job, and the defaults that add nothing.

    Attributes:
        values: the schemas of values in which rules find nothing, each with the name of its rule, by their place in the
            object (`*`: in each item).
    """

    def __init__(self, kind: Kind, plan: Plan) -> None:
        self._kind, self._plan = kind, plan
        self._parts_at = [str(step) for step in plan.word(kind.parts).path.steps]
        part = part_of(kind.spec, kind.parts) if kind.task_words is not None else None
        fields = part.model_fields if part is not None else {}
        self._task_words: Mapping[str, TaskWord] = {**{name: name for name in fields}, **(kind.task_words or {})}
        self._task_fields = {
            word: (json_name(part, name), json_default(fields[name]))
            for word, name in self._task_words.items()
            if part is not None and isinstance(name, str) and name in fields
        }
        #: By word, what reads it of a plain job: see `Job.said`.
        self.reader = cache(self._reader)
        self._defaults = [as_rule(default) for default in kind.defaults]
        self._all = [*plan.rules, *self._defaults]
        words = {word for rule in self._all for word in (*rule.when, *rule.without)}

        def of(place: str) -> frozenset[str]:
            return frozenset(word.removeprefix(place) for word in words if word.startswith(place))

        self._pods, self._templates, self._annotations = of(POD), of(TEMPLATE), of(ANNOTATION)
        self._of_tasks = frozenset(word for word in of(TASKS) if not (TASKS + word).startswith(TEMPLATE))
        self._task_keys = frozenset(self._task_fields[word][0] for word in self._of_tasks & self._task_fields.keys())
        made = self._of_tasks if kind.task_words is None else self._of_tasks & kind.task_words.keys()
        self._made = {word: self._source(word) for word in made - self._task_fields.keys()}
        of_job = {word: plan.word(word) for word in words if not word.startswith((TASKS, *PLACES))}
        self._keys = {word: str(one.path.steps[1]) for word, one in of_job.items() if len(one.attributes) == 1}
        self._spec_keys = frozenset(self._keys.values())
        self._deep = [word for word, one in of_job.items() if len(one.attributes) > 1]
        # What the model says where the JSON says nothing is said as well.
        self._always = {word for word, one in of_job.items() if one.default is not None} | {
            TASKS + word for word in self._of_tasks if self._task_fields.get(word, ("", None))[1] is not None
        }
        self.values = self._all_values()
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._not_quiet)

    def calls(self, job: Job[Any], context: Context) -> list[Rule]:
        """Return the rules to call for a plain job: all but those that surely find nothing in it."""
        conditions = self._in(job, context).rules[context.old is not None]
        return [rule for quiet, rules in conditions if not quiet(job, context) for rule in rules]

    def defaulted(self, job: Job[Any], context: Context) -> bool:
        """Tell whether the defaults surely add nothing to a plain job."""
        for default in self._in(job, context).defaults:  # noqa: SIM110  # half the time of all()
            if not default.quiet(job, context):
                return False
        return True

    def _in(self, job: Job[Any], context: Context) -> _NotQuiet:
        """Return what is not quiet in a plain job, worked out for the first that asks."""
        if _NotQuiet not in job.shared:
            job.shared[_NotQuiet] = self._remembered(self._words_in(job, context))
        found: _NotQuiet = job.shared[_NotQuiet]
        return found

    def _words_in(self, job: Job[Any], context: Context) -> _Words:
        spec: Mapping[str, Any] = job.document["spec"]
        if None in spec.values():
            spec = {key: value for key, value in spec.items() if value is not None}
        templates = job.said("tasks.template")
        of_tasks = self._task_keys.intersection(chain.from_iterable(job.parts))
        for word, source in self._made.items():
            if (not source or source in spec) and any(task.says(word) for task in job.tasks):
                of_tasks |= {TASKS + word}
        return _Words(
            self._spec_keys.intersection(spec),
            of_tasks,
            self._templates.intersection(chain.from_iterable(templates)),
            self._pods.intersection(chain.from_iterable([template["spec"] for template in templates])),
            self._annotations.intersection(job.document["metadata"].get("annotations") or ()),
            tuple(word for word in self._deep if job.said(word) is not None) if self._deep else (),
            bool(context.settings.plugins),
        )

    def parts(self, job: Job[Any]) -> Collection[Mapping[str, Any]]:
        """Return the parts of a plain job, as JSON."""
        parts = self._in_json(job.document)
        return parts if isinstance(parts, list) else parts.values()

    def _reader(self, word: str) -> Callable[[Job[Any]], Any]:
        of_task = word.removeprefix(TASKS)
        if word == "tasks.template":
            return lambda job: [part["template"] for part in job.parts]
        if of_task in self._task_fields and of_task != word:
            key, default = self._task_fields[of_task]
            return lambda job: [part.get(key, default) for part in job.parts]
        if callable(make := self._task_words.get(of_task)) and of_task != word:
            return lambda job: [make(key, part) for key, part in _keyed(self._in_json(job.document))]
        if of_task != word:
            return lambda job: [task.word(of_task) for task in job.tasks]
        meaning = self._plan.word(word)
        steps = meaning.path.steps if meaning.attributes else ()

        def read(job: Job[Any]) -> Any:
            value: Any = job.document if steps else None
            for step in steps:
                value = None if value is None else value.get(step)
            return meaning.default if value is None else value

        return read

    def _in_json(self, document: Mapping[str, Any]) -> Any:
        parts: Any = document
        for step in self._parts_at:
            parts = parts[step]
        return parts

    def _source(self, of_task: str) -> str:
        """Return the field of the spec without which no task has a word; empty where there is none such."""
        word = self._task_words.get(of_task)
        return str(self._plan.word(word).path.steps[1]) if isinstance(word, str) else ""

    def _key_of(self, of_task: str) -> str:
        """Return what the JSON calls a word of tasks, or the word with its prefix where it is no field of its own."""
        return self._task_fields.get(of_task, (TASKS + of_task, None))[0]

    def _not_quiet(self, words: _Words) -> _NotQuiet:
        """Return the rules that may find something in a plain job of these words, and the defaults that may add."""
        said = self._always | {word for word, key in self._keys.items() if key in words.spec} | {*words.deep}
        said |= {TASKS + word for word in self._of_tasks if self._key_of(word) in words.tasks}
        said |= {TEMPLATE + key for key in words.templates} | {POD + key for key in words.pods}
        said |= {ANNOTATION + key for key in words.annotations} | ({IMPOSED} if words.imposed else set())

        def not_quiet(rules: Iterable[Rule]) -> tuple[Rule, ...]:
            return tuple(
                rule
                for rule in rules
                if not (rule.without and said.isdisjoint(rule.without)) and self._values_of(rule) is None
            )

        def by_condition(*, updates: bool) -> Sequence[tuple[Condition, Sequence[Rule]]]:
            rules = not_quiet(self._plan.chosen(frozenset(said), updates))
            return [(quiet, [*those]) for quiet, those in groupby(rules, attrgetter("quiet"))]

        rules = {updates: by_condition(updates=updates) for updates in (False, True)}
        return _NotQuiet(rules, not_quiet(self._defaults))

    def _all_values(self) -> Mapping[tuple[str, ...], list[tuple[str, Mapping[str, Any]]]]:
        values: dict[tuple[str, ...], list[tuple[str, Mapping[str, Any]]]] = {}
        for rule in self._all:
            for place, schema in (self._values_of(rule) or {}).items():
                values.setdefault(place, []).append((rule.name, schema))
        return values

    def _values_of(self, rule: Rule) -> Mapping[tuple[str, ...], Mapping[str, Any]] | None:
        """Return the values in which a rule is quiet, by their places; None where it has none, or one has no place."""
        if rule.values is None:
            return None
        values: dict[tuple[str, ...], Mapping[str, Any]] = {}
        for word, schema in rule.values.items():
            of_task = word.removeprefix(TASKS)
            if of_task != word:
                place = (*self._parts_at, "*", self._key_of(of_task)) if of_task in self._task_fields else ()
            else:
                meaning = self._plan.word(word)
                place = tuple(map(str, meaning.path.steps)) if meaning.attributes else ()
            if not place:
                return None
            values[place] = schema
        return values


def _keyed(parts: Any) -> Iterable[tuple[Any, Mapping[str, Any]]]:
    return enumerate(parts) if isinstance(parts, list) else parts.items()


def json_default(field: FieldInfo) -> Any:
    """Return what a model says of a field that the JSON does not have, as JSON."""
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    return to_jsonable_python(default, by_alias=True)
