"""Decides which default factories may be called: those that always return the same value."""

import builtins
import dis
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from decimal import Decimal
from enum import Enum
from functools import partial
from types import FunctionType
from typing import Any, Final

from pydantic import BaseModel

_CONTAINERS: Final = (
    *(dict, list, set, frozenset, tuple, OrderedDict, Counter, defaultdict, deque),
    *(str, int, float, bool, bytes, Decimal),
)
# Instructions that look at nothing but constants, or call. What else a function does is not asked: it is refused.
_PURE: Final = (
    *("LOAD_CONST", "BUILD_", "LIST_", "SET_UPDATE", "DICT_", "PRECALL", "CALL", "KW_NAMES", "PUSH_NULL"),
    *("RESUME", "RETURN_", "NOP", "COPY_FREE_VARS", "CACHE", "UNARY_NEGATIVE", "CALL_KW"),
)


def is_pure(factory: Callable[..., Any]) -> bool:
    """Return whether a factory is a container, a model class, or a function that only builds these from constants."""
    if isinstance(factory, partial):
        return is_pure(factory.func)
    if isinstance(factory, type):
        return (
            factory in _CONTAINERS or is_dataclass(factory) or (issubclass(factory, BaseModel) and _is_plain(factory))
        )
    return isinstance(factory, FunctionType) and factory.__code__.co_argcount == 0 and _only_builds(factory)


def _is_plain(model: type[BaseModel]) -> bool:
    """Return whether a model without arguments is the same each time."""
    factories = (field.default_factory for field in model.model_fields.values() if field.default_factory is not None)
    return all(is_pure(factory) for factory in factories)


def _only_builds(function: FunctionType) -> bool:
    """A lambda such as `lambda: ["a"]` or `lambda: Retry(limit=3)`."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    before = None
    for instruction in dis.get_instructions(function):
        match instruction.opname:
            case "LOAD_ATTR" if before and before.opname == "LOAD_GLOBAL":  # a member of an enum
                held = _named(before.argval, function.__globals__)
                if not (isinstance(held, type) and issubclass(held, Enum) and instruction.argval in held.__members__):
                    return False
            case "LOAD_GLOBAL":
                held = _named(instruction.argval, function.__globals__)
                if not (isinstance(held, type) and (is_pure(held) or issubclass(held, Enum))):
                    return False
            case "LOAD_DEREF":
                try:
                    held = cells[instruction.argval].cell_contents
                except (KeyError, ValueError):  # the name is not bound yet
                    return False
                if not (isinstance(held, type) and is_pure(held)):
                    return False
            case name if not name.startswith(_PURE):
                return False
        before = instruction
    return True


def _named(name: str, names: Mapping[str, Any]) -> Any:
    return names.get(name, getattr(builtins, name, None))
