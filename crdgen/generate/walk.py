"""Walking a schema: every node, with its path in the model."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crdgen.generate.errors import SchemaErrors
from crdgen.schema import BRANCHES, Schema
from crdgen.schema.look import with_children

Transform: TypeAlias = Callable[[Schema, str], Schema]


def rewrite(schema: Schema, path: str, stage: Transform) -> Schema:
    """Return the schema with every node rewritten, children before their parents; the input is not changed."""
    errors = SchemaErrors()
    result = _rewritten(schema, path, stage, errors)
    errors.raise_all()
    return result


def _rewritten(schema: Schema, path: str, stage: Transform, errors: SchemaErrors) -> Schema:
    before = len(errors)
    inner = map_children(schema, path, lambda child, at: _rewritten(child, at, stage, errors))
    if len(errors) == before:
        with errors.collecting():
            return stage(inner, path)
    return schema


def map_children(schema: Schema, path: str, function: Transform) -> Schema:
    """Return a shallow copy of the node, with the function applied to each direct child."""
    result = with_children(schema, lambda child, step: function(child, path + step))
    if KEYS in schema:
        result[KEYS] = function(schema[KEYS], f"{path} (its keys)")
    if "prefixItems" in schema:
        result["prefixItems"] = [function(child, f"{path}[{at}]") for at, child in enumerate(schema["prefixItems"])]
    for keyword in BRANCHES:
        if keyword in schema:
            result[keyword] = [function(child, path) for child in schema[keyword]]
    return result


PREFIX: Final = "x-crdgen-"
# A pair (problem, fix), found where the path is not known.
PROBLEM: Final = "x-crdgen-problem"
# Other forms of a default, for a serializer may write what the schema does not take.
FORMS: Final = "x-crdgen-forms"
# The schema of a map's keys.
KEYS: Final = "x-crdgen-keys"
# The bounds of a duration, which JSON schema has no words for.
BOUNDS: Final = "x-crdgen-bounds"
# Unknown fields are rejected by the model, and not only ignored; of meaning in a union.
CLOSED: Final = "x-crdgen-closed"
# The one-type schemas that a node of several types was made of.
MIXED: Final = "x-crdgen-mixed"
# The computed fields of a model, by their JSON names: of use only where it is written, and not read.
COMPUTED: Final = "x-crdgen-computed"
# The sentence of a deprecated field, for its description.
DEPRECATED: Final = "x-crdgen-deprecated"


_ATTRIBUTE: Final = "__crdgen_rules__"


def declare(declared: type, markers: tuple[Any, ...]) -> None:
    """Put markers on a class, before those that it has."""
    # Decorators are applied from the inside out, and read from the top down.
    setattr(declared, _ATTRIBUTE, (*markers, *vars(declared).get(_ATTRIBUTE, ())))


def rules_of(declared: type) -> tuple[Any, ...]:
    """Return the markers of a class, those of its bases first."""
    return tuple(rule for base in reversed(declared.__mro__) for rule in vars(base).get(_ATTRIBUTE, ()))
