"""A kind of job: one frozen value that binds its names, models, schema, defaults and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from pydantic import BaseModel

from webhook.cause import Cause
from webhook.context import Context, PluginProfile
from webhook.draft import Draft
from webhook.job import Job
from webhook.plan import Plan
from webhook.rule import Rule
from webhook.task import Task


class GroupVersionKind(NamedTuple):
    """What identifies a kind, as Kubernetes names it."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


#: Further schemas of values, by place.
Values: TypeAlias = Mapping[tuple[str, ...], Sequence[tuple[str, Mapping[str, Any]]]]


class Schema(Protocol):
    """A structural schema, as the API server applies it to the objects of a kind."""

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object without the fields that the schema does not know."""

    def default(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object with the schema's defaults."""

    def crowded(self, document: Mapping[str, Any]) -> bool:
        """Tell, without looking at them, whether the object has more parts than the schema allows."""

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Tell, fast, whether the object surely fits; where this says no, `check` may still find nothing."""

    def plain_with(self, values: Values) -> Callable[[Mapping[str, Any]], bool]:
        """Return what tells, fast, whether an object surely fits, its templates are sound, and some values fit more.

        Args:
            values: further schemas of values, by their place in the object (`*`: in each item of a list), each with the
                name of its rule, and of keywords of JSON Schema; `required`, which is true, says that the value must
                be there.

        Raises:
            ValueError: an enum of a rule has no value that the schema and the other rules allow.
        """

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return what the schema rejects in the object."""


class OperatorProfile(Protocol):
    """Who runs a kind's jobs, and what that does to them."""

    @property
    def name(self) -> str:
        """What messages call the operator."""

    def pod(self, job: Job[Any], task: Task) -> dict[str, Any]:
        """Return the Pod that the operator makes of a task: a template is judged as that Pod."""


@dataclass(frozen=True, slots=True)
class ConvertedJob:
    """A job in the shape of today.

    Attributes:
        job: the new object.
        decisions: what was decided where the shapes differ, a sentence each, for the user to check.
        fault: why the object cannot be converted; empty if it can.
    """

    job: dict[str, Any]
    decisions: tuple[str, ...]
    fault: str = ""


#: Gives the conversion of an object, or None where it is no older shape of the kind.
Convert: TypeAlias = Callable[[Mapping[str, Any]], ConvertedJob | None]

#: Where a word of tasks is: see `Kind.task_words`.
TaskWord: TypeAlias = str | Callable[[Any, Mapping[str, Any]], Any]
Default: TypeAlias = Callable[[Draft, Context], None]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of job.

    Attributes:
        group, version, kind, plural: its names.
        spec: the model of its spec.
        schema: the structural schema of the whole object.
        tasks: gives the neutral views of a spec's parts.
        parts: the attribute of the spec that holds these parts.
        operator: the profile of who runs its jobs.
        defaults: what mutation adds, in order.
        rules: what validation checks; each reports all that it finds.
        words: where the kind has a word of the job that all kinds share, as attributes from the spec on; a word that is
            not here is the field of its own name.
        settings: the model of what an installation can say of this kind (`Settings.kinds`), or None.
        watches: objects of the cluster that the rules look up in `Context.objects`, as `<plural>.<version>.<group>`.
        conversion: gives the conversion of an object of an older shape, for `jobgate convert`, or None.
        task_words: by word of tasks that is no field of that name of a part: another field; a function that gives it
            from the index or key of a part, and its JSON; or the field of the spec that it is made of. None: how the
            words of tasks are made is not known.
        reviewed: keys of `labels` and `annotations`, by these two words: an UPDATE that changes one of them is
            reviewed, as a change of the spec is. Each key that a default, a rule or a reader of stored jobs uses is
            here, unless something else guards it.
        plan: what the rules read, and when each is called.
        plain: tells of an object, fast, whether it surely is as most are: it fits, its templates are sound, and the
            values of its words are such that the rules that say so (`Rule.values`) find nothing.
    """

    group: str
    version: str
    kind: str
    plural: str
    spec: type[BaseModel]
    schema: Schema
    tasks: Callable[[Any], Iterable[Task]]
    parts: str = "tasks"
    operator: OperatorProfile
    defaults: tuple[Default, ...] = ()
    rules: tuple[Rule, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: type[BaseModel] | None = None
    watches: tuple[str, ...] = ()
    conversion: Convert | None = None
    task_words: Mapping[str, TaskWord] | None = None
    reviewed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plan: Plan = field(init=False, repr=False, compare=False)
    plain: Callable[[Mapping[str, Any]], bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out what the rules read.

        Raises:
            UnknownWord: a rule reads what is no word of this kind, nor of any other.
            TypeError: a rule is a plain function.
            ValueError: a rule can never be quiet: its `values` allow none of the values of a field.
        """
        object.__setattr__(self, "plan", Plan(self))
        object.__setattr__(self, "plain", self.schema.plain_with(self.plan.quiet.values))

    @property
    def gvk(self) -> GroupVersionKind:
        """What the kind is identified by."""
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def qualified_plural(self) -> str:
        """The name of its CRD, `<plural>.<group>`."""
        return f"{self.plural}.{self.group}"

    def path(self, phase: str) -> str:
        """Return the path of its webhook: `/mutate-` or `/validate-`, group with dots as dashes, version, kind."""
        return f"/{phase}-{self.group.replace('.', '-')}-{self.version}-{self.kind.lower()}"


class Registry:
    """The kinds that an installation serves, by GroupVersionKind, and the plugins that their jobs may ask for.

    Attributes:
        plugins: by name; rules find them in their context. Required: without them, each job that names one is denied.

    Raises:
        ValueError: two kinds claim one GroupVersionKind or one plural.
    """

    def __init__(self, kinds: Iterable[Kind], plugins: Mapping[str, PluginProfile]) -> None:
        self.plugins = plugins
        self._kinds: dict[tuple[str, str], Kind] = {}
        for kind in kinds:
            for other in self._kinds.values():
                if other.gvk == kind.gvk or (
                    other.qualified_plural == kind.qualified_plural and other.kind != kind.kind
                ):
                    raise ValueError(f"two kinds claim one name: {_names(other)} and {_names(kind)}")
            self._kinds[kind.gvk.api_version, kind.kind] = kind

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)

    def get(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of an object's `apiVersion` and `kind`, or None where it is not ours."""
        return self._kinds.get((api_version, kind))


def _names(kind: Kind) -> str:
    return f"{kind.gvk.api_version} {kind.kind} ({kind.qualified_plural})"
