"""What a kind is, beside its models, and the CustomResourceDefinition that is made of it.

- `resource`: what the author says: names, versions, columns, subresources, conversion
- `definition`: `crd`, which puts schemas and names together, and lints what comes out
- `size`: how big a CRD is, and what would shrink it
- `text`: a CRD as YAML

Importing this package loads what the author says, and no more.
"""

from crdgen.resource.resource import (
    Column,
    ColumnType,
    Conversion,
    CustomResource,
    Names,
    Scale,
    Scope,
    Service,
    Version,
    english_plural,
    of,
)

__all__ = [
    "Column",
    "ColumnType",
    "Conversion",
    "CustomResource",
    "Names",
    "Scale",
    "Scope",
    "Service",
    "Version",
    "english_plural",
    "of",
]
