"""The types of a CustomResourceDefinition, as the API server decodes it.

Fields and their types are those of k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1 (types.go and
types_jsonschema.go).
"""

from collections.abc import Mapping
from typing import Final

from crdgen.decode.decoder import TEXTS, Choice, ListOf, MapOf, Scalar, Shape, Struct, fields, struct
from crdgen.decode.objectmeta import OBJECT_META

# Fixes for keywords of JSON Schema and of Kubernetes' own types that CRDs do not have.
_FOREIGN: Final[Mapping[str, str]] = {
    "$defs": "write each definition in the place where it is used",
    "const": "write enum with this one value",
    "contains": "write a rule: self.exists(item, …)",
    "deprecated": "say it in the description",
    "discriminator": "remove it, and let each branch of oneOf name the value of the field that tells them apart",
    "else": "write a rule: condition ? this : that",
    "examples": "write example with one of them",
    "if": "write a rule: condition ? this : that",
    "prefixItems": "write items with one schema, and minItems and maxItems",
    "propertyNames": "write a rule: self.all(key, …)",
    "readOnly": "say it in the description, or let a rule compare self with oldSelf",
    "then": "write a rule: condition ? this : that",
    "unevaluatedProperties": "remove it: unknown fields are pruned",
    "writeOnly": "say it in the description",
    "x-kubernetes-patch-merge-key": "write x-kubernetes-list-map-keys",
    "x-kubernetes-patch-strategy": "write x-kubernetes-list-type: map",
}


_SCHEMA_FIELDS: Final[dict[str, Shape]] = {}
SCHEMA: Final = Struct(_SCHEMA_FIELDS, _FOREIGN)

_RULE: Final = struct(
    **fields(Scalar.TEXT, "rule", "message", "messageExpression", "reason", "fieldPath"),
    optionalOldSelf=Scalar.BOOLEAN,
)

# Schemas are recursive.
_SCHEMA_FIELDS.update(
    {
        **fields(Scalar.TEXT, "id", "$schema", "$ref", "description", "type", "format", "title", "pattern"),
        **fields(Scalar.ANY, "default", "example"),
        **fields(Scalar.NUMBER, "maximum", "minimum", "multipleOf"),
        **fields(Scalar.BOOLEAN, "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"),
        **fields(Scalar.BOOLEAN, "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"),
        **fields(Scalar.TEXT, "x-kubernetes-list-type", "x-kubernetes-map-type"),
        **fields(TEXTS, "required", "x-kubernetes-list-map-keys"),
        **fields(Scalar.INT64, "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"),
        "enum": ListOf(Scalar.ANY),
        "items": Choice(SCHEMA, ListOf(SCHEMA)),
        **fields(ListOf(SCHEMA), "allOf", "oneOf", "anyOf"),
        "not": SCHEMA,
        **fields(MapOf(SCHEMA), "properties", "patternProperties", "definitions"),
        **fields(Choice(SCHEMA, Scalar.BOOLEAN), "additionalProperties", "additionalItems"),
        "dependencies": MapOf(Choice(SCHEMA, TEXTS)),
        "externalDocs": struct(description=Scalar.TEXT, url=Scalar.TEXT),
        "x-kubernetes-int-or-string": Scalar.BOOLEAN,
        "x-kubernetes-validations": ListOf(_RULE),
    }
)

_NAMES: Final = struct(
    **fields(Scalar.TEXT, "plural", "singular", "kind", "listKind"),
    **fields(TEXTS, "shortNames", "categories"),
)

_COLUMN: Final = struct(
    **fields(Scalar.TEXT, "name", "type", "format", "description", "jsonPath"),
    priority=Scalar.INT32,
)

_SCALE: Final = struct(
    **fields(Scalar.TEXT, "specReplicasPath", "statusReplicasPath", "labelSelectorPath"),
)

_VERSION: Final = struct(
    name=Scalar.TEXT,
    **fields(Scalar.BOOLEAN, "served", "storage", "deprecated"),
    deprecationWarning=Scalar.TEXT,
    schema=struct(openAPIV3Schema=SCHEMA),
    subresources=struct(status=struct(), scale=_SCALE),
    additionalPrinterColumns=ListOf(_COLUMN),
    selectableFields=ListOf(struct(jsonPath=Scalar.TEXT)),
)

_CLIENT: Final = struct(
    url=Scalar.TEXT,
    service=struct(namespace=Scalar.TEXT, name=Scalar.TEXT, path=Scalar.TEXT, port=Scalar.INT32),
    caBundle=Scalar.BYTES,
)

_CONVERSION: Final = struct(
    strategy=Scalar.TEXT,
    webhook=struct(clientConfig=_CLIENT, conversionReviewVersions=TEXTS),
)

_STATUS: Final = struct(
    conditions=ListOf(
        struct(
            **fields(Scalar.TEXT, "type", "status", "reason", "message"),
            lastTransitionTime=Scalar.TIME,
            observedGeneration=Scalar.INT64,
        )
    ),
    acceptedNames=_NAMES,
    storedVersions=TEXTS,
    observedGeneration=Scalar.INT64,
)

DEFINITION: Final = struct(
    **fields(Scalar.TEXT, "apiVersion", "kind"),
    metadata=OBJECT_META,
    spec=struct(
        **fields(Scalar.TEXT, "group", "scope"),
        names=_NAMES,
        versions=ListOf(_VERSION),
        conversion=_CONVERSION,
        preserveUnknownFields=Scalar.BOOLEAN,
    ),
    status=_STATUS,
)
