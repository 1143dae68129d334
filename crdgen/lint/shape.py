"""What a CustomResourceDefinition is made of, as the API server decodes it.

Fields and their types are those of k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1 (types.go and
types_jsonschema.go), and of ObjectMeta in k8s.io/apimachinery, pkg/apis/meta/v1.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeAlias


class Scalar(Enum):
    """A value that has no fields."""

    TEXT = auto()
    BOOLEAN = auto()
    INT32 = auto()
    INT64 = auto()
    NUMBER = auto()
    BYTES = auto()
    TIME = auto()
    ANY = auto()


@dataclass(frozen=True)
class ListOf:
    """A list; a null in it is the item's zero value."""

    item: "Shape"


@dataclass(frozen=True)
class MapOf:
    """An object with any keys."""

    value: "Shape"


@dataclass(frozen=True)
class Struct:
    """An object with these fields. The fields are given by a function, because a schema holds schemas."""

    name: str
    fields: Callable[[], Mapping[str, "Shape"]]


class Choice(Enum):
    """A value of JSONSchemaProps with a decoder of its own, below which unknown fields are never reported."""

    SCHEMA_OR_LIST = auto()
    SCHEMA_OR_BOOLEAN = auto()
    SCHEMA_OR_NAMES = auto()


Shape: TypeAlias = Scalar | ListOf | MapOf | Struct | Choice

_TEXTS: Final = ListOf(Scalar.TEXT)
_TEXT_MAP: Final = MapOf(Scalar.TEXT)


def _struct(name: str, /, **fields: Shape) -> Struct:
    return Struct(name, lambda: fields)


def _schema_fields() -> Mapping[str, Shape]:
    return _SCHEMA_FIELDS


SCHEMA: Final = Struct("JSONSchemaProps", _schema_fields)

_RULE: Final = _struct(
    "ValidationRule",
    rule=Scalar.TEXT,
    message=Scalar.TEXT,
    messageExpression=Scalar.TEXT,
    reason=Scalar.TEXT,
    fieldPath=Scalar.TEXT,
    optionalOldSelf=Scalar.BOOLEAN,
)

_SCHEMA_FIELDS: Final[Mapping[str, Shape]] = {
    "id": Scalar.TEXT,
    "$schema": Scalar.TEXT,
    "$ref": Scalar.TEXT,
    "description": Scalar.TEXT,
    "type": Scalar.TEXT,
    "format": Scalar.TEXT,
    "title": Scalar.TEXT,
    "default": Scalar.ANY,
    "maximum": Scalar.NUMBER,
    "exclusiveMaximum": Scalar.BOOLEAN,
    "minimum": Scalar.NUMBER,
    "exclusiveMinimum": Scalar.BOOLEAN,
    "maxLength": Scalar.INT64,
    "minLength": Scalar.INT64,
    "pattern": Scalar.TEXT,
    "maxItems": Scalar.INT64,
    "minItems": Scalar.INT64,
    "uniqueItems": Scalar.BOOLEAN,
    "multipleOf": Scalar.NUMBER,
    "enum": ListOf(Scalar.ANY),
    "maxProperties": Scalar.INT64,
    "minProperties": Scalar.INT64,
    "required": _TEXTS,
    "items": Choice.SCHEMA_OR_LIST,
    "allOf": ListOf(SCHEMA),
    "oneOf": ListOf(SCHEMA),
    "anyOf": ListOf(SCHEMA),
    "not": SCHEMA,
    "properties": MapOf(SCHEMA),
    "additionalProperties": Choice.SCHEMA_OR_BOOLEAN,
    "patternProperties": MapOf(SCHEMA),
    "dependencies": MapOf(Choice.SCHEMA_OR_NAMES),
    "additionalItems": Choice.SCHEMA_OR_BOOLEAN,
    "definitions": MapOf(SCHEMA),
    "externalDocs": _struct("ExternalDocumentation", description=Scalar.TEXT, url=Scalar.TEXT),
    "example": Scalar.ANY,
    "nullable": Scalar.BOOLEAN,
    "x-kubernetes-preserve-unknown-fields": Scalar.BOOLEAN,
    "x-kubernetes-embedded-resource": Scalar.BOOLEAN,
    "x-kubernetes-int-or-string": Scalar.BOOLEAN,
    "x-kubernetes-list-map-keys": _TEXTS,
    "x-kubernetes-list-type": Scalar.TEXT,
    "x-kubernetes-map-type": Scalar.TEXT,
    "x-kubernetes-validations": ListOf(_RULE),
}

OBJECT_META: Final = _struct(
    "ObjectMeta",
    name=Scalar.TEXT,
    generateName=Scalar.TEXT,
    namespace=Scalar.TEXT,
    selfLink=Scalar.TEXT,
    uid=Scalar.TEXT,
    resourceVersion=Scalar.TEXT,
    generation=Scalar.INT64,
    creationTimestamp=Scalar.TIME,
    deletionTimestamp=Scalar.TIME,
    deletionGracePeriodSeconds=Scalar.INT64,
    labels=_TEXT_MAP,
    annotations=_TEXT_MAP,
    ownerReferences=ListOf(
        _struct(
            "OwnerReference",
            apiVersion=Scalar.TEXT,
            kind=Scalar.TEXT,
            name=Scalar.TEXT,
            uid=Scalar.TEXT,
            controller=Scalar.BOOLEAN,
            blockOwnerDeletion=Scalar.BOOLEAN,
        )
    ),
    finalizers=_TEXTS,
    managedFields=ListOf(
        _struct(
            "ManagedFieldsEntry",
            manager=Scalar.TEXT,
            operation=Scalar.TEXT,
            apiVersion=Scalar.TEXT,
            time=Scalar.TIME,
            fieldsType=Scalar.TEXT,
            fieldsV1=Scalar.ANY,
            subresource=Scalar.TEXT,
        )
    ),
)

_NAMES: Final = _struct(
    "CustomResourceDefinitionNames",
    plural=Scalar.TEXT,
    singular=Scalar.TEXT,
    shortNames=_TEXTS,
    kind=Scalar.TEXT,
    listKind=Scalar.TEXT,
    categories=_TEXTS,
)

_COLUMN: Final = _struct(
    "CustomResourceColumnDefinition",
    name=Scalar.TEXT,
    type=Scalar.TEXT,
    format=Scalar.TEXT,
    description=Scalar.TEXT,
    priority=Scalar.INT32,
    jsonPath=Scalar.TEXT,
)

_SCALE: Final = _struct(
    "CustomResourceSubresourceScale",
    specReplicasPath=Scalar.TEXT,
    statusReplicasPath=Scalar.TEXT,
    labelSelectorPath=Scalar.TEXT,
)

_VERSION: Final = _struct(
    "CustomResourceDefinitionVersion",
    name=Scalar.TEXT,
    served=Scalar.BOOLEAN,
    storage=Scalar.BOOLEAN,
    deprecated=Scalar.BOOLEAN,
    deprecationWarning=Scalar.TEXT,
    schema=_struct("CustomResourceValidation", openAPIV3Schema=SCHEMA),
    subresources=_struct("CustomResourceSubresources", status=_struct("CustomResourceSubresourceStatus"), scale=_SCALE),
    additionalPrinterColumns=ListOf(_COLUMN),
    selectableFields=ListOf(_struct("SelectableField", jsonPath=Scalar.TEXT)),
)

_CLIENT: Final = _struct(
    "WebhookClientConfig",
    url=Scalar.TEXT,
    service=_struct("ServiceReference", namespace=Scalar.TEXT, name=Scalar.TEXT, path=Scalar.TEXT, port=Scalar.INT32),
    caBundle=Scalar.BYTES,
)

_CONVERSION: Final = _struct(
    "CustomResourceConversion",
    strategy=Scalar.TEXT,
    webhook=_struct("WebhookConversion", clientConfig=_CLIENT, conversionReviewVersions=_TEXTS),
)

_STATUS: Final = _struct(
    "CustomResourceDefinitionStatus",
    conditions=ListOf(
        _struct(
            "CustomResourceDefinitionCondition",
            type=Scalar.TEXT,
            status=Scalar.TEXT,
            lastTransitionTime=Scalar.TIME,
            reason=Scalar.TEXT,
            message=Scalar.TEXT,
            observedGeneration=Scalar.INT64,
        )
    ),
    acceptedNames=_NAMES,
    storedVersions=_TEXTS,
    observedGeneration=Scalar.INT64,
)

DEFINITION: Final = _struct(
    "CustomResourceDefinition",
    apiVersion=Scalar.TEXT,
    kind=Scalar.TEXT,
    metadata=OBJECT_META,
    spec=_struct(
        "CustomResourceDefinitionSpec",
        group=Scalar.TEXT,
        names=_NAMES,
        scope=Scalar.TEXT,
        versions=ListOf(_VERSION),
        conversion=_CONVERSION,
        preserveUnknownFields=Scalar.BOOLEAN,
    ),
    status=_STATUS,
)
