"""Values of a strategy outside of a test: so many, and always the same ones for a seed."""

from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


def drawn(strategy: SearchStrategy[T], count: int, start: int) -> list[T]:
    """Return up to so many values: fewer, where there are not as many.

    Raises:
        hypothesis.errors.Unsatisfiable: the strategy gives none.
    """
    values: list[T] = []

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(strategy)
    def keep(value: T) -> None:
        values.append(value)

    keep()
    return values
