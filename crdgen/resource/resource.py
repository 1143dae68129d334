"""Custom resources: names, versions, columns, subresources, conversion.

These classes are plain data. `crd()` checks them together with the schemas.
"""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import force_setattr
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import KEEP, Descriptions
from crdgen.markers.rule import ValidationRule

Scope: TypeAlias = Literal["Namespaced", "Cluster"]
ColumnType: TypeAlias = Literal["integer", "number", "string", "boolean", "date"]

# Endings of nouns and of their plurals; the first match counts.
_PLURALS: Final = (
    (re.compile(r"([^aeiou])y$"), r"\1ies"),
    (re.compile(r"([a-z])sis$"), r"\1ses"),
    (re.compile(r"([aious]s|x|z|ch|sh)$"), r"\1es"),
    (re.compile(r"(data|information|equipment|hardware|software)$"), r"\1"),  # uncountable nouns
    (re.compile(r"s?$"), "s"),
)
# Suffix of a class that is only the spec.
_SPEC_SUFFIX: Final = re.compile(r"(?<=.)Spec$")


class Names(Struct, frozen=True):
    """The names of a kind. Only the kind is required. The plural defaults to the English plural of the singular."""

    kind: str
    plural: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    list_kind: str = ""

    def __post_init__(self) -> None:
        singular = self.singular or self.kind.lower()
        force_setattr(self, "singular", singular)
        force_setattr(self, "plural", self.plural or english_plural(singular))
        force_setattr(self, "list_kind", self.list_kind or f"{self.kind}List")


class Column(Struct, frozen=True):
    """A column of `kubectl get`.

    Attributes:
        name: The heading.
        json_path: The path of the value, as `.status.phase`; for items of a list `.status.conditions[-1:].type`.
        type: By default the type in the schema; required for paths that the schema does not know.
        description: The description in the CRD.
        priority: If above 0, only `-o wide` shows the column.
        format: The OpenAPI format of the type; rarely needed.
    """

    name: str
    json_path: str
    type: ColumnType | None = None
    description: str = ""
    priority: int = 0
    format: str = ""


class Scale(Struct, frozen=True):
    """The scale subresource: paths of the fields that `kubectl scale` and autoscalers read and write.

    Webhooks for the resource itself do not see such writes: put bounds into the schema.

    Attributes:
        replicas: The desired number, under `.spec`.
        status_replicas: The observed number, under `.status`.
        selector: The label selector of the pods as a string; a HorizontalPodAutoscaler needs it.
    """

    replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""


class Service(Struct, frozen=True):
    """A Service for conversion requests; `path` begins with a slash."""

    name: str
    namespace: str
    path: str = ""
    port: int = 443


class Conversion(Struct, frozen=True):
    """The webhook that converts objects between versions of the kind: exactly one of a Service and a URL.

    Attributes:
        service: The Service, over TLS.
        url: The `https://` address of a webhook outside of the cluster.
        ca_bundle: CA certificates of the server as PEM. By default the API server uses those of its machine, unless
            another program injects the bundle.
        review_versions: Supported versions of ConversionReview, the preferred version first.
    """

    service: Service | None = None
    url: str = ""
    ca_bundle: str | bytes = ""
    review_versions: tuple[str, ...] = ("v1",)


class Version(Struct, frozen=True):
    """A version of a kind: its models, and how clients see it.

    Attributes:
        name: The name, as in the URL: `v1`, `v1alpha1`.
        spec: The model of the spec: a Pydantic model, a dataclass or a TypedDict.
        status: The model of the status; makes status a subresource.
        columns: The columns of `kubectl get`.
        description: The description of the kind; by default the description of the model.
        served: Whether clients can use the version.
        storage: Whether objects are stored in this version; exactly one version is.
        deprecated: Whether clients get a warning; a string is its text, of at most 256 printable characters.
        scale: Makes scale a subresource.
        selectable: Paths of fields for field selectors, as `.spec.queue`; at most 8.
        rules: CEL rules on the whole object; in metadata, they only see name and generateName.
        descriptions: Whether to keep, drop or shorten descriptions; by default as in the resource.
        whole: The model of the whole object, if there is one; adds its rules and other fields.
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


class CustomResource(Struct, frozen=True):
    """A kind with its versions; `crd()` returns its CustomResourceDefinition.

    Attributes:
        group: The API group, a domain name with at least two parts.
        names: The names of the kind.
        versions: The versions; exactly one is the storage version.
        scope: Whether its objects are namespaced.
        labels, annotations: Labels and annotations of the definition.
        api_approved: The approval of an API in a group of Kubernetes (`*.k8s.io`): a URL, or `unapproved, …`.
        conversion: The conversion webhook; without it, conversion only changes the apiVersion.
        descriptions: Whether to keep, drop or shorten descriptions.
    """

    group: str
    names: Names
    versions: tuple[Version, ...]
    scope: Scope = "Namespaced"
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
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
    """Return the custom resource of a model.

    Args:
        model: The spec: a Pydantic model, a dataclass or a TypedDict. Or the whole object: a Pydantic model with a
            field `spec` that is a Pydantic model. A field `status`, if it is a model, is the status; apiVersion, kind
            and metadata are ignored.
        group: The API group.
        version: The name of the only version, which is served and stored.
        kind: By default the model's name without type arguments and without the suffix `Spec`.
        plural: By default the English plural of the kind.
        scope: Whether its objects are namespaced.

    Raises:
        SchemaError: The model looks like a whole object, but has no spec.
    """
    name = kind or _kind(model)
    spec = part(model, "spec")
    present = [field for field in ("apiVersion", "kind", "metadata") if field in _annotations(model)]
    if spec is None and len(present) > 1:
        raise SchemaError(
            name,
            f"the model has {' and '.join(present)}, as a whole object, and no field `spec` that is a Pydantic model",
            "give it one with the fields of its own, or leave those out: then the model is the spec itself",
        )
    version_ = (
        Version(version, spec=model)
        if spec is None
        else Version(version, spec, status=part(model, "status"), whole=model)
    )
    return CustomResource(group, Names(name, plural=plural or english_plural(name.lower())), (version_,), scope)


def english_plural(word: str) -> str:
    """Return the plural of a lower-case noun. Nouns in -s stay as they are, except like class, alias and basis."""
    return next(ending.sub(plural, word, count=1) for ending, plural in _PLURALS if ending.search(word))


def _kind(model: type[Any]) -> str:
    field_of_kind: Any = getattr(model, "model_fields", {}).get("kind")
    values: tuple[Any, ...] = (
        getattr(getattr(field_of_kind, "annotation", None), "__args__", ()) if part(model, "spec") else ()
    )
    if len(values) == 1 and isinstance(values[0], str):  # kind: Literal["Widget"]
        return values[0]
    return _SPEC_SUFFIX.sub("", model.__name__.partition("[")[0])  # the name of a generic model has its arguments


def is_described(value: Any) -> bool:
    """Return whether Pydantic describes the fields of a value: a model, a dataclass or a TypedDict."""
    return isinstance(value, type) and (issubclass(value, BaseModel) or is_dataclass(value) or is_typeddict(value))


def part(model: type[Any], name: str) -> type[BaseModel] | None:
    """Return the model of a field by its JSON name, also if the field may be null; None if it has no model."""
    return _model(_annotations(model).get(name)) if issubclass(model, BaseModel) else None


def _annotations(model: type[Any]) -> dict[str, Any]:
    """Return the annotations of a class by JSON names."""
    if not issubclass(model, BaseModel):
        return dict(getattr(model, "__annotations__", {}))
    return {json_name(name, field): field.annotation for name, field in model.model_fields.items()}


def json_name(python_name: str, field: FieldInfo) -> str:
    """Return the JSON name of a field."""
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
