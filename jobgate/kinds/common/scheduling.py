"""The rules of what hands a job to its scheduler: queue, scheduler and priority class."""

from __future__ import annotations

from webhook import Rule

#: The rules, in the order in which a reader wants to know.
scheduling_rules: tuple[Rule, ...] = ()
