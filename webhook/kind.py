"""A kind of job: one frozen value that binds its names, models, schema, defaults and rules; and a job of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from webhook.cause import Cause, Notice
from webhook.context import Context
from webhook.conversion import Convert
from webhook.draft import Draft
from webhook.path import Path
from webhook.task import Task
from webhook.view import model_of

Spec = TypeVar("Spec", bound=BaseModel)


class GroupVersionKind(NamedTuple):
    """What identifies a kind, as Kubernetes names it."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


class Schema(Protocol):
    """A structural schema, as the API server applies it to the objects of a kind."""

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object without the fields that the schema does not know."""

    def default(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object with the schema's defaults."""

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return what the schema refuses in the object."""


class OperatorProfile(Protocol):
    """Who runs a kind's jobs, and what that does to them."""

    @property
    def name(self) -> str:
        """What messages call the operator."""

    def pod(self, job: Job[Any], task: Task) -> dict[str, Any]:
        """Return the Pod that the operator makes of a task: a template is judged as that Pod."""


class Job(Generic[Spec]):
    """One job under review: its own JSON, and the typed view of its spec.

    Attributes:
        kind: what kind of job it is.
        document: the whole object, as JSON.
        spec: the typed view of its spec; of a broken object it may lack attributes (see `webhook.view`).
    """

    def __init__(self, kind: Kind, document: Mapping[str, Any], spec: Spec) -> None:
        self.kind = kind
        self.document = document
        self.spec = spec

    @cached_property
    def tasks(self) -> Sequence[Task]:
        """The neutral views of the job's parts."""
        return tuple(self.kind.tasks(self.spec))

    def word(self, word: str) -> Any:
        """Return a word of the job that not every kind has, or None where this kind or this job has not.

        Such are `queue`, `min_available`, `policies`, `scheduler_name`, `priority_class_name`, `suspend`. The kind says
        where else than in the field of that name it stands (`Kind.words`).

        Raises:
            AttributeError: the field does not fit its schema (see `webhook.view`): the rule that asked ends.
        """
        part: Any = self.spec
        for attribute in self._attributes(word):
            if part is None or attribute not in type(part).model_fields:
                return None
            part = getattr(part, attribute)
        return part

    def at(self, word: str) -> Path:
        """Return where a word stands in the job, as the kind's JSON calls it."""
        path: Path = Path("spec")
        model: type[BaseModel] | None = self.kind.spec
        for attribute in self._attributes(word):
            found = model.model_fields.get(attribute) if model is not None else None
            path /= found.alias if found is not None and found.alias else attribute
            model = model_of(found.annotation) if found is not None else None
        return path

    def _attributes(self, word: str) -> tuple[str, ...]:
        return self.kind.words.get(word, (word,))


Default: TypeAlias = Callable[[Draft, Context], None]
Rule: TypeAlias = Callable[[Job[Any], Context], Iterable[Cause | Notice]]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of job.

    Attributes:
        group, version, kind, plural: its names.
        spec: the model of its spec.
        schema: the structural schema of the whole object.
        tasks: gives the neutral views of a spec's parts.
        operator: the profile of who runs its jobs.
        defaults: what mutation adds, in order.
        rules: what validation checks; each reports all that it finds.
        words: where the kind has a word of the job that all kinds share, as attributes from the spec on; a word that is
            not here is the field of its own name.
        settings: the model of what an installation can say of this kind (`Settings.kinds`), or None.
        watches: objects of the cluster that the rules look up in `Context.objects`, as `<plural>.<version>.<group>`.
        conversion: gives the conversion of an object of an older shape, for `jobgate convert`, or None.
        resource: what the CRD is generated from; admission does not look into it.
    """

    group: str
    version: str
    kind: str
    plural: str
    spec: type[BaseModel]
    schema: Schema
    tasks: Callable[[Any], Iterable[Task]]
    operator: OperatorProfile
    defaults: tuple[Default, ...] = ()
    rules: tuple[Rule, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: type[BaseModel] | None = None
    watches: tuple[str, ...] = ()
    conversion: Convert | None = None
    resource: Any = field(default=None, repr=False, compare=False)

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
    """The kinds that an installation serves, by GroupVersionKind.

    Raises:
        ValueError: two kinds claim one GroupVersionKind or one plural.
    """

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds: dict[GroupVersionKind, Kind] = {}
        for kind in kinds:
            for other in self._kinds.values():
                if other.gvk == kind.gvk or (
                    other.qualified_plural == kind.qualified_plural and other.kind != kind.kind
                ):
                    raise ValueError(f"two kinds claim one name: {_names(other)} and {_names(kind)}")
            self._kinds[kind.gvk] = kind

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)

    def get(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of an object's `apiVersion` and `kind`, or None where it is not ours."""
        group, _, version = api_version.rpartition("/")
        return self._kinds.get(GroupVersionKind(group, version, kind))


def _names(kind: Kind) -> str:
    return f"{kind.gvk.api_version} {kind.kind} ({kind.qualified_plural})"
