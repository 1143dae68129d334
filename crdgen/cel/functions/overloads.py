"""Choosing a function by the types of its arguments."""

from collections.abc import Callable
from typing import Any, TypeAlias

from crdgen.cel.times import Fault
from crdgen.cel.values import NoOverload

#: A function's name, and the type of each of its arguments; the last ones may be left out. `object` is any type.
Table: TypeAlias = dict[tuple[Any, ...], Callable[..., Any]]


def by_type(overloads: list[tuple[tuple[type, ...], Callable[..., Any]]]) -> Callable[..., Any]:
    """Return the function that calls the first overload which takes its arguments."""

    def call(*arguments: Any) -> Any:
        for types, function in overloads:
            if len(types) == len(arguments) and all(map(_is, arguments, types)):
                return function(*arguments)
        raise NoOverload

    return call


def readable(read: Callable[..., Any]) -> Callable[..., bool]:
    """Return the function that tells whether a text can be read so."""

    def tell(*arguments: Any) -> bool:
        try:
            read(*arguments)
        except Fault:
            return False
        return True

    return tell


def _is(value: Any, wanted: type) -> bool:
    # Not isinstance: a bool is no int, and an unsigned integer is none either.
    return wanted is object or type(value) is wanted
