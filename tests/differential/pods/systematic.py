"""Mutations by a walk over the schema: each field of each base Pod is removed, emptied, broken or doubled."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.differential.pods import definitions, values
from tests.differential.pods.bases import BASES
from tests.differential.pods.case import Case, Pod, group_of, written
from tests.differential.pods.definitions import Type
from tests.differential.tables import ABSENT, Steps, changed

Mutation = tuple[Steps, str, Any]

# The fields of a template's metadata that reach the Pod.
_METADATA = ("labels", "annotations")
# Fields that need objects in the cluster, or that a Pod may never have; they have cases written by hand.
_SKIPPED = {"ephemeralContainers"}


def systematic(seed: int, per_field: int, draw_only: int | None = None) -> Iterator[Case]:
    """Yield the cases of the walk, or `draw_only` of them, drawn with the seed.

    Each field gets at most `per_field` drawn values, and all other forms.
    """
    all_mutations: list[tuple[str, Mutation]] = []
    for base, pod in BASES.items():
        all_mutations.extend(
            (base, mutation) for mutation in mutations(pod, random.Random(f"{seed} {base}"), per_field)
        )
    if draw_only is not None:
        all_mutations = random.Random(seed).sample(all_mutations, draw_only)
    for base, (steps, words, value) in all_mutations:
        yield Case(
            group_of(steps), f"{base} {written(steps)} {words}", changed(BASES[base], steps, value), "systematic"
        )


def mutations(pod: Pod, draw: random.Random, per_field: int) -> Iterator[Mutation]:
    """Yield every mutation of one Pod."""
    template = definitions.root()
    for part in ("metadata", "spec"):
        kind = definitions.resolve(template.fields[part])
        yield from _object(pod[part], (part,), kind, draw, per_field)


def _value(value: Any, steps: Steps, kind: Type, draw: random.Random, per_field: int) -> Iterator[Mutation]:
    """Yield mutations of the value at `steps` and of all values below it."""
    yield steps, "absent", ABSENT
    yield steps, "null", None
    wrong = values.WRONG.get(kind.name, ())
    if wrong:
        bad = draw.choice(wrong)
        yield steps, f"of a wrong type: {shown(bad)}", bad
    if kind.name == "object" and isinstance(value, dict):
        if value:
            yield steps, "empty", {}
        yield from _object(value, steps, kind, draw, per_field)
    elif kind.name == "map" and isinstance(value, dict):
        yield from _map(value, steps, kind, draw, per_field)
    elif kind.name == "list" and isinstance(value, list):
        yield from _list(value, steps, kind, draw, per_field)
    else:
        for other in _drawn(_values(steps, kind), draw, per_field):
            if other != value:
                yield steps, f"as {shown(other)}", other


def _object(value: dict[str, Any], steps: Steps, kind: Type, draw: random.Random, per_field: int) -> Iterator[Mutation]:
    for name, schema in sorted(kind.fields.items()):
        if name in _SKIPPED or (steps == ("metadata",) and name not in _METADATA):
            continue
        inner = definitions.resolve(schema)
        if name in value:
            yield from _value(value[name], (*steps, name), inner, draw, per_field)
        else:
            for added in _drawn(_samples((*steps, name), inner), draw, max(2, per_field // 4)):
                yield (*steps, name), f"added as {shown(added)}", added


def _map(value: dict[str, Any], steps: Steps, kind: Type, draw: random.Random, per_field: int) -> Iterator[Mutation]:
    yield steps, "empty", {}
    inner = definitions.resolve(kind.item)
    sample = next(iter(value.values()), "1")
    for key in _drawn(_keys(steps), draw, per_field):
        yield (*steps, key), f"with the key {shown(key)}", sample
    for key in sorted(value):
        yield from _value(value[key], (*steps, key), inner, draw, per_field)


def _list(value: list[Any], steps: Steps, kind: Type, draw: random.Random, per_field: int) -> Iterator[Mutation]:
    yield steps, "empty", []
    yield steps, "with its first item twice", [*value, value[0]]
    yield steps, "turned round", value[::-1]
    yield steps, "with an empty object", [*value, {}]
    if len(json.dumps(value)) < 2000:
        yield steps, "forty times over", value * 40
    inner = definitions.resolve(kind.item)
    for index, item in enumerate(value):
        yield from _value(item, (*steps, index), inner, draw, per_field)


def _values(steps: Steps, kind: Type) -> tuple[Any, ...]:
    """Return the values for a scalar: by the field's name and parent, by its name, or by its type."""
    names = [step for step in steps if isinstance(step, str)]
    field, parent = names[-1], names[-2] if len(names) > 1 else ""
    if kind.name in ("quantity", "boolean") and field != "divisor":
        return values.BY_TYPE[kind.name]
    if steps[-1] != field or parent in values.MAP_KEYS:
        # An item of a list, or an entry of a map, is known by the name of the list or map.
        field, parent = (field, parent) if steps[-1] != field else (parent, names[-3] if len(names) > 2 else "")
    for name in (f"{parent}.{field}", field):
        if name in values.BY_FIELD:
            return values.BY_FIELD[name]
    if kind.name == "integer":
        return values.integers(kind.bits)
    if field in values.NAME_FIELDS:
        return values.NAMES
    return values.BY_TYPE.get(kind.name, values.STRINGS)


def _keys(steps: Steps) -> tuple[str, ...]:
    names = [step for step in steps if isinstance(step, str)]
    return values.MAP_KEYS.get(names[-1], values.MAP_KEYS["resources"])


def _samples(steps: Steps, kind: Type) -> tuple[Any, ...]:
    """Return the values for a missing field."""
    if kind.name == "object":
        return ({}, _filled(steps, kind))
    if kind.name == "map":
        return ({}, {"example.com/a": "1"}, {"": "1"}, {"cpu": "1"})
    if kind.name == "list":
        inner = definitions.resolve(kind.item)
        filled = _filled(steps, inner) if inner.name == "object" else "a"
        return ([], [{}] if inner.name == "object" else [""], [filled])
    return _values(steps, kind)


def _filled(steps: Steps, kind: Type) -> dict[str, Any]:
    """Return an object with a plain value in each scalar field: valid for many types, contradictory for some."""
    filled: dict[str, Any] = {}
    for name, schema in sorted(kind.fields.items()):
        inner = definitions.resolve(schema)
        if inner.name in ("string", "integer", "boolean", "int-or-string"):
            choices = _values((*steps, name), inner)
            plain = [choice for choice in choices if choice not in ("", 0)]
            filled[name] = plain[0]
    return filled


def _drawn(choices: tuple[Any, ...], draw: random.Random, most: int) -> list[Any]:
    return list(choices) if len(choices) <= most else draw.sample(choices, most)


def shown(value: Any) -> str:
    """Return a value as text for a case's title."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"
