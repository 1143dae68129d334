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

from crdgen.definition import crd
from crdgen.errors import SchemaError
from crdgen.escaping import escape
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
from crdgen.model import Model
from crdgen.podtemplate import OpenPodTemplate, PodTemplate, Volumes, core_type, pod_template, volumes
from crdgen.resource import Column, Conversion, CustomResource, Names, Scale, Service, Version, of
from crdgen.schema import structural_schema
from crdgen.size import size
from crdgen.text import to_yaml

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
