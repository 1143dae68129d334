"""The rule of priorities: which tasks of a gang are scheduled first."""

from __future__ import annotations

from webhook import Rule

#: The rules, in the order in which a reader wants to know.
priority_rules: tuple[Rule, ...] = ()
