"""Kinds of job that others define, described by a few lines of YAML instead of models.

    from jobgate.configured import configured, read_entries

    (entry,) = read_entries(Path("rayclusters.yaml").read_bytes(), "rayclusters.yaml")
    kind = configured(entry)  # a JobKind: every shared rule works for it

- `entry`: the format of the file; `file`: reads it
- `tasks`: the tasks and fields of an object, as an entry describes them
- `kind`, `schema`, `rules`, `binding`: the kind of an entry
- `catalogue`: the entries that come with jobgate, one file each
- `discover`: a first entry for each CRD with pod templates
"""

from jobgate.configured.binding import configured, installable, versions_of
from jobgate.configured.catalogue import catalogued, named_in_catalogue, names
from jobgate.configured.entry import Entry
from jobgate.configured.file import InvalidEntry, read_entries
from jobgate.configured.kind import ConfiguredKind

__all__ = [
    "ConfiguredKind",
    "Entry",
    "InvalidEntry",
    "catalogued",
    "configured",
    "installable",
    "named_in_catalogue",
    "names",
    "read_entries",
    "versions_of",
]
