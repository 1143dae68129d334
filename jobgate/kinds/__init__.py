"""The kinds of job: the built-in ones, one folder each, and those of installed packages.

A package adds a kind by the entry point `jobgate.kinds`: its value is what `bind` returns. No other code names a
kind, except the importer and one default of the command line.
"""

from pkgutil import resolve_name
from typing import Final

from jobgate.jobs.kind import JobKind
from jobgate.packages import provided
from webhook import Registry

__all__ = ["ENTRY_POINT", "built_in", "installed"]

ENTRY_POINT: Final = "jobgate.kinds"


# Names, not imports: the models of all kinds take most of a second to import, and many commands need only one kind.
_BUILT_IN: Final = (
    "jobgate.kinds.dijob:DIJOB",
    "jobgate.kinds.vcjob:VCJOB",
    "jobgate.kinds.mxjob:MXJOB",
    "jobgate.kinds.torchjob:TORCHJOB",
)


def built_in() -> tuple[JobKind, ...]:
    """Return the kinds that come with jobgate, in the order in which they are rendered."""
    return tuple(resolve_name(place) for place in _BUILT_IN)


def installed() -> Registry[JobKind]:
    """Return the built-in kinds and those of installed packages.

    Raises:
        jobgate.packages.Unusable: the kind of a package cannot be loaded, or is not a `JobKind`.
        ValueError: two kinds have the same name.
    """
    return Registry((*built_in(), *provided(ENTRY_POINT, JobKind)))
