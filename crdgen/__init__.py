"""Pydantic models in, CustomResourceDefinitions out.

Write models with `Model`, say what Python types cannot with the markers, name the kind with `CustomResource`, and
`crd()` gives the definition that an API server accepts, or a `SchemaError` that names the field and the fix.
"""

from crdgen.definition import crd
from crdgen.errors import SchemaError
from crdgen.lint import Finding, check_structural
from crdgen.markers import (
    Atomic,
    Depth,
    Doc,
    Duration,
    Int32,
    Int64,
    IntOrString,
    MapList,
    MaxItems,
    MinItems,
    ModelDefault,
    PreserveUnknown,
    Quantity,
    SetList,
    Time,
)
from crdgen.model import Model
from crdgen.podtemplate import OpenPodTemplate, PodTemplate, Volumes
from crdgen.resource import Column, CustomResource, Names, Version
from crdgen.schema import structural_schema
from crdgen.size import size
from crdgen.text import to_yaml

__all__ = [
    "Atomic",
    "Column",
    "CustomResource",
    "Depth",
    "Doc",
    "Duration",
    "Finding",
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
    "SchemaError",
    "SetList",
    "Time",
    "Version",
    "Volumes",
    "check_structural",
    "crd",
    "size",
    "structural_schema",
    "to_yaml",
]
