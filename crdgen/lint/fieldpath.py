"""Paths into a schema: of rules and selectable fields, `.spec.limits['a.b'].size`, and `kubectl`'s JSONPath."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final

from crdgen.decode.objectmeta import METADATA
from crdgen.schema import EMBEDDED, PRESERVE, Schema

# A step of a rule's path: a name, plain or in quotes.
_NAME: Final = re.compile(r"\.(?P<name>[^.\[\]]+)|\['(?P<quoted>(?:[^'\\]|\\[abfnrtv'\\])*)'\]", re.DOTALL)
# A step of kubectl's JSONPath: a name, plain or in quotes; items by index, slice, wildcard or filter; or `..`.
_STEP: Final = re.compile(
    r"\.(?P<name>(?:\\.|[^.\[\]\\()'\"\s{}*])+)"
    r"|\[(?P<quote>['\"])(?P<quoted>[^'\"]*)(?P=quote)\]"
    r"|(?P<items>\[(?:-?\d*(?::-?\d*){0,2}|\?\(.*?\))\])"
    r"|\[[^\[\]]*\]|\.\*|\.(?=\.)"
)


class PathError(ValueError):
    """An invalid path; the message says why."""


def resolve(path: str, schema: Schema, *, brackets: bool = True) -> tuple[list[str], Schema | None]:
    """Return the names on a path and the schema at its end; None if it leads into a map of untyped values.

    Follows k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go (ValidFieldPath).

    Raises:
        PathError: The path is invalid, or does not lead to a declared field.
    """
    names: list[str] = []
    current: Schema | None = schema
    for name in _steps(path, brackets=brackets):
        if current is None:
            # The API server crashes here and closes the connection.
            raise PathError(f"goes on to {name} below a map whose values have no schema")
        if current.get("properties"):
            if name not in current["properties"]:
                raise PathError(undeclared(name, current["properties"]))
            current = current["properties"][name]
        elif "additionalProperties" in current:
            values = current["additionalProperties"]
            current = values if isinstance(values, dict) else None
        else:
            raise PathError(f"leads to {name} below something that declares no fields")
        names.append(name)
    return names, current


def undeclared(name: str, names: Iterable[str]) -> str:
    """Return the error for an undeclared name, with the name that was probably meant."""
    known = sorted(names)
    near = get_close_matches(name, known, 1)
    hint = f": did you mean {near[0]}?" if near else f": declared are {', '.join(known)}" if 0 < len(known) < 9 else ""
    return f"leads to {name}, which is not declared{hint}"


def column(path: str, schema: Schema) -> Schema | None:
    """Return the schema of a column's value; None if it is unknown.

    Raises:
        PathError: The path is invalid, or leads to an undeclared field.
    """
    current: Schema | None = schema | {"properties": schema.get("properties", {}) | _COMMON}
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise PathError(f"cannot be read from {path[position:]} on")
        position = step.end()
        current = None if current is None else _child(current, step)
    return current


_COMMON: Final[dict[str, Schema]] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": METADATA}


def _child(schema: Schema, step: re.Match[str]) -> Schema | None:
    name = step["name"] if step["quoted"] is None else step["quoted"]
    properties: dict[str, Schema] = schema.get("properties", {})
    values = schema.get("additionalProperties")
    if name is not None:
        name = re.sub(r"\\(.)", r"\1", name)
        if name in properties:
            return properties[name]
        if values is not None or "type" not in schema or schema.get(PRESERVE) or schema.get(EMBEDDED):
            return values if isinstance(values, dict) else None
        if schema["type"] == "array":
            raise PathError(f"has a list before {name}: write the index of an item")
        raise PathError(undeclared(name, properties))
    items: Any = schema.get("items")
    if isinstance(items, dict):
        return items
    if step["items"] and schema.get("type") not in {None, "array"}:
        raise PathError(f"takes an item of what is no list: {step['items']}")
    return None


def _steps(path: str, *, brackets: bool) -> Iterator[str]:
    position = 0
    while position < len(path):
        step = _NAME.match(path, position)
        if step is None:
            raise PathError(f"cannot be read from {path[position:]} on")
        if step["name"] is None and not brackets:
            raise PathError("must not have brackets")
        yield step["name"] or step["quoted"].replace("\\'", "'").replace("\\\\", "\\")
        position = step.end()
