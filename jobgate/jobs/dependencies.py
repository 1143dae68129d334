"""The field with the tasks that a task waits for."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from crdgen import Atomic, Doc, MaxItems, Model
from jobgate.limits import ENTRIES_LIMIT
from webhook import Path


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
        """Whether the task waits for any of several tasks, not for all."""
        return self.iteration is Iteration.ANY

    def names(self, path: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield the path, the name, and the name as written, of each task to wait for; here both names are equal."""
        for index, name in enumerate(self.name or ()):
            yield path / "name" / index, name, name
