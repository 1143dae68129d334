"""Rules of a class, stored apart from the model so that Pydantic's own schema does not change."""

from typing import Any, Final

_ATTRIBUTE: Final = "__crdgen_rules__"


def declare(declared: type, markers: tuple[Any, ...]) -> None:
    """Put markers on a class, before those that it has."""
    # Decorators are applied from the inside out, and read from the top down.
    setattr(declared, _ATTRIBUTE, (*markers, *vars(declared).get(_ATTRIBUTE, ())))


def rules_of(declared: type) -> tuple[Any, ...]:
    """Return the markers of a class, those of its bases first."""
    return tuple(rule for base in reversed(declared.__mro__) for rule in vars(base).get(_ATTRIBUTE, ()))
