"""What an author writes into models: `Model`, their base, and markers, which say in `Annotated[…]` what a type cannot.

A marker checks itself against the schema that it is put on.
"""

from crdgen.markers.duration import Duration
from crdgen.markers.immutable import Immutable, ImmutableOnceSet
from crdgen.markers.lists import Atomic, AtomicMap, GranularMap, MapList, MaxItems, MinItems, SetList
from crdgen.markers.marker import Depth, Descriptions, Doc, Marker, ModelDefault
from crdgen.markers.model import Model
from crdgen.markers.oneof import at_least_one_of, at_most_one_of, exactly_one_of
from crdgen.markers.rule import Rule, rules
from crdgen.markers.types import (
    EmbeddedResource,
    Int32,
    Int64,
    Integer,
    IntOrString,
    PreserveUnknown,
    Quantity,
    Replace,
    Time,
)

__all__ = [
    "Atomic",
    "AtomicMap",
    "Depth",
    "Descriptions",
    "Doc",
    "Duration",
    "EmbeddedResource",
    "GranularMap",
    "Immutable",
    "ImmutableOnceSet",
    "Int32",
    "Int64",
    "IntOrString",
    "Integer",
    "MapList",
    "Marker",
    "MaxItems",
    "MinItems",
    "Model",
    "ModelDefault",
    "PreserveUnknown",
    "Quantity",
    "Replace",
    "Rule",
    "SetList",
    "Time",
    "at_least_one_of",
    "at_most_one_of",
    "exactly_one_of",
    "rules",
]
