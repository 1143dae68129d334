"""Models of whole objects: which of their fields are the kind's own, and which are Kubernetes'."""

from dataclasses import is_dataclass
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from crdgen.generate.notes import rules_of
from crdgen.markers.rule import rules

# What every object has; the API server knows their schema.
_COMMON: Final = frozenset({"apiVersion", "kind", "metadata"})


def is_described(value: Any) -> bool:
    """Return whether a value is a class whose fields Pydantic describes: a model, a dataclass or a TypedDict."""
    return isinstance(value, type) and (issubclass(value, BaseModel) or is_dataclass(value) or is_typeddict(value))


def spec_of(model: type[Any]) -> type[BaseModel] | None:
    """Return the model of the field `spec`, if there is one: then the model is that of a whole object."""
    return part(model, "spec")


def part(model: type[Any], name: str) -> type[BaseModel] | None:
    """Return the model that a field of this JSON name has, or may have beside null; None where it has none."""
    return _model(_annotations(model).get(name)) if issubclass(model, BaseModel) else None


def looks_whole(model: type[Any]) -> list[str]:
    """Return the fields that whole objects have and specs have not, if there are two of them or more."""
    declared = _annotations(model)
    found = [str(name) for name in ("apiVersion", "kind", "metadata") if name in declared]
    return found if len(found) > 1 else []


def _annotations(model: type[Any]) -> dict[str, Any]:
    """Return what a class says of its fields, by their JSON names."""
    if not issubclass(model, BaseModel):
        return dict(getattr(model, "__annotations__", {}))
    return {json_name(name, field): field.annotation for name, field in model.model_fields.items()}


def own(model: type[BaseModel], kind: str) -> type[BaseModel]:
    """Return a model with the fields of a whole object that are not Kubernetes', and the same rules and docstring."""
    fields: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in model.model_fields.items()
        if json_name(name, field) not in _COMMON
    }
    made = create_model(
        kind, __config__=model.model_config, __doc__=model.__doc__, __module__=model.__module__, **fields
    )
    return rules(*rules_of(model))(made)


def json_name(python_name: str, field: FieldInfo) -> str:
    """Return what a field is called in JSON."""
    alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
    return alias or python_name


def _model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is Annotated:
        return _model(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        members = [member for member in get_args(annotation) if member is not type(None)]
        return _model(members[0]) if len(members) == 1 else None
    return None
