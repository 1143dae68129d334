"""What a field says in `Annotated[…]` beyond its type. A marker checks itself against the schema that it is put on."""

from crdgen.markers.depth import Depth
from crdgen.markers.duration import Duration
from crdgen.markers.integer import Int32, Int64, Integer
from crdgen.markers.lists import Atomic, MapList, MaxItems, MinItems, SetList
from crdgen.markers.marker import Marker
from crdgen.markers.modeldefault import ModelDefault
from crdgen.markers.open import PreserveUnknown
from crdgen.markers.text import Doc
from crdgen.markers.types import IntOrString, Quantity, Replace, Time

__all__ = [
    "Atomic",
    "Depth",
    "Doc",
    "Duration",
    "Int32",
    "Int64",
    "IntOrString",
    "Integer",
    "MapList",
    "Marker",
    "MaxItems",
    "MinItems",
    "ModelDefault",
    "PreserveUnknown",
    "Quantity",
    "Replace",
    "SetList",
    "Time",
]
