"""A request that a case describes, and the verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """A write of an object.

    Attributes:
        object: the object that is written; None for DELETE.
        old: the stored object; None for CREATE.
        user: the name of the user.
        groups: the groups of the user.
    """

    object: dict[str, Any] | None
    old: dict[str, Any] | None = None
    user: str = ""
    groups: tuple[str, ...] = ()

    @property
    def subject(self) -> dict[str, Any]:
        """Return the object, or the stored object for DELETE."""
        return self.object if self.object is not None else self.old or {}

    @property
    def operation(self) -> str:
        """Return the operation: CREATE, UPDATE or DELETE."""
        return "DELETE" if self.object is None else "CREATE" if self.old is None else "UPDATE"


@dataclass(frozen=True)
class CaseVerdict:
    """The verdict of one judge: a CRD, a policy, or the rules of an installed package.

    Attributes:
        judge: its name in reports, as `widgets.example.com v1`.
        errors: the path of the field, which may be empty, and the message of each error.
        warnings: the warnings.
        unchecked: a sentence for each rule that was not evaluated.
        rules: its rules and constraints, and whether the request violates them.
    """

    judge: str
    errors: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    rules: Mapping[str, bool] = field(default_factory=dict)
