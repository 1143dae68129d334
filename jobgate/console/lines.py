"""Objects as lines of YAML: places of fields in them, and differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import Any, Final

import jsonpatch

from crdgen import to_yaml
from crdgen.reading import UnreadableManifest, read
from webhook.text import shown

#: Lines around each difference that are shown, and most lines that are compared.
CONTEXT: Final = 3
MOST: Final = 5000


def places(text: str, paths: Iterable[Sequence[str | int]]) -> dict[tuple[str | int, ...], tuple[int, int]]:
    """Return line and column, from 1, of each path in the YAML of an object; a missing field is where it would be."""
    try:
        (manifest,) = read(text.encode(), "object")
    except (UnreadableManifest, ValueError):
        return {}
    return {path: place for path, (place, _) in manifest.locate(set(map(tuple, paths))).items()}


def difference(before: Any, after: Any) -> list[dict[str, str]]:
    """Return the lines that differ between two objects, with some around them; `@` says at which line they begin."""
    old, new = (to_yaml(document).splitlines()[:MOST] for document in (before, after))
    return [
        {"sign": line[0], "text": f"line {line.split()[2][1:].split(',')[0]}" if line[0] == "@" else line[1:]}
        for line in [*unified_diff(old, new, n=CONTEXT, lineterm="")][2:]
    ]


def patched(document: Any, patch: Sequence[Any]) -> list[dict[str, str]]:
    """Return what a patch changes in an object, or its operations if it does not apply to what is known of it."""
    if isinstance(document, dict):
        try:
            return difference(document, jsonpatch.apply_patch(document, patch))
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError):
            pass  # a part of the object was left out
    return [_operation(operation) for operation in patch if isinstance(operation, Mapping)]


def _operation(operation: Mapping[str, Any]) -> dict[str, str]:
    removed = operation.get("op") == "remove"
    value = "" if removed else f": {shown(operation.get('value'))}"
    return {"sign": "-" if removed else "+", "text": f"{operation.get('path')}{value}"}
