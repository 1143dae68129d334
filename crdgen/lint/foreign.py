"""Keywords of JSON Schema, and of Kubernetes' own types, that no CustomResourceDefinition knows."""

from collections.abc import Mapping
from typing import Final

#: What says the same in a CustomResourceDefinition, by keyword.
FOREIGN: Final[Mapping[str, str]] = {
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
