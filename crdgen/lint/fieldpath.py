"""Paths into a schema, as rules and selectable fields write them: `.spec.limits['a.b'].size`."""

import re
from collections.abc import Iterator
from typing import Final

from crdgen.schema import Schema

_TOKEN: Final = re.compile(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class PathError(ValueError):
    """What is wrong with a path."""


def resolve(path: str, schema: Schema, *, brackets: bool = True) -> tuple[list[str], Schema | None]:
    """Return the names on the path and the schema of its end; None where a map says nothing of its values.

    Follows k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go (ValidFieldPath).

    Raises:
        PathError: The path is none, or leads to no declared field.
    """
    names: list[str] = []
    current: Schema | None = schema
    for name in _steps(path, brackets=brackets):
        if current is None:
            # The API server does not look where it goes here, falls over and closes the connection.
            raise PathError(f"goes on to {name} below a map whose values have no schema")
        if current.get("properties"):
            if name not in current["properties"]:
                raise PathError(f"{name} is no declared field")
            current = current["properties"][name]
        elif "additionalProperties" in current:
            values = current["additionalProperties"]
            current = values if isinstance(values, dict) else None
        else:
            raise PathError(f"{name} is below something that declares no fields")
        names.append(name)
    return names, current


def _steps(path: str, *, brackets: bool) -> Iterator[str]:
    tokens = iter(_TOKEN.findall(path))
    for part in tokens:
        if part == ".":
            name = next(tokens, None)
            if name is None:
                raise PathError("ends with a dot")
            yield name
        elif part == "[" and brackets:
            name = next(tokens, "")
            if len(name) < 2 or name[0] != "'" or name[-1] != "'":
                raise PathError("wants a name in single quotes between brackets")
            yield _unescaped(name[1:-1])
            if next(tokens, None) != "]":
                raise PathError("has a bracket that is not closed")
        elif part == "[":
            raise PathError("must not have brackets")
        else:
            raise PathError(f"must begin with a dot: .{part}")


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise PathError(f"has the unknown escape {match[0]}")
        return _ESCAPES[match[1]]

    return _ESCAPED.sub(plain, text)
