"""Pydantic models in, CustomResourceDefinitions out.

`crd(of(Model, group="example.com", version="v1"))` gives the definition that an API server accepts, or a `SchemaError`
that names the field and the fix. Any Pydantic model will do; `Model` is one that is as strict as the API server.

What a type cannot say, a field says in `Annotated[…]`:

- what server-side apply merges: `MapList`, `SetList`, `Atomic`, `GranularMap`, `AtomicMap`;
- types of Kubernetes: `Annotated[dict[str, Any], EmbeddedResource]`, and so with `core_type("Toleration")` and
  `pod_template("1.30")`; types in themselves are `Quantity`, `IntOrString`, `Time`, `PodTemplate` and `Volumes`;
  `PreserveUnknown` is for what the schema does not know;
- rules in CEL: `Rule`, `Immutable`, `ImmutableOnceSet`; on a whole model by the decorator `rules`, which also takes
  `exactly_one_of`, `at_most_one_of` and `at_least_one_of`. `escape` writes a JSON name as CEL does;
- texts: `Doc`, and `Descriptions` for how much of them stays.

What a kind is beyond its models, a `CustomResource` says: `Names`, a `Version` for each version with its `Column`s,
`Scale` and selectable fields, and a `Conversion` between them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crdgen.escaping import escape
    from crdgen.generate.errors import SchemaError
    from crdgen.generate.pipeline import structural_schema
    from crdgen.lint import Finding, check_structural
    from crdgen.markers import (
        Atomic,
        AtomicMap,
        Depth,
        Descriptions,
        Doc,
        Duration,
        EmbeddedResource,
        GranularMap,
        Immutable,
        ImmutableOnceSet,
        Int32,
        Int64,
        IntOrString,
        MapList,
        MaxItems,
        MinItems,
        Model,
        ModelDefault,
        PreserveUnknown,
        Quantity,
        Rule,
        SetList,
        Time,
        at_least_one_of,
        at_most_one_of,
        exactly_one_of,
        rules,
    )
    from crdgen.podtemplate import OpenPodTemplate, PodTemplate, Volumes, core_type, pod_template, volumes
    from crdgen.resource import Column, Conversion, CustomResource, Names, Scale, Service, Version, of
    from crdgen.resource.definition import crd
    from crdgen.resource.size import size
    from crdgen.resource.text import to_yaml

__all__ = [
    "Atomic",
    "AtomicMap",
    "Column",
    "Conversion",
    "CustomResource",
    "Depth",
    "Descriptions",
    "Doc",
    "Duration",
    "EmbeddedResource",
    "Finding",
    "GranularMap",
    "Immutable",
    "ImmutableOnceSet",
    "Int32",
    "Int64",
    "IntOrString",
    "MapList",
    "MaxItems",
    "MinItems",
    "Model",
    "ModelDefault",
    "Names",
    "OpenPodTemplate",
    "PodTemplate",
    "PreserveUnknown",
    "Quantity",
    "Rule",
    "Scale",
    "SchemaError",
    "Service",
    "SetList",
    "Time",
    "Version",
    "Volumes",
    "at_least_one_of",
    "at_most_one_of",
    "check_structural",
    "core_type",
    "crd",
    "escape",
    "exactly_one_of",
    "of",
    "pod_template",
    "rules",
    "size",
    "structural_schema",
    "to_yaml",
    "volumes",
]

# Each name is imported when it is first asked for: who has models loads no linter, and who lints no generator.
_HOMES = {
    "crdgen.escaping": ("escape",),
    "crdgen.generate.pipeline": ("structural_schema",),
    "crdgen.generate.errors": ("SchemaError",),
    "crdgen.lint": ("Finding", "check_structural"),
    "crdgen.podtemplate": ("OpenPodTemplate", "PodTemplate", "Volumes", "core_type", "pod_template", "volumes"),
    "crdgen.resource": ("Column", "Conversion", "CustomResource", "Names", "Scale", "Service", "Version", "of"),
    "crdgen.resource.definition": ("crd",),
    "crdgen.resource.size": ("size",),
    "crdgen.resource.text": ("to_yaml",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import an exported name; what no other package has is a marker."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME.get(name, "crdgen.markers")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
