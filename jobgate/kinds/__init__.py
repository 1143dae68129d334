"""The kinds of job: the built-in ones, one folder each, and those of installed packages.

A package adds a kind by the entry point `jobgate.kinds`: its value is what `bind` returns. No other code names a
kind, except the importer and one default of the command line.
"""

from functools import partial
from pkgutil import resolve_name
from typing import Final

from jobgate.jobs.kind import JobKind
from jobgate.names import KINDS
from jobgate.packages import provided
from webhook import Registry

__all__ = ["ENTRY_POINT", "built_in", "installed"]

ENTRY_POINT: Final = "jobgate.kinds"
#: How to load each built-in kind: their models take most of a second to import, and many commands need only one kind.
_LATER: Final = {name: partial(resolve_name, place) for name, place in KINDS.items()}


def built_in() -> tuple[JobKind, ...]:
    """Return the kinds that come with jobgate, in the order in which they are rendered."""
    return tuple(Registry((), _LATER))


def installed() -> Registry[JobKind]:
    """Return the built-in kinds and those of installed packages.

    Raises:
        jobgate.packages.Unusable: the kind of a package cannot be loaded, or is not a `JobKind`.
        ValueError: two kinds have the same name.
    """
    return Registry(provided(ENTRY_POINT, JobKind), _LATER)
