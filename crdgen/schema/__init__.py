"""The structural schema as plain JSON: what every other package reads or writes. It imports none of them.

- `keywords`: the type `Schema`, and Kubernetes' own keywords
- `limits`: what the API server takes at most, and the lists that it chooses from
- `look`: reads a CRD that may be any JSON
- `sealed`: marks parts of schemas that are finished
"""

from crdgen.schema.keywords import (
    BRANCHES,
    EMBEDDED,
    INT_OR_STRING,
    LIST_MAP_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    VALIDATIONS,
    Schema,
)

__all__ = [
    "BRANCHES",
    "EMBEDDED",
    "INT_OR_STRING",
    "LIST_MAP_KEYS",
    "LIST_TYPE",
    "MAP_TYPE",
    "PRESERVE",
    "VALIDATIONS",
    "Schema",
]
