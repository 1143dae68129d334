"""Descriptions, one line a paragraph, and what is taken where the type does not say it."""

import re
from inspect import cleandoc

from crdgen.schema.notes import DEPRECATED
from crdgen.schema.taken import taken
from crdgen.schema.walk import Schema


def descriptions(schema: Schema, _path: str) -> Schema:
    """Return the node with its description unwrapped, or without one where it is empty.

    What a node of several types takes, and that a field is deprecated, are lines of their own after the author's words.
    """
    paragraphs = re.split(r"\n\s*\n", cleandoc(schema.get("description") or ""))
    lines = [" ".join(paragraph.split()) for paragraph in paragraphs]
    lines += [says for says in (taken(schema), schema.get(DEPRECATED, "")) if says not in lines]
    unwrapped = "\n".join(line for line in lines if line)
    rest = {key: value for key, value in schema.items() if key not in {"description", DEPRECATED}}
    return rest | {"description": unwrapped} if unwrapped else rest
