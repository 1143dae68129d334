"""Defaulting: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting (algorithm.go, prunenulls.go)."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, TypeAlias

from crdgen.evaluate.check import CONTAINERS
from crdgen.schema import Schema

Default: TypeAlias = Callable[[Any], Any]

_DROPPED: Final = object()


def defaulter(schema: Schema) -> Default:
    """Return the function that drops nulls from a value of this schema and sets its defaults."""
    fields = {name: _Field(child) for name, child in schema.get("properties", {}).items()}
    absent = {name: field for name, field in fields.items() if field.has_default}
    extra = schema.get("additionalProperties")
    others = _Field(extra) if isinstance(extra, dict) else None
    items = _Field(schema["items"]) if isinstance(schema.get("items"), dict) else None
    if not fields and others is None and items is None:
        return _as_it_is

    def default(value: Any) -> Any:
        if isinstance(value, dict):
            return _object(value, fields, absent, others)
        if isinstance(value, list) and items is not None:
            return _list(value, items)
        return value

    return default


class _Field:
    """What defaulting must know of one field: its own default, and the function for what is below it."""

    __slots__ = ("default", "drops_null", "has_default", "nullable", "walk")

    def __init__(self, schema: Schema) -> None:
        self.walk = defaulter(schema)
        self.nullable = bool(schema.get("nullable"))
        self.has_default = schema.get("default") is not None
        self.default = self.walk(schema.get("default"))
        self.drops_null = not self.nullable and not self.has_default

    def fresh(self) -> Any:
        """Return the default, with the defaults below it, as a value of the caller's own."""
        return deepcopy(self.default) if isinstance(self.default, CONTAINERS) else self.default

    def apply(self, value: Any) -> Any:
        """Return the value as defaulting leaves it."""
        if value is None:
            return None if self.nullable else self.fresh()
        return self.walk(value) if isinstance(value, CONTAINERS) else value


def _object(
    value: dict[str, Any], fields: dict[str, _Field], absent: dict[str, _Field], others: _Field | None
) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, child in value.items():
        if child is not None and not isinstance(child, CONTAINERS):
            continue
        field = fields.get(key, others)
        if field is not None:
            filled = _DROPPED if child is None and field.drops_null else field.apply(child)
            if filled is not child:
                changes[key] = filled
    for key, field in absent.items():
        if key not in value:
            changes[key] = field.fresh()
    if not changes:
        return value
    return {key: child for key, child in (value | changes).items() if child is not _DROPPED}


def _list(values: list[Any], items: _Field) -> list[Any]:
    result = values
    for index, child in enumerate(values):
        filled = items.apply(child)
        if filled is not child:
            if result is values:
                result = list(values)
            result[index] = filled
    return result


def _as_it_is(value: Any) -> Any:
    return value
