"""Objects as lines of YAML: places of fields in them, and differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
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
    wanted = {tuple(path) for path in paths}
    try:
        (manifest,) = read(text.encode(), "object")
    except (UnreadableManifest, ValueError):
        return dict.fromkeys(wanted, (0, 0))
    return {path: place for path, (place, _) in manifest.locate(wanted).items()}


def difference(before: Any, after: Any) -> list[dict[str, str]]:
    """Return the lines that differ between two objects, with some around them; `@` stands for lines left out."""
    old, new = (to_yaml(document).splitlines()[:MOST] for document in (before, after))
    groups = list(SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT))
    result: list[dict[str, str]] = []
    end = 0
    for group in groups:
        if skipped := group[0][1] - end:
            result.append({"sign": "@", "text": f"{skipped} lines"})
        end = group[-1][2]
        for tag, first, last, start, stop in group:
            if tag == "equal":
                result += _signed(" ", old[first:last])
            else:
                result += [*_signed("-", old[first:last]), *_signed("+", new[start:stop])]
    return result


def patched(document: Any, patch: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return what a patch changes in an object, or its operations if it does not apply to what is known of it."""
    if isinstance(document, dict):
        try:
            return difference(document, jsonpatch.apply_patch(document, list(patch)))
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError):
            pass  # a part of the object was left out
    return [_operation(operation) for operation in patch]


def _operation(operation: Mapping[str, Any]) -> dict[str, str]:
    removed = operation.get("op") == "remove"
    value = "" if removed else f": {shown(operation.get('value'))}"
    return {"sign": "-" if removed else "+", "text": f"{operation.get('path')}{value}"}


def _signed(sign: str, lines: Iterable[str]) -> Iterator[dict[str, str]]:
    return ({"sign": sign, "text": line} for line in lines)
