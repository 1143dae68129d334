"""The field by which a task waits for other tasks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from crdgen import Atomic, Doc, MaxItems, Model
from jobgate.names import ENTRIES_LIMIT
from webhook import Path, readable


class Iteration(StrEnum):
    """Whether to wait for any of the named tasks, or for all of them."""

    ANY = "any"
    ALL = "all"


class DependsOn(Model):
    """Tasks to wait for before the pods of this task are created."""

    name: Annotated[list[str] | None, Atomic, MaxItems(ENTRIES_LIMIT), Doc("Names of the tasks to wait for.")] = None
    iteration: Annotated[Iteration | None, Doc("Wait for any of these tasks or for all of them. Defaults to all.")] = (
        None
    )

    @property
    def any_suffices(self) -> bool:
        """Whether one of the tasks that are named is enough, where there are several."""
        return self.iteration is Iteration.ANY

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the tasks waited for: the place, and the name twice: as it is used, and as it is written."""
        for _, one in readable([self], "name"):
            for index, name in enumerate(one.name or ()):
                yield path / "name" / index, name, name
