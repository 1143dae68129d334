"""The kinds of job: the built-in ones, one folder each, and those of installed packages.

A package adds a kind by the entry point `jobgate.kinds`: its value is a `webhook.Kind`. No other code names a kind.
"""

from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.kinds.vcjob import VCJOB
from jobgate.packages import provided
from webhook import Kind, Registry

__all__ = ["BUILT_IN", "ENTRY_POINT", "installed"]

BUILT_IN: tuple[Kind, ...] = (DIJOB, VCJOB, MXJOB, TORCHJOB)
ENTRY_POINT = "jobgate.kinds"


def installed() -> Registry:
    """Return the built-in kinds and those of installed packages.

    Raises:
        jobgate.packages.Unusable: the kind of a package cannot be loaded, or is none.
        ValueError: two kinds claim one name.
    """
    return Registry((*BUILT_IN, *provided(ENTRY_POINT, Kind)))
