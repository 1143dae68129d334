"""Templates of Helm, which are taken for manifests: they become some when they are rendered."""

import re
from collections.abc import Mapping
from typing import Any, Final

from crdgen.schema.look import mapping

# An action of Go's text/template: a value, a text, a comment, or a word and what it is about. Of YAML's mappings in
# braces none begins so.
_ACTION: Final = re.compile(rb"\{\{-?\s*(?:[.$\"`(]|/\*|[A-Za-z]+(?:\s+[^:\s]|\s*-?\}\}))")


def template_at(text: bytes, line: int) -> int | None:
    """Return the line of an action, counted from 1, that broke the YAML at a line: this one, or the one before it.

    Further away it may be a part of a description, which breaks nothing, as in quotes.
    """
    lines = text.split(b"\n")
    return next((number for number in (line, line - 1) if 0 < number <= len(lines) and _acts(lines[number - 1])), None)


def _acts(line: bytes) -> bool:
    found = _ACTION.search(line)
    before = line[: found.start()] if found else b""
    return found is not None and not (before.count(b'"') % 2 or before.count(b"'") % 2)


def names_a_template(manifest: Mapping[str, Any]) -> bool:
    """Tell whether what an object is called is still to be filled in: in quotes an action is a text like any other."""
    named = (mapping(manifest, "metadata").get("name"), mapping(manifest, "spec").get("group"))
    return any(isinstance(name, str) and _ACTION.search(name.encode("utf-8", "replace")) for name in named)
