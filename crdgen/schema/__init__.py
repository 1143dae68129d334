"""The structural schema as plain JSON: what every other package reads or writes. It imports none of them.

Here are the type `Schema` and what Kubernetes calls its own extensions of JSON Schema (k8s.io/apiextensions-apiserver,
pkg/apis/apiextensions/v1/types_jsonschema.go, where each is described).

- `limits`: what the API server takes at most, and the lists that it chooses from
- `look`: reads a CRD that may be any JSON
"""

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

#: The JSON types, and those of a single value.
SCALARS: Final = ("boolean", "integer", "number", "string")
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")

#: Keywords for people only.
TEXTS: Final = ("description", "example", "title")

#: Keywords that say which values of a type are taken, without those that describe what is inside of it.
VALUES: Final = frozenset(
    {
        *("allOf", "anyOf", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength"),
        *("maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not"),
        *("oneOf", "pattern"),
    }
)

#: Keywords whose values are JSON of objects, in which nothing is a keyword.
OF_OBJECTS: Final = frozenset({"default", "enum", "example"})

#: Whose values are lists of schemas that a value is held against as a whole.
BRANCHES: Final = ("allOf", "anyOf", "oneOf")

#: The two branches that int-or-string may have, in this order.
EITHER: Final = [{"type": "integer"}, {"type": "string"}]

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_MAP_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_TYPE: Final = "x-kubernetes-map-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
VALIDATIONS: Final = "x-kubernetes-validations"
