"""A structural schema as plain JSON, and what Kubernetes calls its own extensions of JSON Schema.

Source: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/v1/types_jsonschema.go, where each is described.
"""

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

#: Whose values are lists of schemas that a value is held against as a whole.
BRANCHES: Final = ("allOf", "anyOf", "oneOf")

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_MAP_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_TYPE: Final = "x-kubernetes-map-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
VALIDATIONS: Final = "x-kubernetes-validations"
