"""The rules that all kinds share. A rule about a field is not called for kinds that do not have the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.rules.dependencies import dependency_rules
from jobgate.rules.elastic import elastic_rules
from jobgate.rules.gangs import bound_rules, gang_rules
from jobgate.rules.ignored import ignored_field_rules
from jobgate.rules.plugins import plugin_rules
from jobgate.rules.pod_security import pod_security_rules
from jobgate.rules.policies import command_is_known, policy_rules
from jobgate.rules.prerequisites import prerequisite_rules
from jobgate.rules.scheduling import scheduling_rules
from jobgate.rules.tasks import task_rules
from jobgate.rules.templates import pod_template_rules
from webhook import Rule

#: All shared rules, in the order of the documentation.
SHARED: Final[tuple[Rule, ...]] = (
    *task_rules,
    *bound_rules,
    *elastic_rules,
    *gang_rules,
    *dependency_rules,
    *policy_rules,
    *plugin_rules,
    *prerequisite_rules,
    command_is_known,
    *scheduling_rules,
    *ignored_field_rules,
    *pod_template_rules,
    *pod_security_rules,
)


def shared_rules(instead: Mapping[str, tuple[Rule, ...]] | None = None) -> tuple[Rule, ...]:
    """Return the shared rules for a kind.

    `instead` maps the name of a rule to the kind's own rules that replace it; an empty tuple leaves it out.

    Raises:
        ValueError: there is no shared rule of that name.
    """
    instead = instead or {}
    unknown = instead.keys() - {rule.name for rule in SHARED}
    if unknown:
        known = ", ".join(rule.name for rule in SHARED)
        raise ValueError(f"no shared rule is named {', '.join(sorted(unknown))}; there are: {known}")
    return tuple(chosen for rule in SHARED for chosen in instead.get(rule.name, (rule,)))
