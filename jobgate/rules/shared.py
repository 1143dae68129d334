"""The rules that every kind has: written against tasks and words, and not called where a kind has no such word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.rules.commands import command_rules
from jobgate.rules.dependencies import dependency_rules
from jobgate.rules.gangs import bound_rules, gang_rules
from jobgate.rules.ignored import ignored_field_rules
from jobgate.rules.plugins import plugin_rules
from jobgate.rules.pod_security import pod_security_rules
from jobgate.rules.policies import policy_rules
from jobgate.rules.prerequisites import prerequisite_rules
from jobgate.rules.scheduling import scheduling_rules
from jobgate.rules.tasks import task_rules
from jobgate.rules.templates import pod_template_rules
from webhook import Rule

#: All of them, in the order in which a reader wants to know.
SHARED: Final[tuple[Rule, ...]] = (
    *task_rules,
    *bound_rules,
    *gang_rules,
    *dependency_rules,
    *policy_rules,
    *plugin_rules,
    *prerequisite_rules,
    *command_rules,
    *scheduling_rules,
    *ignored_field_rules,
    *pod_template_rules,
    *pod_security_rules,
)


def shared_rules(instead: Mapping[str, tuple[Rule, ...]] | None = None) -> tuple[Rule, ...]:
    """Return the rules that a kind shares with all others.

    `instead` has by name of a rule what the kind has in its place: its own version, or nothing.

    Raises:
        ValueError: there is no shared rule of that name.
    """
    instead = instead or {}
    unknown = instead.keys() - {rule.name for rule in SHARED}
    if unknown:
        known = ", ".join(rule.name for rule in SHARED)
        raise ValueError(f"no shared rule is named {', '.join(sorted(unknown))}; there are: {known}")
    return tuple(one for rule in SHARED for one in instead.get(rule.name, (rule,)))
