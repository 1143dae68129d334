"""Defaulting: k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting (algorithm.go, prunenulls.go)."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeAlias

from crdgen.evaluate.check import built
from crdgen.schema import Schema

Default: TypeAlias = Callable[[Any], Any]


def defaulter(schema: Schema) -> Default:
    """Return the function that drops nulls from a value of this schema and sets its defaults."""
    fields, others, items = built(schema, _Field)
    absent = {name: field for name, field in fields.items() if field.has_default}
    if not fields and others is None and items is None:
        return _as_it_is

    def default(value: Any) -> Any:
        if isinstance(value, list) and items is not None:
            return [items.apply(child) for child in value]
        if not isinstance(value, dict):
            return value
        kept = ((key, child, fields.get(key, others)) for key, child in value.items())
        filled = {
            key: field.apply(child) if field else child
            for key, child, field in kept
            if not (field and child is None and field.drops_null)
        }
        return filled | {key: field.fresh() for key, field in absent.items() if key not in value}

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
        return deepcopy(self.default)

    def apply(self, value: Any) -> Any:
        """Return the value as defaulting leaves it."""
        if value is None:
            return None if self.nullable else self.fresh()
        return self.walk(value)


def _as_it_is(value: Any) -> Any:
    return value
