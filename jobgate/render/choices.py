"""What an installation decides, as the parts of a tree ask for it."""

from __future__ import annotations

from collections.abc import Iterable

from jobgate.render.installation import Rotation
from jobgate.render.tree import AllOf, AnyOf, Equal, Given, Not, Word, any_of
from webhook import Kind

NAMESPACE = Given("namespace")

#: Our pods run in the cluster.
RUNS = Not(Given("external_name"))

#: We rotate the certificate ourselves, by which workload, or another does.
WATCHES = Equal(Given("rotation"), Rotation.WATCH)
SCHEDULES = Equal(Given("rotation"), Rotation.CRONJOB)
ROTATES = AllOf((RUNS, AnyOf((WATCHES, SCHEDULES))))
CERT_MANAGER = Equal(Given("rotation"), Rotation.CERT_MANAGER)


def kind_on(kind: Kind) -> Word:
    """Return whether a kind is on."""
    return Given("kinds", kind.qualified_plural)


def some_on(kinds: Iterable[Kind]) -> Word:
    """Return whether one of these kinds is on.

    Raises:
        ValueError: there is none.
    """
    return any_of(kind_on(kind) for kind in kinds)


def plugin_on(name: str) -> Word:
    """Return whether a plugin is on."""
    return Given("plugins", name)
