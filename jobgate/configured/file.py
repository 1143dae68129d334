"""Reads files with entries. Errors name line, field and what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

import yaml
from pydantic import ValidationError

from jobgate.configured.entry import Entry, Model
from webhook.path import join

#: The parser in C is ten times as fast, if it is installed.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: The names of all fields, for misspelt ones.
_FIELDS: Final = [field.alias or name for part in Model.__subclasses__() for name, field in part.model_fields.items()]
_ADVICE: Final = {
    "missing": "is required",
    "string_type": "must be a string: enclose it in quotes",
    "string_pattern_mismatch": "must be a path, as .spec.template from the object on, or template from the task on",
}


class InvalidEntry(Exception):
    """A file that does not describe kinds; each line of the message is a fault."""


def read_entries(text: bytes | str, name: str) -> list[Entry]:
    """Return the entries in a file, one a document; `name` is that of the file, for messages.

    Raises:
        InvalidEntry: the file is not YAML, or an entry is invalid.
    """
    try:
        nodes = [node for node in yaml.compose_all(text, _LOADER) if node is not None]
        values = [value for value in yaml.load_all(text, _LOADER) if value is not None]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise InvalidEntry(f"{place}: is not YAML: {getattr(error, 'problem', None) or error}") from None
    entries: list[Entry] = []
    faults = [] if values else [f"{name}: contains no kind: begin with group, versions, kind and plural"]
    for node, value in zip(nodes, values, strict=True):
        try:
            entries.append(Entry.model_validate(value))
        except ValidationError as error:
            faults += dict.fromkeys(_faults(error, node, name))
    if faults:
        raise InvalidEntry("\n".join(faults))
    return entries


def _faults(error: ValidationError, node: Any, name: str) -> Iterator[str]:
    found = [(_steps(fault["loc"], node), fault) for fault in error.errors(include_url=False, include_context=False)]
    for steps, fault in found:
        # Of a value that fits none of several types, only the faults inside it are of use.
        if any(other != steps and other[: len(steps)] == steps for other, _ in found):
            continue
        line, column = _mark(node, steps)
        message = _ADVICE.get(
            fault["type"], fault["msg"].removeprefix("Value error, ").replace("Input should", "should")
        )
        if fault["type"] == "string_pattern_mismatch" and "\\s" not in fault["msg"]:
            message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            close = get_close_matches(str(steps[-1]), _FIELDS, n=1)
            message = f"unknown field{f': did you mean {close[0]}?' if close else ''}"
        yield f"{name}:{line}:{column}: {join(steps) or 'the entry'}: {message}"


def _steps(location: tuple[int | str, ...], node: Any) -> list[int | str]:
    """Return the place of a fault without the names of types that pydantic tried there, which no key has."""
    known = {*_FIELDS, *(key.value for key, _ in _entries(node))}
    return [step for step in location if isinstance(step, int) or step in known]


def _entries(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and values of all maps in a YAML document."""
    for part in node.value if isinstance(node, yaml.CollectionNode) else ():
        if isinstance(node, yaml.MappingNode):
            yield part
        yield from _entries(part[1] if isinstance(node, yaml.MappingNode) else part)


def _mark(node: Any, steps: list[int | str]) -> tuple[int, int]:
    """Return line and column of a field, or of the nearest one around it that exists."""
    mark = node.start_mark
    for step in steps:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        elif isinstance(node, yaml.MappingNode):
            key, node = next((entry for entry in node.value if entry[0].value == step), (None, None))
            mark = mark if key is None else key.start_mark
    return mark.line + 1, mark.column + 1
