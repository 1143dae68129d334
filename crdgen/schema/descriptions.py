"""Descriptions, one line a paragraph."""

import re
from inspect import cleandoc

from crdgen.schema.walk import Schema


def descriptions(schema: Schema, _path: str) -> Schema:
    """Return the node with its description unwrapped, or without one where it is empty."""
    text = schema.get("description")
    if text is None:
        return schema
    rest = {key: value for key, value in schema.items() if key != "description"}
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", cleandoc(text)))
    unwrapped = "\n".join(paragraph for paragraph in paragraphs if paragraph)
    return rest | {"description": unwrapped} if unwrapped else rest
