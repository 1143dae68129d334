"""The typed view of a job's JSON, whole or, where the JSON does not fit the model, of what fits.

A denial names every fault at once, also where the schema refuses some of the object. So rules run on whatever can be
read: a partial view lacks the attributes that are broken, and a rule that reads one of them ends there. What it had
found before counts, and no rule speaks of a value that the user did not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model

from webhook.path import steps_of

M = TypeVar("M", bound=BaseModel)
P = TypeVar("P")


def view(model: type[M], value: Any) -> tuple[M, bool]:
    """Return the typed view of `value`, and whether it is whole."""
    try:
        return model.model_validate(value), True
    except ValidationError:
        return _partial(model, value if isinstance(value, Mapping) else {}), False


def readable(parts: Iterable[P], *words: str) -> Iterator[tuple[int, P]]:
    """Yield the parts of which these attributes can be read, each with its place.

    A rule that judges each part by itself goes through them so: one broken part does not keep it from the others. A
    rule that needs them all, as a sum does, reads them directly, and ends where one is broken.
    """
    for index, part in enumerate(parts):
        try:
            for word in words:
                getattr(part, word)
        except AttributeError as error:
            if not unreadable(error):
                raise
        else:
            yield index, part


def unreadable(error: AttributeError) -> bool:
    """Tell whether an error comes from reading a field that a partial view lacks, and not from a mistake in a rule."""
    return isinstance(error.obj, BaseModel) and error.name in type(error.obj).model_fields


def _partial(model: type[M], value: Mapping[str, Any]) -> M:
    part = _empty(model)
    for name, field in model.model_fields.items():
        if (key := _json_name(model, name)) in value:
            _read_into(part, name, value[key])
        elif not field.is_required():
            part.__dict__[name] = field.get_default(call_default_factory=True, validated_data={})
    return part


def _read_into(part: BaseModel, name: str, value: Any) -> None:
    """Set one field of a partial view, as far as it can be read."""
    try:
        alone = _alone(type(part), name).model_validate({_json_name(type(part), name): value})
        part.__dict__[name] = alone.__dict__[name]
    except ValidationError:
        annotation = type(part).model_fields[name].annotation
        inner, item = _models(annotation)
        if inner and isinstance(value, Mapping):
            part.__dict__[name] = _partial(inner, value)
        elif item and isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
            part.__dict__[name] = [view(item, entry)[0] for entry in value]


@cache
def _alone(model: type[BaseModel], name: str) -> type[BaseModel]:
    """Return a model of one field of `model`, to read it where others are broken."""
    field = model.model_fields[name]
    # How strictly values are read is the business of the base that the kind's models share.
    base = next(one for one in model.__mro__[1:] if issubclass(one, BaseModel) and not one.model_fields)
    definition: dict[str, Any] = {name: (field.annotation, field)}
    alone: type[BaseModel] = create_model(f"{model.__name__}.{name}", __base__=base, **definition)
    return alone


@cache
def _json_name(model: type[BaseModel], name: str) -> str:
    field = model.model_fields[name]
    return field.validation_alias if isinstance(field.validation_alias, str) else field.alias or name


def _empty(model: type[M]) -> M:
    """Return an instance without any attribute: `model_construct` would fill the defaults in."""
    part = model.__new__(model)
    for attribute, value in (("__dict__", {}), ("__pydantic_fields_set__", set())):
        object.__setattr__(part, attribute, value)
    for attribute in ("__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(part, attribute, None)
    return part


def _models(annotation: Any) -> tuple[type[BaseModel] | None, type[BaseModel] | None]:
    """Return the model that a field holds, and the model that the items of its list are, where it is such a field."""
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            return candidate, None
        if get_origin(candidate) is list:
            items = (one for argument in get_args(candidate) for one in _alternatives(argument))
            return None, next((one for one in items if _is_model(one)), None)
    return None, None


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation may be, behind `Annotated` and unions."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for argument in get_args(annotation):
            yield from _alternatives(argument)
    else:
        yield annotation


def _is_model(candidate: Any) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def opaque(model: type[BaseModel], path: str) -> bool:
    """Tell whether a path of the object leads into what the model holds as plain JSON, as a pod template."""
    steps = iter(steps_of(path)[1:])
    current: type[BaseModel] | None = model
    for step in steps:
        if current is None:
            return True
        if isinstance(step, int):
            continue
        field = next((one for name, one in current.model_fields.items() if _json_name(current, name) == step), None)
        if field is None:
            return True
        inner, item = _models(field.annotation)
        current = inner or item
    return False


def without(document: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return the object without the values at these paths; the places of list items stay as they are."""
    copy: dict[str, Any] = dict(document)
    copied = {id(copy)}
    blanks: dict[int, type] = {}
    for path in paths:
        *way, last = steps_of(path) or [""]
        container: Any = copy
        for step in way:
            below = container[step] if _holds(container, step) else None
            if not isinstance(below, dict | list):
                container = None
                break
            if id(below) not in copied:
                below = below.copy()
                copied.add(id(below))
                container[step] = below
            container = below
        if _holds(container, last):
            if isinstance(container, list) and isinstance(last, int):
                if id(container) not in blanks:
                    blanks[id(container)] = dict if any(isinstance(item, dict) for item in container) else str
                container[last] = blanks[id(container)]()
            else:
                del container[last]
    return copy


def _holds(container: Any, step: str | int) -> bool:
    if isinstance(container, dict):
        return step in container
    return isinstance(container, list) and isinstance(step, int) and step < len(container)
