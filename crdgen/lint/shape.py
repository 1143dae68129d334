"""What a CustomResourceDefinition is made of, as the API server decodes it.

Fields and their types are those of k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1 (types.go and
types_jsonschema.go).
"""

from collections.abc import Mapping
from typing import Final

from crdgen.decode.objectmeta import OBJECT_META
from crdgen.decode.shapes import TEXTS, Alternative, Choice, ListOf, MapOf, Scalar, Shape, Struct, struct

# Keywords of JSON Schema, and of Kubernetes' own types, that no CRD knows, and what says the same.
_FOREIGN: Final[Mapping[str, str]] = {
    "$defs": "write each definition in the place where it is used",
    "const": "write enum with this one value",
    "contains": "write a rule: self.exists(item, …)",
    "contentEncoding": "write format: byte for base64, or remove it",
    "contentMediaType": "remove it: it is not checked",
    "deprecated": "say it in the description",
    "discriminator": "remove it, and let each branch of oneOf name the value of the field that tells them apart",
    "else": "write a rule: condition ? this : that",
    "examples": "write example with one of them",
    "if": "write a rule: condition ? this : that",
    "maxContains": "write a rule: self.filter(item, …).size() <= n",
    "minContains": "write a rule: self.filter(item, …).size() >= n",
    "prefixItems": "write items with one schema, and minItems and maxItems",
    "propertyNames": "write a rule: self.all(key, …)",
    "readOnly": "say it in the description, or let a rule compare self with oldSelf",
    "then": "write a rule: condition ? this : that",
    "unevaluatedProperties": "remove it: unknown fields are pruned",
    "writeOnly": "say it in the description",
    "x-kubernetes-group-version-kind": "remove it: only Kubernetes' own types have it",
    "x-kubernetes-patch-merge-key": "write x-kubernetes-list-map-keys",
    "x-kubernetes-patch-strategy": "write x-kubernetes-list-type: map",
    "x-kubernetes-unions": "write oneOf, or a rule",
}


def _schema_fields() -> Mapping[str, Shape]:
    return _SCHEMA_FIELDS


SCHEMA: Final = Struct("JSONSchemaProps", _schema_fields, _FOREIGN)

_RULE: Final = struct(
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
    "required": TEXTS,
    "items": Choice(SCHEMA, Alternative.STRUCTS),
    "allOf": ListOf(SCHEMA),
    "oneOf": ListOf(SCHEMA),
    "anyOf": ListOf(SCHEMA),
    "not": SCHEMA,
    "properties": MapOf(SCHEMA),
    "additionalProperties": Choice(SCHEMA, Alternative.BOOLEAN),
    "patternProperties": MapOf(SCHEMA),
    "dependencies": MapOf(Choice(SCHEMA, Alternative.TEXTS)),
    "additionalItems": Choice(SCHEMA, Alternative.BOOLEAN),
    "definitions": MapOf(SCHEMA),
    "externalDocs": struct("ExternalDocumentation", description=Scalar.TEXT, url=Scalar.TEXT),
    "example": Scalar.ANY,
    "nullable": Scalar.BOOLEAN,
    "x-kubernetes-preserve-unknown-fields": Scalar.BOOLEAN,
    "x-kubernetes-embedded-resource": Scalar.BOOLEAN,
    "x-kubernetes-int-or-string": Scalar.BOOLEAN,
    "x-kubernetes-list-map-keys": TEXTS,
    "x-kubernetes-list-type": Scalar.TEXT,
    "x-kubernetes-map-type": Scalar.TEXT,
    "x-kubernetes-validations": ListOf(_RULE),
}

_NAMES: Final = struct(
    "CustomResourceDefinitionNames",
    plural=Scalar.TEXT,
    singular=Scalar.TEXT,
    shortNames=TEXTS,
    kind=Scalar.TEXT,
    listKind=Scalar.TEXT,
    categories=TEXTS,
)

_COLUMN: Final = struct(
    "CustomResourceColumnDefinition",
    name=Scalar.TEXT,
    type=Scalar.TEXT,
    format=Scalar.TEXT,
    description=Scalar.TEXT,
    priority=Scalar.INT32,
    jsonPath=Scalar.TEXT,
)

_SCALE: Final = struct(
    "CustomResourceSubresourceScale",
    specReplicasPath=Scalar.TEXT,
    statusReplicasPath=Scalar.TEXT,
    labelSelectorPath=Scalar.TEXT,
)

_VERSION: Final = struct(
    "CustomResourceDefinitionVersion",
    name=Scalar.TEXT,
    served=Scalar.BOOLEAN,
    storage=Scalar.BOOLEAN,
    deprecated=Scalar.BOOLEAN,
    deprecationWarning=Scalar.TEXT,
    schema=struct("CustomResourceValidation", openAPIV3Schema=SCHEMA),
    subresources=struct("CustomResourceSubresources", status=struct("CustomResourceSubresourceStatus"), scale=_SCALE),
    additionalPrinterColumns=ListOf(_COLUMN),
    selectableFields=ListOf(struct("SelectableField", jsonPath=Scalar.TEXT)),
)

_CLIENT: Final = struct(
    "WebhookClientConfig",
    url=Scalar.TEXT,
    service=struct("ServiceReference", namespace=Scalar.TEXT, name=Scalar.TEXT, path=Scalar.TEXT, port=Scalar.INT32),
    caBundle=Scalar.BYTES,
)

_CONVERSION: Final = struct(
    "CustomResourceConversion",
    strategy=Scalar.TEXT,
    webhook=struct("WebhookConversion", clientConfig=_CLIENT, conversionReviewVersions=TEXTS),
)

_STATUS: Final = struct(
    "CustomResourceDefinitionStatus",
    conditions=ListOf(
        struct(
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
    storedVersions=TEXTS,
    observedGeneration=Scalar.INT64,
)

DEFINITION: Final = struct(
    "CustomResourceDefinition",
    apiVersion=Scalar.TEXT,
    kind=Scalar.TEXT,
    metadata=OBJECT_META,
    spec=struct(
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
