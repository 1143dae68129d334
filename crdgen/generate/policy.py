"""How much of each description stays. It is the one stage that goes from the top down."""

import re
from typing import Final

from crdgen.generate.walk import map_children
from crdgen.schema import Schema
from crdgen.schema.sealed import Sealed

# Left in a node by a marker: the limit for what is below it.
POLICY: Final = "x-crdgen-descriptions"
_SENTENCE: Final = re.compile(r"[.!?](?=\s|$)|\n|$")


def policy(schema: Schema, limit: int | None) -> Schema:
    """Return the schema with each description cut to so many characters; None keeps it, 0 drops it."""
    if isinstance(schema, Sealed):
        return schema
    result = {key: value for key, value in schema.items() if key != POLICY}
    below = schema.get(POLICY, limit)
    if limit is not None and "description" in result:
        text = shortened(result.pop("description"), limit)
        result |= {"description": text} if text else {}
    return map_children(result, "", lambda child, _: policy(child, below))


def shortened(text: str, limit: int) -> str:
    """Return as many whole sentences as fit into the limit; where the first does not, its words, and an ellipsis."""
    if len(text) <= limit:
        return text
    ends = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= limit]
    if ends:
        return text[: ends[-1]].rstrip()
    words = text[: max(limit, 1) - 1].rpartition(" ")[0] or text[: max(limit, 1) - 1]
    return f"{words.rstrip(' ,;:')}…" if limit else ""
