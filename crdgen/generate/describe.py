"""Generates the JSON schema of a Pydantic model, with defaults as JSON."""

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import SchemaError as CoreSchemaError

from crdgen.generate.errors import SchemaError
from crdgen.generate.generator import Generator
from crdgen.schema import Schema


def describe(model: Any, path: str) -> Schema:
    """Return the model's JSON schema for what it accepts, names as in JSON, references kept.

    Args:
        model: A Pydantic model, or another type that Pydantic describes: a dataclass, a TypedDict.
        path: What errors call it.
    """
    if not (isinstance(model, type) and issubclass(model, BaseModel)) and hasattr(model, "__fields__"):
        raise SchemaError(path, "is a model of Pydantic v1", "derive it from `pydantic.BaseModel` of Pydantic v2")
    if model is BaseModel:
        raise SchemaError(path, "BaseModel itself has no fields", "derive a model from it")
    try:
        return _described(model)
    except (PydanticInvalidForJsonSchema, PydanticUserError, PydanticUndefinedAnnotation) as error:
        problem = error.message.partition("\n")[0].rstrip(".")
        raise SchemaError(path, problem, "use types that Pydantic supports, defined in the module") from error
    except ImportError as error:
        raise SchemaError(path, f"one of its types needs another package: {error}", "install it") from error
    except (CoreSchemaError, NameError, RecursionError, TypeError) as error:
        problem = f"Pydantic cannot describe it: {str(error).partition(chr(10))[0]}"
        raise SchemaError(path, problem, "use types that Pydantic supports") from error


def _described(model: Any) -> Schema:
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model.model_json_schema(mode="validation", by_alias=True, schema_generator=Generator)
    return TypeAdapter(model).json_schema(mode="validation", by_alias=True, schema_generator=Generator)
