"""The structural schema as plain JSON, which all other packages read or write. It imports none of them.

Contains the type `Schema` and the names of Kubernetes' extensions of JSON Schema (described in
k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1/types_jsonschema.go).

- `limits`: limits of the API server, and its lists of allowed values
- `look`: reads CRDs that may be any JSON
"""

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

#: Types of scalars, and all JSON types.
SCALARS: Final = ("boolean", "integer", "number", "string")
TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")

#: Names of types in messages.
ARTICLES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "integer or string": "an integer or a string",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

#: Keywords only for people.
TEXTS: Final = ("description", "example", "title")

#: Keywords that restrict the values of a type, without those for fields and items.
VALUES: Final = frozenset(
    {
        *("allOf", "anyOf", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength"),
        *("maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not"),
        *("oneOf", "pattern"),
    }
)

#: Keywords whose values are JSON of objects, which contains no keywords.
OF_OBJECTS: Final = frozenset({"default", "enum", "example"})

#: Keywords whose values are lists of schemas for the whole value.
BRANCHES: Final = ("allOf", "anyOf", "oneOf")

#: The only branches that int-or-string may have, in this order.
EITHER: Final = [{"type": "integer"}, {"type": "string"}]

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_MAP_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_TYPE: Final = "x-kubernetes-map-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
VALIDATIONS: Final = "x-kubernetes-validations"
