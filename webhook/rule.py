"""A rule: its name, the fields that it is about, and its check; and how rules are called for a valid object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from webhook.cause import Finding, Notice
from webhook.context import Context, UnknownObjects

#: The function of a rule: it yields causes, which deny, and notices, which warn.
Check: TypeAlias = Callable[[Any, Any], Iterable[Notice]]


class Rule(Struct, frozen=True, kw_only=True):
    """One thing that validation checks.

    Attributes:
        name: its name in metrics, logs and the documentation.
        about: why it exists, and where it comes from: its line in the documentation.
        check: yields all findings in an object.
        when: the fields that it is about. It is called if the object has one of them, or always if there are none. A
            field is named by its path of attributes from the spec on (`storage`, or `users.name` for any item), below
            a field of plain JSON by keys, or as `annotations.` with the annotation's key. A field that does not fit its
            schema counts as absent.
        updates: whether it is called for updates only, with the stored object in its context.
    """

    name: str
    about: str
    check: Check
    when: tuple[str, ...] = ()
    updates: bool = False

    def __call__(self, obj: Any, context: Context[Any]) -> Iterable[Notice]:
        """Yield all findings of the rule."""
        return self.check(obj, context)

    def checked(self, finding: object) -> Notice:
        """Return what the rule has yielded, if it is a finding.

        Raises:
            TypeError: it is not. Then the request fails: a mistake in a rule never allows an object.
        """
        if not isinstance(finding, Notice):
            raise TypeError(f"the rule {self.name} must yield a Cause or a Notice, not {type(finding).__name__}")
        return finding


def rule(*when: str, updates: bool = False) -> Callable[[Check], Rule]:
    """Make a rule of the function below, with its name and docstring: `@rule("users")`.

    Args:
        when: the fields that the rule is about. It is called if the object has at least one of them.
        updates: whether the rule is for updates only.

    Raises:
        TypeError: the parentheses are missing.
    """
    if any(callable(field) for field in when):
        raise TypeError(
            "write @rule(…) with parentheses: in them, the fields that the rule is about, if it is about some"
        )

    def decorated(check: Check) -> Rule:
        about = " ".join((check.__doc__ or "").split())
        return Rule(name=getattr(check, "__name__", ""), about=about, check=check, when=when, updates=updates)

    return decorated


def unchecked(error: UnknownObjects, rule: Rule | None = None, obj: Any = None) -> Notice:
    """Return the warning that a rule, or a default, could not look something up: at the field that it is about."""
    return Notice(obj.at(rule.when[0]) if rule and rule.when else "", f"not checked: {error}")


def call_rules(rules: Iterable[Rule], obj: Any, context: Context[Any]) -> Iterator[Finding]:
    """Yield what the rules find in an object (`webhook.Object`) that fits its schema."""
    for each in rules:
        try:
            for finding in each.check(obj, context):
                yield each.name, each.checked(finding)
        except UnknownObjects as error:
            yield each.name, unchecked(error, each, obj)
        if context.spent():  # a rule with long loops also asks by itself
            yield obj.kind.out_of_time()
            break
