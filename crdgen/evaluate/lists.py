"""Checks of lists, with the uniqueness of sets and of map lists (k8s.io/apiextensions-apiserver, schema/listtype)."""

from collections.abc import Callable
from math import inf
from typing import Any, TypeAlias

from crdgen.evaluate.check import (
    ENOUGH,
    Check,
    Compile,
    Reason,
    Violation,
    identity,
    quick_class,
    quoted,
    under,
    wrong_type,
)
from crdgen.schema import LIST_MAP_KEYS, LIST_TYPE, Schema

Test: TypeAlias = Callable[[list[Any]], list[Violation]]


def list_checker(schema: Schema, compile_: Compile) -> Check:
    """Return the check of a list: its length, its items, and that none is there twice."""
    item = compile_(schema["items"]) if isinstance(schema.get("items"), dict) else None
    quick = quick_class(schema["items"]) if item is not None else None
    lengths, unique = _length(schema), _unique(schema)
    most = max(schema.get("maxItems", inf), ENOUGH)

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, list):
            return wrong_type(value, "array")
        found = [violation for test in lengths for violation in test(value)]
        if len(value) > most:
            return found
        for test in unique:
            found += test(value)
        if item is not None:
            for index, child in enumerate(value):
                if type(child) is quick:
                    continue
                problems = item(child)
                if problems is not None:
                    found += under(index, problems)
                    if len(found) >= ENOUGH:
                        break
        return found or None

    return check


def _length(schema: Schema) -> list[Test]:
    tests: list[Test] = []
    if "minItems" in schema:
        least: int = schema["minItems"]
        text = "must have at least one item" if least == 1 else f"must have at least {least} items"
        tests.append(lambda value: [] if len(value) >= least else [Violation((), Reason.INVALID, value, text)])
    if "maxItems" in schema:
        most: int = schema["maxItems"]
        more = f"must have at most {most} item{'' if most == 1 else 's'}"
        tests.append(lambda value: [] if len(value) <= most else [Violation((), Reason.TOO_MANY, value, more)])
    return tests


def _unique(schema: Schema) -> list[Test]:
    match schema.get(LIST_TYPE):
        case "set":
            return [lambda value: _duplicates(value, quoted)]
        case "map":
            return [_by_keys(tuple(schema[LIST_MAP_KEYS]))]
        case _:
            return []


def _by_keys(keys: tuple[str, ...]) -> Test:
    def check(value: list[Any]) -> list[Violation]:
        if len(value) < 2 or not all(isinstance(item, dict) for item in value):
            return []
        held = [{key: item[key] for key in keys if key in item} for item in value]
        return _duplicates(held, lambda item: ", ".join(f"{key} {quoted(item[key])}" for key in item))

    return check


def _duplicates(keys: list[Any], describe: Callable[[Any], str]) -> list[Violation]:
    """Return one violation for each value that is there more than once, at its second place."""
    first: dict[Any, int] = {}
    told: set[Any] = set()
    found: list[Violation] = []
    for index, key in enumerate(keys):
        known = tuple((name, identity(part)) for name, part in key.items()) if isinstance(key, dict) else identity(key)
        place = first.setdefault(known, index)
        if place != index and known not in told:
            told.add(known)
            message = f"must be unique: [{place}] has {describe(key)} already"
            found.append(Violation((index,), Reason.DUPLICATE, key, message))
    return found
