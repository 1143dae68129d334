"""What rules call, by name; a function is given its target first.

A function that has no form for its arguments raises NoOverload, which happens only for values without a static type.
"""

from collections.abc import Callable
from typing import Any, Final

from crdgen.cel.functions.conversions import CONVERSIONS
from crdgen.cel.functions.formats import FORMATS
from crdgen.cel.functions.lists import LISTS
from crdgen.cel.functions.moments import MOMENTS
from crdgen.cel.functions.network import NETWORK
from crdgen.cel.functions.operators import OPERATORS
from crdgen.cel.functions.overloads import by_type
from crdgen.cel.functions.quantity import QUANTITIES
from crdgen.cel.functions.semver import SEMVER
from crdgen.cel.functions.texts import TEXTS
from crdgen.cel.functions.urls import URLS

__all__ = ["FUNCTIONS"]

_TABLES = (CONVERSIONS, FORMATS, LISTS, MOMENTS, NETWORK, OPERATORS, QUANTITIES, SEMVER, TEXTS, URLS)


def _merged() -> dict[str, Callable[..., Any]]:
    """Names that several types share (`add`, `indexOf`, `ip`) go to the one that the target is of."""
    overloads: dict[str, list[tuple[tuple[type, ...], Callable[..., Any]]]] = {}
    for table in _TABLES:
        for (name, *types), function in table.items():
            overloads.setdefault(name, []).append((tuple(types), function))
    return {name: by_type(found) for name, found in overloads.items()}


FUNCTIONS: Final = _merged()
