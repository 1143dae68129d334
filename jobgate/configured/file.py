"""Reads files with entries. Errors name line, field and what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jobgate.configured.entry import Entry, Model
from webhook.path import join

#: The parser in C is ten times as fast, where it is installed.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Names of union members that pydantic puts into the places of errors.
_UNIONS: Final = ("constrained-str", "int", "tuple", "Count", "TaskName")


class InvalidEntry(Exception):
    """A file that does not describe kinds; each line of the message is a fault."""


def read_entries(text: bytes | str, name: str) -> list[Entry]:
    """Return the entries in a file, one a document.

    Args:
        text: the content of the file.
        name: the name of the file, for messages.

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
    if not values:
        raise InvalidEntry(f"{name}: contains no kind: begin with group, versions, kind and plural")
    entries: list[Entry] = []
    faults: list[str] = []
    for node, value in zip(nodes, values, strict=True):
        try:
            entries.append(Entry.model_validate(value))
        except ValidationError as error:
            faults += dict.fromkeys(_faults(error, node, name))
    if faults:
        raise InvalidEntry("\n".join(faults))
    return entries


def _faults(error: ValidationError, node: Any, name: str) -> Iterator[str]:
    errors = error.errors(include_url=False, include_context=False)
    for fault in errors:
        location = [step for step in fault["loc"] if not (isinstance(step, str) and _is_union(step))]
        # Of a value that fits none of several types, only the faults of the type that it has are of use.
        if any(_steps(other) != location and _steps(other)[: len(location)] == location for other in errors):
            continue
        line, column = _mark(node, location)
        yield f"{name}:{line}:{column}: {join(location) or 'the entry'}: {_message(fault, location)}"


def _steps(fault: ErrorDetails) -> list[int | str]:
    return [step for step in fault["loc"] if not (isinstance(step, str) and _is_union(step))]


def _is_union(step: str) -> bool:
    return step.startswith(_UNIONS) or "[" in step


def _message(fault: ErrorDetails, location: Sequence[int | str]) -> str:
    if fault["type"] == "extra_forbidden":
        close = get_close_matches(str(location[-1]), _FIELDS, n=1)
        return f"unknown field{f': did you mean {close[0]}?' if close else ''}"
    if fault["type"] == "missing":
        return "is required"
    if fault["type"] == "string_type":
        return "must be a string: enclose it in quotes"
    if fault["type"] == "string_pattern_mismatch" and "\\s" in fault["msg"]:
        return "must be a path, as .spec.template from the object on, or template from the task on"
    return fault["msg"].removeprefix("Value error, ").replace("Input should", "should")


def _mark(node: Any, location: Sequence[int | str]) -> tuple[int, int]:
    """Return line and column of a field, or of the nearest one around it that exists."""
    for step in location:
        if isinstance(node, yaml.MappingNode):
            entry = next((entry for entry in node.value if entry[0].value == step), None)
            if entry is None:
                break
            key, value = entry
            node = value if step != location[-1] else key
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        else:
            break
    return node.start_mark.line + 1, node.start_mark.column + 1


def _all_fields(model: type[Model]) -> Iterator[str]:
    yield from (field.alias or name for name, field in model.model_fields.items())
    for each in Model.__subclasses__():
        yield from (field.alias or name for name, field in each.model_fields.items())


#: The names of all fields, for misspelt ones.
_FIELDS: Final = sorted({*_all_fields(Entry)})
