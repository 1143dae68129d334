"""A kind of object: a frozen value with its names, models, schema, defaults and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr
from pydantic import BaseModel

from webhook.cause import TIME, Cause, Finding
from webhook.context import Context
from webhook.draft import Draft
from webhook.path import Path
from webhook.rule import Rule
from webhook.schema import ModelSchema, Schema
from webhook.version import OtherVersion, convert
from webhook.view import held_by, json_name, missing_fields, opaque, view
from webhook.when import EACH, Steps, When


class GroupVersionKind(NamedTuple):
    """Group, version and kind: the identity of a kind, as in Kubernetes."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ConvertedObject(Struct, frozen=True):
    """An object of an older shape, rewritten in the current one.

    Attributes:
        document: the new object.
        decisions: a sentence for each decision that the conversion took, for the user to check.
        fault: why the object cannot be converted; empty if it can.
    """

    document: dict[str, Any]
    decisions: tuple[str, ...] = ()
    fault: str = ""


#: Rewrites an object; None if the object has no older shape of the kind.
Rewrite: TypeAlias = Callable[[Mapping[str, Any]], ConvertedObject | None]
Default: TypeAlias = Callable[[Draft, Any], None]


class UnknownField(LookupError):
    """A rule names a field that neither this kind nor any other has: a mistake of its author."""


class Field(NamedTuple):
    """A field in the objects of one kind.

    Attributes:
        path: its path.
        attributes: the attributes that lead to it, from the spec on; empty if the kind does not have it.
        steps: its place in the JSON; None if the kind does not have it.
        has_default: whether the model has a default for it.
    """

    path: Path
    attributes: tuple[str, ...] = ()
    steps: Steps | None = None
    has_default: bool = False


#: The schema of a kind that names none: replaced by that of its spec.
_OF_THE_SPEC: Final = ModelSchema(BaseModel)


def _never_restores(_: Context[Any]) -> bool:
    return False


class Kind(Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """A kind of object.

    Attributes:
        group, version, kind, plural: its names.
        spec: the model of its spec.
        schema: the structural schema of the whole object; by default what `spec` accepts.
        view: the class of the objects that its rules get, derived from `webhook.Object`, or None for `Object` itself.
        defaults: the functions that add fields, in order.
        rules: the rules of validation, in order.
        fields: the paths of fields that rules of several kinds name otherwise, `{"storage": "resources.storage"}`.
            A field that is not here has its own name, or is below one that is here. A tuple names several fields:
            `{"parts": ("first", "second")}`.
        known_fields: fields that rules of several kinds may name though this kind does not have them.
        settings: the model of the settings of this kind (`Settings.kinds`), or None.
        watches: objects of the cluster that the rules look up in `Context.objects`, as `<plural>.<version>.<group>`.
        versions: the other versions of its objects, by name: the webhook converts between all of them. Objects of any
            version are reviewed in `version`.
        older: rewrites an object of a shape that is no longer served, for a command; None if there is none.
        reviewed: keys of `labels` and `annotations`: an UPDATE that changes one of them is reviewed like a change of
            the spec. Each key that a default, a rule or a reader of stored objects uses is here, unless something else
            guards it.
        restores: tells whether an update by this writer is restored to the stored object, except for what it adds
            (`webhook.restore`).
        enforced: whether objects with faults are denied. If not, they only get warnings, whatever the settings.
    """

    group: str
    version: str
    kind: str
    plural: str
    spec: type[BaseModel]
    schema: Schema = _OF_THE_SPEC
    view: Callable[..., Any] | None = None
    defaults: tuple[Default, ...] = ()
    rules: tuple[Rule, ...] = ()
    fields: Mapping[str, str | tuple[str, ...]] = {}
    known_fields: frozenset[str] = frozenset()
    settings: type[BaseModel] | None = None
    watches: tuple[str, ...] = ()
    versions: Mapping[str, OtherVersion] = {}
    older: Rewrite | None = None
    reviewed: Mapping[str, tuple[str, ...]] = {}
    restores: Callable[[Context[Any]], bool] = _never_restores
    enforced: bool = True
    #: The end of the advice to make an object smaller that takes too long to judge.
    how_to_shrink: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check the rules.

        Raises:
            UnknownField: a rule names a field that neither this kind nor any other has.
            TypeError: a rule is a plain function.
        """
        if self.schema is _OF_THE_SPEC:
            force_setattr(self, "schema", ModelSchema(self.spec))
        self.when  # noqa: B018 - raises these errors

    @cached_property
    def when(self) -> When:
        """Which rules are called for an object."""
        rules = [
            (rule, [field for name in _checked(rule).when for field in self._fields_of(rule, name)])
            for rule in self.rules
        ]
        by_default = [field.steps for _, fields in rules for field in fields if field.steps and field.has_default]
        return When([(rule, [field.steps for field in fields]) for rule, fields in rules], by_default)

    @cached_property
    def _resolved(self) -> dict[str, tuple[Field, ...]]:
        return {}

    @property
    def gvk(self) -> GroupVersionKind:
        """The identity of the kind."""
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def qualified_plural(self) -> str:
        """The name of its CRD, `<plural>.<group>`."""
        return f"{self.plural}.{self.group}"

    def read(self, document: Mapping[str, Any]) -> tuple[BaseModel, bool]:
        """Return the typed view of an object's spec, and whether it is complete.

        A kind whose spec is not a model of the JSON overrides this, `all_fields`, `hides` and `missing`.
        """
        return view(self.spec, document.get("spec"))

    def accepted(self, document: Mapping[str, Any]) -> BaseModel | None:
        """Return, fast, the typed view of an object that is known to fit, with everything embedded in it; else None."""
        spec, complete = self.read(document) if self.schema.accepts(document) else (None, False)
        return spec if complete else None

    def convert(self, document: Mapping[str, Any], version: str) -> dict[str, Any]:
        """Return an object of any version of the kind in another version.

        Raises:
            NotConvertible: a version is unknown, or has no equivalent of the object.
        """
        return convert(document, self.versions, self.version, version)

    def hides(self, path: Path) -> bool:
        """Tell whether rules read the value at a path as plain JSON, so that a broken one must be hidden from them."""
        return opaque(self.spec, path)

    def missing(self, spec: BaseModel) -> list[tuple[Path, bool]]:
        """Return the fields that a view lacks, and whether each holds a list or a map of objects."""
        return [*missing_fields(spec, Path("spec"))]

    def path(self, phase: str) -> str:
        """Return the path of its webhook: `/mutate-` or `/validate-`, group with dots as dashes, version, kind."""
        return f"/{phase}-{self.group.replace('.', '-')}-{self.version}-{self.kind.lower()}"

    def out_of_time(self) -> Finding:
        """Return the cause that the time for the review of an object is over."""
        return TIME, Cause("", f"it takes too long to judge: make it smaller{self.how_to_shrink}")

    def field(self, name: str) -> Field:
        """Return a field by the name that rules use: the first, if the kind has several fields of this name.

        Raises:
            UnknownField: neither this kind nor any other has such a field.
        """
        return self.all_fields(name)[0]

    def all_fields(self, name: str) -> tuple[Field, ...]:
        """Return the fields of the name that rules use: more than one if `fields` has several for it.

        Raises:
            UnknownField: neither this kind nor any other has such a field.
        """
        fields = self._resolved.get(name)
        if fields is None:
            fields = self._resolved[name] = tuple(self._resolve(name, path) for path in self._translated(name))
        return fields

    def _fields_of(self, rule: Rule, name: str) -> tuple[Field, ...]:
        try:
            return self.all_fields(name)
        except UnknownField:
            known = [*self.spec.model_fields, *self.fields, *self.known_fields]
            for attribute in self.spec.model_fields:
                _, model = held_by(self.spec, attribute)
                known += [f"{attribute}.{inner}" for inner in model.model_fields] if model else []
            close = get_close_matches(name, known, n=1)
            hint = f": did you mean {close[0]}?" if close else ""
            text = f"the rule {rule.name} is about {name}, which is no field of {self.kind}{hint}"
            raise UnknownField(text) from None

    def _resolve(self, name: str, translated: str) -> Field:
        if name.startswith(ANNOTATIONS):
            key = name.removeprefix(ANNOTATIONS)
            return Field((Path("metadata") / "annotations").key(key), (), ("metadata", "annotations", key))
        left = translated.split(".")
        path = Path("spec")
        model: type[BaseModel] | None = self.spec
        attributes: list[str] = []
        steps, has_default = ["spec"], False
        while left and model is not None:
            attribute = left.pop(0)
            if attribute not in model.model_fields:
                if name in self.known_fields:
                    return Field(path / attribute)
                close = get_close_matches(attribute, model.model_fields, n=1)
                raise UnknownField(f"{name}: did you mean {close[0]}?" if close else name)
            info, key = model.model_fields[attribute], json_name(model, attribute)
            shape, held = held_by(model, attribute)
            path /= key
            attributes.append(attribute)
            several = shape is list or (shape is dict and held is not None)
            steps += [key, EACH] if several and left else [key]
            has_default = not info.is_required() and info.get_default(call_default_factory=True) is not None
            model = held
        # What is left leads into plain JSON, such as a pod template.
        return Field(path, tuple(attributes), (*steps, *left), has_default and not left)

    def _translated(self, name: str) -> tuple[str, ...]:
        """Return the paths of attributes for a name: of the longest beginning that the kind calls otherwise."""
        steps = name.split(".")
        for length in range(len(steps), 0, -1):
            if (places := self.fields.get(".".join(steps[:length]))) is not None:
                paths = (places,) if isinstance(places, str) else places
                return tuple(".".join((path, *steps[length:])) for path in paths)
        return (name,)


#: The prefix of an annotation in the fields that a rule is about.
ANNOTATIONS = "annotations."


def _checked(rule: object) -> Rule:
    if not isinstance(rule, Rule):
        name = getattr(rule, "__qualname__", repr(rule))
        raise TypeError(f"{name} is a function, not a rule: put @rule(…) before it")
    return rule


J = TypeVar("J", bound=Kind)
K_co = TypeVar("K_co", bound=Kind, covariant=True)


class Registry(Generic[K_co]):
    """The kinds that are served, by GroupVersionKind.

    Attributes:
        lacking: a sentence for each kind that is missing because it cannot be loaded.

    Raises:
        ValueError: two kinds have the same GroupVersionKind or the same plural.
    """

    def __init__(
        self,
        kinds: Iterable[K_co],
        later: Mapping[tuple[str, str], Callable[[], K_co]] | None = None,
        lacking: Iterable[str] = (),
    ) -> None:
        """Hold kinds, and before them those that are loaded when they are asked for, by `apiVersion` and `kind`."""
        self.lacking = tuple(lacking)
        self._kinds: dict[tuple[str, str], K_co] = {}
        self._later = dict(later or {})
        self._names = list(self._later)
        for kind in kinds:
            self.of_group(kind.group)
            for other in self._kinds.values():
                if other.gvk == kind.gvk or (
                    other.qualified_plural == kind.qualified_plural and other.kind != kind.kind
                ):
                    raise ValueError(f"two kinds claim one name: {_names(other)} and {_names(kind)}")
            self._kinds[kind.gvk.api_version, kind.kind] = kind
            self._names.append((kind.gvk.api_version, kind.kind))

    def __iter__(self) -> Iterator[K_co]:
        kinds = (self.get(*name) for name in self._names)
        return iter([kind for kind in kinds if kind is not None])

    def __len__(self) -> int:
        return len(self._names)

    def plus(self, kinds: Iterable[J]) -> Registry[K_co | J]:
        """Return a registry with further kinds.

        Raises:
            ValueError: two kinds have the same name.
        """
        return Registry((*self, *kinds), lacking=self.lacking)

    def names(self) -> list[tuple[str, str]]:
        """Return `apiVersion` and `kind` of each kind."""
        return list(self._names)

    def get(self, api_version: str, kind: str) -> K_co | None:
        """Return the kind of an object's `apiVersion` and `kind`, or None if it is not served."""
        name = api_version, kind
        if name in self._later:
            self._kinds[name] = self._later.pop(name)()
        return self._kinds.get(name)

    def of_group(self, group: str) -> list[K_co]:
        """Return the kinds of an API group."""
        kinds = (self.get(*name) for name in self.names() if name[0].rpartition("/")[0] == group)
        return [kind for kind in kinds if kind is not None]


def _names(kind: Kind) -> str:
    return f"{kind.gvk.api_version} {kind.kind} ({kind.qualified_plural})"
