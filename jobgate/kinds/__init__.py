"""The kinds of job: the built-in ones, one folder each, and those of installed packages.

A package adds a kind by the entry point `jobgate.kinds`: its value is a `webhook.Kind`. No other code names a kind.
"""

from importlib.metadata import entry_points

from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.kinds.vcjob import VCJOB
from webhook import Kind, Registry

__all__ = ["BUILT_IN", "ENTRY_POINT", "installed"]

BUILT_IN: tuple[Kind, ...] = (DIJOB, VCJOB, MXJOB, TORCHJOB)
ENTRY_POINT = "jobgate.kinds"


def installed() -> Registry:
    """Return the built-in kinds and those of installed packages.

    Raises:
        TypeError: an entry point is no kind.
        ValueError: two kinds claim one name.
    """
    return Registry((*BUILT_IN, *_of_packages()))


def _of_packages() -> tuple[Kind, ...]:
    kinds = []
    for entry in entry_points(group=ENTRY_POINT):
        kind = entry.load()
        if not isinstance(kind, Kind):
            raise TypeError(f"the entry point {entry.name} of {ENTRY_POINT} is {entry.value}, which is no webhook.Kind")
        kinds.append(kind)
    return tuple(kinds)
