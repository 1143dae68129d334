"""A rule: its name, the fields that it is about, and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from webhook.cause import Notice
from webhook.context import Context

#: What a rule calls for an object: it yields causes, which deny, and notices, which warn.
Check: TypeAlias = Callable[[Any, Any], Iterable[Notice]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that validation checks.

    Attributes:
        name: its name in metrics, logs and the documentation.
        about: why it exists, and where it comes from: its line in the documentation.
        check: yields all that it finds in an object.
        when: the fields without which it has nothing to say: it is called if the object has one of them; always, if
            there are none. A field is named by its path of attributes from the spec on (`queue`, `tasks.replicas`: that
            of any item), below a field of plain JSON by keys, or as `annotations.` with the annotation's key. A field
            that does not fit its schema counts as absent.
        updates: whether it is called for updates only, with the stored object in its context.
    """

    name: str
    about: str
    check: Check
    when: tuple[str, ...] = ()
    updates: bool = False

    def __call__(self, obj: Any, context: Context[Any]) -> Iterable[Notice]:
        """Yield all that the rule finds."""
        return self.check(obj, context)


def rule(*when: str, updates: bool = False) -> Callable[[Check], Rule]:
    """Make a rule of the function below, with its name and docstring: `@rule("queue")`.

    Args:
        when: the fields of which the object must have at least one for the rule to be called.
        updates: whether the rule is for updates only.

    Raises:
        TypeError: the parentheses are missing.
    """
    if any(callable(field) for field in when):
        raise TypeError("write @rule(…) with parentheses, and in them the fields without which it has nothing to say")

    def decorated(check: Check) -> Rule:
        about = " ".join((check.__doc__ or "").split())
        return Rule(name=getattr(check, "__name__", ""), about=about, check=check, when=when, updates=updates)

    return decorated
