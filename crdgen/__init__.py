"""Generate CustomResourceDefinitions from Pydantic models.

`crd(of(Model, group="example.com", version="v1"))` returns a definition that API servers accept, or raises a
`SchemaError` that names the field and the fix. It takes any Pydantic model; `Model` is as strict as the API server.

Markers in `Annotated[…]` express what Python types cannot:

- how server-side apply merges lists and maps: `MapList`, `SetList`, `Atomic`, `GranularMap`, `AtomicMap`
- types of Kubernetes: `EmbeddedResource`, `core_type("Toleration")` and `pod_template("1.30")`, as in
  `Annotated[dict[str, Any], EmbeddedResource]`. `Quantity`, `IntOrString`, `Time`, `PodTemplate` and `Volumes` are
  types and need no `Annotated`. `PreserveUnknown` keeps fields that the schema does not list
- rules in CEL: `ValidationRule`, `Immutable`, `ImmutableOnceSet`. The decorator `rules` adds rules to a whole model,
  also `exactly_one_of`, `at_most_one_of` and `at_least_one_of`. `escape` escapes a JSON name for CEL
- descriptions: `Doc`, and `Descriptions` for their length

A `CustomResource` adds what models do not contain: `Names`, a `Version` for each version with its `Column`s, `Scale`
and selectable fields, and a `Conversion` between versions.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crdgen.escaping import escape as escape
    from crdgen.generate.errors import SchemaError as SchemaError
    from crdgen.generate.pipeline import structural_schema as structural_schema
    from crdgen.lint import Finding as Finding
    from crdgen.lint import check_structural as check_structural
    from crdgen.markers.lists import Atomic as Atomic
    from crdgen.markers.lists import AtomicMap as AtomicMap
    from crdgen.markers.lists import GranularMap as GranularMap
    from crdgen.markers.lists import MapList as MapList
    from crdgen.markers.lists import MaxItems as MaxItems
    from crdgen.markers.lists import MinItems as MinItems
    from crdgen.markers.lists import SetList as SetList
    from crdgen.markers.marker import Depth as Depth
    from crdgen.markers.marker import Descriptions as Descriptions
    from crdgen.markers.marker import Doc as Doc
    from crdgen.markers.marker import ModelDefault as ModelDefault
    from crdgen.markers.model import Model as Model
    from crdgen.markers.rule import Immutable as Immutable
    from crdgen.markers.rule import ImmutableOnceSet as ImmutableOnceSet
    from crdgen.markers.rule import ValidationRule as ValidationRule
    from crdgen.markers.rule import at_least_one_of as at_least_one_of
    from crdgen.markers.rule import at_most_one_of as at_most_one_of
    from crdgen.markers.rule import exactly_one_of as exactly_one_of
    from crdgen.markers.rule import rules as rules
    from crdgen.markers.types import Duration as Duration
    from crdgen.markers.types import EmbeddedResource as EmbeddedResource
    from crdgen.markers.types import Int32 as Int32
    from crdgen.markers.types import Int64 as Int64
    from crdgen.markers.types import IntOrString as IntOrString
    from crdgen.markers.types import PreserveUnknown as PreserveUnknown
    from crdgen.markers.types import Quantity as Quantity
    from crdgen.markers.types import Time as Time
    from crdgen.podtemplate import OpenPodTemplate as OpenPodTemplate
    from crdgen.podtemplate import PodTemplate as PodTemplate
    from crdgen.podtemplate import Volumes as Volumes
    from crdgen.podtemplate import core_type as core_type
    from crdgen.podtemplate import pod_template as pod_template
    from crdgen.podtemplate import volumes as volumes
    from crdgen.resource.definition import crd as crd
    from crdgen.resource.resource import Column as Column
    from crdgen.resource.resource import Conversion as Conversion
    from crdgen.resource.resource import CustomResource as CustomResource
    from crdgen.resource.resource import Names as Names
    from crdgen.resource.resource import Scale as Scale
    from crdgen.resource.resource import Service as Service
    from crdgen.resource.resource import Version as Version
    from crdgen.resource.resource import of as of
    from crdgen.resource.size import size as size
    from crdgen.resource.text import to_yaml as to_yaml

# Each name is imported on first use: models need no linter, and the linter needs no generator.
_NAMES_BY_MODULE = {
    "escaping": "escape",
    "generate.errors": "SchemaError",
    "generate.pipeline": "structural_schema",
    "lint": "Finding check_structural",
    "markers.lists": "Atomic AtomicMap GranularMap MapList MaxItems MinItems SetList",
    "markers.marker": "Depth Descriptions Doc ModelDefault",
    "markers.model": "Model",
    "markers.rule": "Immutable ImmutableOnceSet ValidationRule at_least_one_of at_most_one_of exactly_one_of rules",
    "markers.types": "Duration EmbeddedResource Int32 Int64 IntOrString PreserveUnknown Quantity Time",
    "podtemplate": "OpenPodTemplate PodTemplate Volumes core_type pod_template volumes",
    "resource.resource": "Column Conversion CustomResource Names Scale Service Version of",
    "resource.definition": "crd",
    "resource.size": "size",
    "resource.text": "to_yaml",
}
_MODULE_BY_NAME = dict(sorted((name, module) for module, names in _NAMES_BY_MODULE.items() for name in names.split()))
__all__ = list(_MODULE_BY_NAME)


def __getattr__(name: str) -> Any:
    """Import an exported name."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"crdgen.{_MODULE_BY_NAME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
