"""Markers act on the node that they are put on."""

from crdgen.schema.inline import MARKERS
from crdgen.schema.walk import Schema


def extensions(schema: Schema, path: str) -> Schema:
    """Return the node as its markers want it, in the order in which they are written.

    Raises:
        SchemaError: When a marker does not fit the field.
    """
    result = {key: value for key, value in schema.items() if key != MARKERS}
    for marker in schema.get(MARKERS, ()):
        result = marker.apply(result, path)
    return result
