"""Walk a schema: every node with its path in the model; and the notes that stages leave in nodes."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from crdgen.generate.errors import SchemaErrors
from crdgen.schema import BRANCHES, Schema
from crdgen.schema.look import with_children

Transform: TypeAlias = Callable[[Schema, str], Schema]


def rewrite(schema: Schema, path: str, stage: Transform) -> Schema:
    """Return the schema with a stage applied to every node, children before parents; the input is not changed."""
    errors = SchemaErrors()
    result = _rewrite(schema, path, stage, errors)
    errors.raise_all()
    return result


def _rewrite(schema: Schema, path: str, stage: Transform, errors: SchemaErrors) -> Schema:
    before = len(errors)
    inner = map_children(schema, path, lambda child, at: _rewrite(child, at, stage, errors))
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
# A pair (problem, fix), found by a stage that does not know the path.
PROBLEM: Final = "x-crdgen-problem"
# Other forms of a default: a serializer may write a form that the schema does not accept.
FORMS: Final = "x-crdgen-forms"
# The schema of a map's keys.
KEYS: Final = "x-crdgen-keys"
# The bounds of a duration, for which JSON Schema has no keywords.
BOUNDS: Final = "x-crdgen-bounds"
# The model rejects unknown fields instead of ignoring them; this matters in unions.
CLOSED: Final = "x-crdgen-closed"
# The schemas that a node of several types consists of, one per type.
MIXED: Final = "x-crdgen-mixed"
# The computed fields of a model by JSON names, used only if the model is written.
COMPUTED: Final = "x-crdgen-computed"
# The sentence for the description of a deprecated field.
DEPRECATED: Final = "x-crdgen-deprecated"


_ATTRIBUTE: Final = "__crdgen_rules__"


def declare(class_: type, markers: tuple[Any, ...]) -> None:
    """Add markers to a class, before its existing markers."""
    # Decorators are applied from the inside out, but read from the top down.
    setattr(class_, _ATTRIBUTE, (*markers, *vars(class_).get(_ATTRIBUTE, ())))


def rules_of(class_: type) -> tuple[Any, ...]:
    """Return the markers of a class; markers of base classes come first."""
    return tuple(rule for base in reversed(class_.__mro__) for rule in vars(base).get(_ATTRIBUTE, ()))
