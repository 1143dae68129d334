"""Twins: what CEL can say of a default or a rule. The installation renders admission policies from them.

A twin is declared above its function: `@says(Fill(…))` above a default, `@says(Fault(…))` below the `@rule(…)` of a
rule. A policy never does more than the function: a `Fill` adds what the default adds, and a `Fault` is also one of the
rule. It may do less. So a default also says, by `Need`, which jobs it may change beyond its fills; these still go to
the webhook. If a default of a kind has no twin, all its jobs do.

Expressions use `object`, in a task also `task` and `at` (its index or key), in a container also `container` and
`index`. In a `Fault`, `$(name)` is a field by the name that rules use: `$(min_available)`, or `$(tasks.replicas)`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from jobgate.jobs.kind import CustomKind

Function = TypeVar("Function", bound=Callable[..., Any])

#: The attribute of a function with its twin.
_SAID: Final = "said"


class Place(StrEnum):
    """What an expression is about: the job, each task, each main container or each container of the templates."""

    JOB = "object"
    TASK = "task"
    CONTAINER = "container"
    ANY_CONTAINER = "any container"


class Fill(Struct, frozen=True):
    """A field that the policy sets where it is absent.

    Attributes:
        place: the objects that get the field.
        path: the field, from there on; `ports.-` appends to a list.
        value: its value.
        when: what must also hold.
        need: whether the default may add something to this part, if it does not only what the policy does; a job with
            such a part goes to the webhook.
    """

    place: Place
    path: str
    value: str
    when: str = "true"
    need: str = ""


class Need(Struct, frozen=True):
    """A condition for jobs that only the webhook can default."""

    place: Place
    when: str


class Fault(Struct, frozen=True):
    """A fault that the policy denies; its message is the description of the rule.

    Attributes:
        field: the field, by the name that rules use, or `metadata.name`; `tasks.*` is each task.
        when: whether the field has the fault, if it is there; `$(it)` is the field.
    """

    field: str
    when: str = "true"


Said: TypeAlias = Fill | Need | Fault
#: A twin, or a function that returns it for a kind.
Twin: TypeAlias = Said | Callable[["CustomKind"], Said]


def lacks_container(name: str) -> str:
    """Return the condition that the template of a task has no main container of this name."""
    named = f'container.?name.orValue("") == "{name}"'
    return f"!task.template.?spec.?containers.orValue([]).exists(container, {named})"


def says(*twins: Twin) -> Callable[[Function], Function]:
    """Declare the twins of a default or a rule; with none, the schema has the same default."""

    def marked(function: Function) -> Function:
        setattr(function, _SAID, twins)
        return function

    return marked


def said_by(function: object) -> tuple[Twin, ...] | None:
    """Return the twins of a default or a rule; None if CEL cannot say it."""
    twins: tuple[Twin, ...] | None = getattr(getattr(function, "check", function), _SAID, None)
    return twins
