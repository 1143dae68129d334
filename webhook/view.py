"""The typed view of an object's JSON: a complete view, or a partial one of the fields that fit the model.

A denial names every fault at once, even if the schema rejects a part of the object. So rules also run on partial views:
they lack the attributes that do not fit, reading one raises AttributeError, and the review leaves out what the rule
cannot read (`webhook.explain`). No rule reports a value that the user did not write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model

from webhook.path import Path, steps_of

M = TypeVar("M", bound=BaseModel)

#: An attribute of a model.
FieldOf: TypeAlias = tuple[type[BaseModel], str]


class Unreadable(AttributeError):
    """A property was read whose fields do not fit the schema.

    Attributes:
        fields: the fields that would have to fit.
    """

    def __init__(self, *fields: FieldOf) -> None:
        super().__init__(", ".join(f"{model.__name__}.{attribute}" for model, attribute in fields))
        self.fields = frozenset(fields)


def view(model: type[M], value: Any) -> tuple[M, bool]:
    """Return the typed view of a value, and whether it is complete."""
    try:
        return model.model_validate(value), True
    except ValidationError:
        return _partial(model, value if isinstance(value, Mapping) else {}), False


def unreadable(error: AttributeError) -> frozenset[FieldOf]:
    """Return the fields of a partial view that were read but do not fit; none if the error has another reason."""
    if isinstance(error, Unreadable):
        return error.fields
    part = error.obj
    if not isinstance(part, BaseModel):
        return frozenset()
    model = type(part)
    missing = model.model_fields.keys() - part.__dict__.keys()
    if error.name not in missing and not hasattr(model, str(error.name)):
        return frozenset()
    # A property of the model fails instead of the field that it reads. Which one is not known: any of the missing ones.
    return frozenset((model, attribute) for attribute in missing & {error.name} or missing)


def lacks(part: object, fields: frozenset[FieldOf]) -> bool:
    """Tell whether a part, or an object inside it that is no item of a list, lacks one of these fields."""
    if not isinstance(part, BaseModel):
        return False
    present = part.__dict__
    if any(attribute not in present for model, attribute in fields if type(part) is model):
        return True
    return any(lacks(value, fields) for value in present.values() if isinstance(value, BaseModel))


def with_absent(part: M, attributes: Sequence[str]) -> M:
    """Return the partial view with a field set to None if it does not fit; the same view if it fits.

    A list or a map of objects stays unreadable: None would look as if there were no items.
    """
    if not attributes:
        return part
    name, *rest = attributes
    if name not in part.__dict__:
        shape, model = held_by(type(part), name)
        if shape is not None and model is not None:
            return part
        value = None
    elif rest and isinstance(inner := part.__dict__[name], BaseModel):
        value = with_absent(inner, rest)
        if value is inner:
            return part
    else:
        return part
    return _with(part, {name: value})


def _with(part: M, values: Mapping[str, Any]) -> M:
    copied = _empty(type(part))
    copied.__dict__.update(part.__dict__)
    copied.__dict__.update(values)
    return copied


def with_all_absent(part: M, but: Collection[str] = ()) -> M:
    """Return the partial view with all fields that do not fit set to None, except lists and maps of objects.

    The items of lists and the attributes `but` stay as they are, and so does a complete view.
    """
    values: dict[str, Any] = {}
    for attribute in type(part).model_fields:
        if attribute in but:
            continue
        if attribute not in part.__dict__:
            shape, model = held_by(type(part), attribute)
            if shape is None or model is None:
                values[attribute] = None
        elif isinstance(inner := part.__dict__[attribute], BaseModel):
            absent = with_all_absent(inner)
            if absent is not inner:
                values[attribute] = absent
    return _with(part, values) if values else part


def missing_fields(part: BaseModel, path: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the path of each field that a partial view lacks, and whether it holds a list or a map of objects.

    Fields in the items of lists are not yielded.
    """
    for attribute in type(part).model_fields:
        at = path / json_name(type(part), attribute)
        if attribute not in part.__dict__:
            shape, model = held_by(type(part), attribute)
            yield at, shape is not None and model is not None
        elif isinstance(inner := part.__dict__[attribute], BaseModel):
            yield from missing_fields(inner, at)


def held_by(model: type[BaseModel], attribute: str) -> tuple[type | None, type[BaseModel] | None]:
    """Return what a field holds: the shape (list, dict, or None for a single value), and the model of its objects."""
    return _held(model.model_fields[attribute].annotation)


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
        elif shape is list and isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
            part.__dict__[name] = [view(model, item)[0] for item in value]
        elif shape is dict and isinstance(value, Mapping) and all(isinstance(item, Mapping) for item in value.values()):
            part.__dict__[name] = {key: view(model, item)[0] for key, item in value.items()}


@cache
def _alone(model: type[BaseModel], name: str) -> type[BaseModel]:
    """Return a model of one field of `model`, to read it even if other fields do not fit."""
    field = model.model_fields[name]
    # The base that the kind's models share decides how strictly values are read.
    base = next(
        ancestor for ancestor in model.__mro__[1:] if issubclass(ancestor, BaseModel) and not ancestor.model_fields
    )
    definition: dict[str, Any] = {name: (field.annotation, field)}
    alone: type[BaseModel] = create_model(f"{model.__name__}.{name}", __base__=base, **definition)
    return alone


@cache
def json_name(model: type[BaseModel], name: str) -> str:
    """Return the name of a model's attribute in JSON; an attribute that is not a field keeps its name."""
    field = model.model_fields.get(name)
    if field is None:
        return name
    return field.validation_alias if isinstance(field.validation_alias, str) else field.alias or name


def _empty(model: type[M]) -> M:
    """Return an instance without any attribute. `model_construct` would set the defaults."""
    part = model.__new__(model)
    for attribute, value in (("__dict__", {}), ("__pydantic_fields_set__", set())):
        object.__setattr__(part, attribute, value)
    for attribute in ("__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(part, attribute, None)
    return part


def _held(annotation: Any) -> tuple[type | None, type[BaseModel] | None]:
    """Return where an annotation has a model (None: directly; in the items of a `list` or a `dict`), and the model."""
    for candidate in _alternatives(annotation):
        if _is_model(candidate):
            return None, candidate
        if (shape := get_origin(candidate)) in {list, dict}:
            inside = _alternatives(get_args(candidate)[-1])
            return shape, next(filter(_is_model, inside), None)
    return None, None


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types of an annotation, without `Annotated`, each member of a union by itself."""
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
    """Tell whether a path of the object leads into a field that is plain JSON in the model, such as a pod template."""
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
        field = next((info for name, info in current.model_fields.items() if json_name(current, name) == step), None)
        if field is None:
            return True
        shape, held = _held(field.annotation)
        current, entry = (None, held) if shape is dict else (held, None)
    return False


def without(document: Mapping[str, Any], paths: Iterable[Path | str]) -> dict[str, Any]:
    """Return the object without the values at these paths. Items of lists become empty, so that no index changes."""
    tree: dict[Any, Any] = {}  # the steps after each step, and None if a path ends there
    for path in paths:
        below = tree
        for step in steps_of(path):
            below = below.setdefault(step, {})
        below[None] = {}
    reduced: dict[str, Any] = _without(document, tree)
    return reduced


def _without(value: Any, tree: Mapping[Any, Any]) -> Any:
    """Return a value without the parts that the paths of a tree lead to."""
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
