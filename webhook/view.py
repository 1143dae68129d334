"""The typed view of a job's JSON, whole or, where the JSON does not fit the model, of what fits.

A denial names every fault at once, also where the schema rejects some of the object. So rules run on whatever can be
read: a partial view lacks the attributes that are broken, and the plan of the kind (`webhook.plan`) calls no rule that
would read one of them. No rule speaks of a value that the user did not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model

from webhook.path import Path, steps_of

M = TypeVar("M", bound=BaseModel)


def view(model: type[M], value: Any) -> tuple[M, bool]:
    """Return the typed view of `value`, and whether it is whole."""
    try:
        return model.model_validate(value), True
    except ValidationError:
        return _partial(model, value if isinstance(value, Mapping) else {}), False


def readable(parts: Iterable[M], *words: str) -> Iterator[tuple[int, M]]:
    """Yield the parts of which these attributes fit their schema, each with its place.

    A rule that judges each part by itself goes through them so: one broken part does not keep it from the others.
    """
    wanted = frozenset(words)
    for index, part in enumerate(parts):
        if wanted.issubset(part.__dict__):
            yield index, part


def _partial(model: type[M], value: Mapping[str, Any]) -> M:
    part = _empty(model)
    for name, field in model.model_fields.items():
        if (key := json_name(model, name)) in value:
            _read_into(part, name, value[key])
        elif not field.is_required():
            part.__dict__[name] = field.get_default(call_default_factory=True, validated_data={})
    return part


def _read_into(part: BaseModel, name: str, value: Any) -> None:
    """Set one field of a partial view, as far as it can be read."""
    try:
        alone = _alone(type(part), name).model_validate({json_name(type(part), name): value})
        part.__dict__[name] = alone.__dict__[name]
    except ValidationError:
        shape, model = _held(type(part).model_fields[name].annotation)
        if model is None:
            return
        if shape is None and isinstance(value, Mapping):
            part.__dict__[name] = _partial(model, value)
        elif shape is list and isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            part.__dict__[name] = [view(model, one)[0] for one in value]
        elif shape is dict and isinstance(value, Mapping) and all(isinstance(one, Mapping) for one in value.values()):
            part.__dict__[name] = {key: view(model, one)[0] for key, one in value.items()}


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
def json_name(model: type[BaseModel], name: str) -> str:
    """Return what the JSON of a model calls an attribute; one that is no field is called as it is."""
    field = model.model_fields.get(name)
    if field is None:
        return name
    return field.validation_alias if isinstance(field.validation_alias, str) else field.alias or name


def _empty(model: type[M]) -> M:
    """Return an instance without any attribute: `model_construct` would fill the defaults in."""
    part = model.__new__(model)
    for attribute, value in (("__dict__", {}), ("__pydantic_fields_set__", set())):
        object.__setattr__(part, attribute, value)
    for attribute in ("__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(part, attribute, None)
    return part


def model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field of this annotation holds, or None where it holds no single object of a model."""
    shape, model = _held(annotation)
    return model if shape is None else None


def part_of(model: type[BaseModel], attribute: str) -> type[BaseModel] | None:
    """Return the model of the items, or entries, of a field that holds a list or a map; None where it holds none."""
    field = model.model_fields.get(attribute)
    shape, held = _held(field.annotation) if field is not None else (None, None)
    return held if shape is not None else None


def _held(annotation: Any) -> tuple[type | None, type[BaseModel] | None]:
    """Return the model that a field holds: itself (None), in the items of a `list`, or in the entries of a `dict`."""
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            return None, candidate
        if (shape := get_origin(candidate)) in {list, dict}:
            inside = _alternatives(get_args(candidate)[-1])
            return shape, next((one for one in inside if _is_model(one)), None)
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


def opaque(model: type[BaseModel], path: Path | str) -> bool:
    """Tell whether a path of the object leads into what the model holds as plain JSON, as a pod template."""
    current: type[BaseModel] | None = model
    entry: type[BaseModel] | None = None
    for step in steps_of(path)[1:]:
        if entry is not None:
            current, entry = entry, None  # the step is a key of the map
            continue
        if current is None:
            return True
        if isinstance(step, int):
            continue
        field = next((one for name, one in current.model_fields.items() if json_name(current, name) == step), None)
        if field is None:
            return True
        shape, held = _held(field.annotation)
        current, entry = (None, held) if shape is dict else (held, None)
    return False


def without(document: Mapping[str, Any], paths: Iterable[Path | str]) -> dict[str, Any]:
    """Return the object without the values at these paths; the places of list items stay as they are."""
    tree: dict[Any, Any] = {}  # the steps that follow each step; None where a path ends
    for path in paths:
        below = tree
        for step in steps_of(path):
            below = below.setdefault(step, {})
        below[None] = {}
    left_out: dict[str, Any] = _without(document, tree)
    return left_out


def _without(value: Any, tree: Mapping[Any, Any]) -> Any:
    """Return a value without what the paths of a tree lead to."""
    if isinstance(value, Mapping):
        return {
            key: _without(part, tree[key]) if key in tree else part
            for key, part in value.items()
            if None not in tree.get(key, ())
        }
    if isinstance(value, list):
        items: list[Any] = list(value)
        blank = dict if any(isinstance(item, dict) for item in value) else str
        for place in tree.keys() & range(len(value)):
            items[place] = blank() if None in tree[place] else _without(value[place], tree[place])
        return items
    return value
