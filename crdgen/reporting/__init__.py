"""What commands found in many objects: where it is, what of it is accepted, and how it is printed.

- `result`: a finding with its place, and the report of a command
- `accepted`: findings that a baseline, settings or a comment accept
- `formats`: a report as text, JSON, SARIF, annotations of GitHub or JUnit
"""

from crdgen.reporting.formats import conclude, entries
from crdgen.reporting.result import Judged, Report, Result, UsageError, count, placed, subject_of
from crdgen.severity import Severity

__all__ = [
    "Judged",
    "Report",
    "Result",
    "Severity",
    "UsageError",
    "conclude",
    "count",
    "entries",
    "placed",
    "subject_of",
]
