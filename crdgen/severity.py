"""How serious a finding is."""

from enum import StrEnum


class Severity(StrEnum):
    """How serious a finding in a CRD or an object is."""

    #: The API server rejects it, at least with strict decoding, which `kubectl` requests.
    ERROR = "error"
    #: The API server accepts it, but it has no effect, or a surprising effect.
    WARNING = "warning"
