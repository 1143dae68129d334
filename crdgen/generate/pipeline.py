"""The pipeline: runs the stages in order."""

from collections.abc import Collection
from functools import reduce
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import SchemaError as CoreSchemaError

from crdgen.generate.defaults import defaults
from crdgen.generate.errors import SchemaError
from crdgen.generate.generator import Generator
from crdgen.generate.inline import MARKERS, inline
from crdgen.generate.keys import add_parent_rules, keys
from crdgen.generate.keywords import keywords
from crdgen.generate.known import known, ranges
from crdgen.generate.tidy import descriptions, order, policy, tidy
from crdgen.generate.unions import unions
from crdgen.generate.walk import Transform, rewrite
from crdgen.schema import Schema
from crdgen.schema.look import without


def extensions(schema: Schema, path: str) -> Schema:
    """Return the node with its markers applied, in the order in which they are written."""
    result = without(schema, MARKERS)
    for marker in schema.get(MARKERS, ()):
        result = marker.apply(result, path)
    return result


# The stages in order: markers need nodes with a type, defaults are validated after the markers, and descriptions come
# last.
STAGES: Final[tuple[Transform, ...]] = (
    *(keywords, unions, known, keys, extensions, ranges, add_parent_rules, defaults, descriptions),
)


def structural_schema(
    model: type[BaseModel],
    path: str | None = None,
    *,
    limit: int | None = None,
    computed: bool = False,
) -> Schema:
    """Return the structural schema of a model.

    It describes the JSON that the model accepts in strict mode, without Pydantic's coercions (`"3"` for an integer),
    and without the checks of validators written in Python.

    Args:
        model: Any Pydantic model, dataclass or TypedDict.
        path: The name of the model in errors; its class name by default.
        limit: Longest description in characters; None keeps all, 0 drops them. Markers on fields override it.
        computed: Whether to declare computed fields, too, for example for a status, which is written from its model.
            They are not required.

    Raises:
        SchemaError: No structural schema can express the model.
    """
    name = path or str(getattr(model, "__name__", model))
    return order(assemble(model, name, limit=limit, written=name if computed else None))


def assemble(
    model: type[BaseModel],
    path: str,
    *,
    limit: int | None = None,
    written: str | None = None,
    ignored: Collection[str] = (),
) -> Schema:
    """Return the structural schema, with keys not sorted, and without the ignored fields of the model.

    `written` is the path of the part with computed fields.
    """
    inlined = inline(describe(model, path), path, written=written)
    for name in ignored:
        inlined.get("properties", {}).pop(name, None)
    if ignored and "required" in inlined:
        inlined["required"] = [name for name in inlined["required"] if name not in ignored]
    whole = rewrite(inlined, path, lambda node, at: reduce(lambda result, stage: stage(result, at), STAGES, node))
    return tidy(policy(whole, limit), path)


_NOT_DESCRIBED: Final = (
    *(PydanticInvalidForJsonSchema, PydanticUserError, PydanticUndefinedAnnotation, CoreSchemaError),
    *(AttributeError, ImportError, NameError, RecursionError, TypeError),
)


def describe(model: Any, path: str) -> Schema:
    """Return the JSON schema for validation of a model, dataclass or TypedDict, with JSON names and references."""
    is_model = isinstance(model, type) and issubclass(model, BaseModel)
    try:
        generate = model.model_json_schema if is_model else TypeAdapter(model).json_schema
        return dict(generate(mode="validation", by_alias=True, schema_generator=Generator))
    except _NOT_DESCRIBED as error:
        problem = str(getattr(error, "message", error)).partition("\n")[0].rstrip(".")
        is_missing = isinstance(error, ImportError)
        fix = "install the package" if is_missing else "use types that Pydantic supports, defined in the module"
        raise SchemaError(path, problem, fix) from error
    except KeyError as error:
        fix = "write the schema out in its place, or give the field a model as its type"
        raise SchemaError(path, f"`$ref: {error.args[0]}` refers to nothing in the schema of the model", fix) from error
