"""What a custom resource is, beside its models: names, versions, columns, subresources, conversion.

These are words only. What they must be like is checked where they become a definition, together with the schema that
they speak of.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import KEEP, Descriptions
from crdgen.markers.rule import ValidationRule

Scope: TypeAlias = Literal["Namespaced", "Cluster"]
ColumnType: TypeAlias = Literal["integer", "number", "string", "boolean", "date"]

# How a noun ends, and its plural; the first that fits.
_PLURALS: Final = (
    (re.compile(r"([^aeiou])y$"), r"\1ies"),
    (re.compile(r"([a-z])sis$"), r"\1ses"),
    (re.compile(r"([aious]s|x|z|ch|sh)$"), r"\1es"),
    (re.compile(r"(data|information|equipment|hardware|software)$"), r"\1"),  # what is not counted
    (re.compile(r"s?$"), "s"),
)
# What a class is called that holds only a part of the object.
_PART: Final = re.compile(r"(?<=.)Spec$")


@dataclass(frozen=True)
class Names:
    """What a kind is called; only the kind must be given. The plural is by default the English one of the singular."""

    kind: str
    plural: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    list_kind: str = ""

    def __post_init__(self) -> None:
        singular = self.singular or self.kind.lower()
        object.__setattr__(self, "singular", singular)
        object.__setattr__(self, "plural", self.plural or english_plural(singular))
        object.__setattr__(self, "list_kind", self.list_kind or f"{self.kind}List")


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`.

    Attributes:
        name: Its heading.
        json_path: What it shows, as `.status.phase`; a list's items as `.status.conditions[-1:].type`.
        type: Comes from the schema; for a path that the schema does not know it is given.
        description: What `kubectl` says of it where it explains columns.
        priority: Above 0, it is shown by `-o wide` only.
        format: How its type is to be read, as OpenAPI calls it; rarely of use.
    """

    name: str
    json_path: str
    type: ColumnType | None = None
    description: str = ""
    priority: int = 0
    format: str = ""


@dataclass(frozen=True)
class Scale:
    """The scale subresource: what `kubectl scale` and autoscalers read and write, as paths from the object's root.

    A write to it reaches no webhook that is registered for the resource itself: bounds belong into the schema.

    Attributes:
        replicas: The wanted number, under `.spec`.
        status_replicas: The observed number, under `.status`.
        selector: The pods' label selector, as text; a HorizontalPodAutoscaler needs it.
    """

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""


@dataclass(frozen=True)
class Service:
    """A Service that answers conversion requests; `path` begins with a slash."""

    name: str
    namespace: str
    path: str = ""
    port: int = 443


@dataclass(frozen=True)
class Conversion:
    """Who converts objects from one version of the kind to another: a Service or a URL, one of the two.

    Attributes:
        service: The Service, over TLS.
        url: The `https://` address, where the webhook runs outside of the cluster.
        ca_bundle: Certificates as PEM that the server's certificate is checked against; left out, the API server uses
            its machine's, or another program injects it.
        review_versions: Versions of ConversionReview that it understands, the best one first.
    """

    service: Service | None = None
    url: str = ""
    ca_bundle: str | bytes = ""
    review_versions: tuple[str, ...] = ("v1",)


@dataclass(frozen=True)
class Version:
    """One version of a kind: its models, and what clients see of it.

    Attributes:
        name: As in the URL: `v1`, `v1alpha1`.
        spec: The model of what the user wants: Pydantic's, a dataclass or a TypedDict.
        status: The model of what is observed; makes status a subresource.
        columns: What `kubectl get` prints.
        description: Of the kind; by default that of the model.
        served: Whether clients can use the version.
        storage: Whether objects are stored in this version; true of exactly one.
        deprecated: Warns who uses the version; a text is the warning, of at most 256 printable characters.
        scale: Makes scale a subresource.
        selectable: Paths of fields that field selectors may name, as `.spec.queue`; at most 8.
        rules: CEL rules on the whole object, of whose metadata they see name and generateName.
        descriptions: How much of the models' descriptions stays; by default what the resource says.
        whole: The model of the whole object, if there is one: its rules and further fields are taken.
    """

    name: str
    spec: type[Any]
    status: type[Any] | None = None
    columns: tuple[Column, ...] = ()
    description: str = ""
    served: bool = True
    storage: bool = True
    deprecated: bool | str = False
    scale: Scale | None = None
    selectable: tuple[str, ...] = ()
    rules: tuple[ValidationRule, ...] = ()
    descriptions: Descriptions | None = None
    whole: type[BaseModel] | None = None


@dataclass(frozen=True)
class CustomResource:
    """A kind with its versions; `crd()` turns it into a CustomResourceDefinition.

    Attributes:
        group: The API group, a domain name of at least two parts.
        names: What the kind is called.
        versions: At least one; exactly one of them is stored.
        scope: Whether its objects live in namespaces.
        labels, annotations: Of the definition.
        api_approved: Who approved of an API in a group of Kubernetes' own (`*.k8s.io`): a URL, or `unapproved, …`.
        conversion: Who converts between versions; without, all versions have one schema in effect.
        descriptions: How much of the models' descriptions stays.
    """

    group: str
    names: Names
    versions: tuple[Version, ...]
    scope: Scope = "Namespaced"
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    api_approved: str = ""
    conversion: Conversion | None = None
    descriptions: Descriptions = KEEP


def of(
    model: type[Any],
    *,
    group: str,
    version: str,
    kind: str | None = None,
    plural: str | None = None,
    scope: Scope = "Namespaced",
) -> CustomResource:
    """Return the custom resource of one model.

    Args:
        model: The spec, a Pydantic model, a dataclass or a TypedDict; or the whole object, when it is a Pydantic model
            with a field `spec` that is one. Its field `status`, if that is a model, is the status; its apiVersion, kind
            and metadata are Kubernetes' and are not looked at.
        group: The API group.
        version: The one version's name, served and stored.
        kind: By default the model's name, without type arguments, and without `Spec` at its end.
        plural: By default the English plural of the kind.
        scope: Whether its objects live in namespaces.

    Raises:
        SchemaError: When the model is that of a whole object, but for its spec.
    """
    name = kind or _kind(model)
    spec = part(model, "spec")
    found = [word for word in ("apiVersion", "kind", "metadata") if word in _annotations(model)]
    if spec is None and len(found) > 1:
        raise SchemaError(
            name,
            f"the model has {' and '.join(found)}, as a whole object, and no field `spec` that is a Pydantic model",
            "give it one with the fields of its own, or leave those out: then the model is the spec itself",
        )
    one = (
        Version(version, spec=model)
        if spec is None
        else Version(version, spec, status=part(model, "status"), whole=model)
    )
    return CustomResource(group, Names(name, plural=plural or english_plural(name.lower())), (one,), scope)


def english_plural(word: str) -> str:
    """Return the plural of a lower-case noun; one in s is its own, unless it ends as `class`, `alias` or `basis`."""
    return next(ending.sub(replaced, word, count=1) for ending, replaced in _PLURALS if ending.search(word))


def _kind(model: type[Any]) -> str:
    field_of_kind: Any = getattr(model, "model_fields", {}).get("kind")
    values: tuple[Any, ...] = (
        getattr(getattr(field_of_kind, "annotation", None), "__args__", ()) if part(model, "spec") else ()
    )
    if len(values) == 1 and isinstance(values[0], str):  # kind: Literal["Widget"]
        return values[0]
    return _PART.sub("", model.__name__.partition("[")[0])  # a generic model has its arguments in its name


def is_described(value: Any) -> bool:
    """Return whether a value is a class whose fields Pydantic describes: a model, a dataclass or a TypedDict."""
    return isinstance(value, type) and (issubclass(value, BaseModel) or is_dataclass(value) or is_typeddict(value))


def part(model: type[Any], name: str) -> type[BaseModel] | None:
    """Return the model that a field of this JSON name has, or may have beside null; None where it has none."""
    return _model(_annotations(model).get(name)) if issubclass(model, BaseModel) else None


def _annotations(model: type[Any]) -> dict[str, Any]:
    """Return what a class says of its fields, by their JSON names."""
    if not issubclass(model, BaseModel):
        return dict(getattr(model, "__annotations__", {}))
    return {json_name(name, field): field.annotation for name, field in model.model_fields.items()}


def json_name(python_name: str, field: FieldInfo) -> str:
    """Return what a field is called in JSON."""
    alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
    return alias or python_name


def _model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is Annotated:
        return _model(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        members = [member for member in get_args(annotation) if member is not type(None)]
        return _model(members[0]) if len(members) == 1 else None
    return None
