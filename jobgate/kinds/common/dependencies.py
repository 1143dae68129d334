"""Which tasks a task waits for: the model, and the rules of a graph in which every task can start."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from crdgen import Atomic, Doc, Model
from webhook import Path, Rule


class Iteration(StrEnum):
    """How many of the tasks that are named must be there: one of them, or all."""

    ANY = "any"
    ALL = "all"


class DependsOn(Model):
    """The tasks that must be there before the pods of this one are made."""

    name: Annotated[list[str] | None, Atomic, Doc("The names of the tasks that are waited for.")] = None
    iteration: Annotated[
        Iteration | None, Doc("Whether one of these tasks is enough (any), or all are needed (all, as when absent).")
    ] = None

    @property
    def any_suffices(self) -> bool:
        """Whether one of the tasks that are named is enough, where there are several."""
        return self.iteration is Iteration.ANY

    def names(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the names of the tasks waited for, each with its place; `path` is where this stands."""
        for index, name in enumerate(self.name or ()):
            yield path / "name" / index, name


#: The rules, in the order in which a reader wants to know.
dependency_rules: tuple[Rule, ...] = ()

#: The rules of how a gang and its dependencies get on; a kind chooses whether to refuse (`gangs_can_start`).
gang_dependency_rules: tuple[Rule, ...] = ()
