"""The kinds: the built-in ones, one folder each, and those of installed packages.

A package adds a kind by the entry point `jobgate.kinds`: its value is what `bind` returns. No other code names a
kind, except the importer, the runner of JobFlows (their jobs are Volcano's) and the command line.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from jobgate.jobs.kind import CustomKind, JobKind
    from jobgate.packages import Provided
    from webhook import Registry

__all__ = ["BUILT_IN", "ENTRY_POINT", "built_in", "installed", "of_packages"]

#: The built-in kinds by apiVersion and kind, in the order in which they are rendered, and where they are. They are
#: imported when they are used: their models take most of a second, and many commands need only one kind.
BUILT_IN: Final = {
    ("diengine.opendilab.org/v2alpha1", "DIJob"): "jobgate.kinds.dijob:DIJOB",
    ("batch.volcano.sh/v1alpha1", "Job"): "jobgate.kinds.vcjob:VCJOB",
    ("mxnet.mlkube.io/v1beta1", "MxJob"): "jobgate.kinds.mxjob:MXJOB",
    ("train.distributed.io/v1alpha1", "TorchJob"): "jobgate.kinds.torchjob:TORCHJOB",
    ("flow.volcano.sh/v1alpha1", "JobFlow"): "jobgate.kinds.vcjob.flow:JOBFLOW",
    ("flow.volcano.sh/v1alpha1", "JobTemplate"): "jobgate.kinds.vcjob.flow:JOBTEMPLATE",
}

ENTRY_POINT: Final = "jobgate.kinds"
#: Folder of the generated schemas.
SCHEMAS: Final = Path(__file__).parent / "schemas"


def built_in() -> tuple[JobKind, ...]:
    """Return the kinds that come with jobgate, in this order, but for those whose objects only create jobs."""
    return tuple(kind for kind in map(resolve_name, BUILT_IN.values()) if kind.creates is None)


def installed() -> Registry[CustomKind]:
    """Return the built-in kinds and those of installed packages; `lacking` names those that cannot be used."""
    from jobgate.packages import usable

    entries = of_packages()
    return _registry(usable(entries), [str(entry) for entry in entries if entry.fault])


def of_packages() -> list[Provided[CustomKind]]:
    """Return the entry points of installed packages; one whose kind has the name of another is unusable."""
    # Not at the top: the command reads only `BUILT_IN` to find out whether a file has a job.
    from jobgate.jobs.kind import CustomKind
    from jobgate.packages import provided

    entries: list[Provided[CustomKind]] = []
    for entry in provided(ENTRY_POINT, CustomKind):
        try:
            _registry(each.value for each in (*entries, entry) if each.value is not None)
            entries.append(entry)
        except ValueError as error:
            entries.append(entry.clashing(f"cannot be used: {error}"))
    return entries


def _registry(kinds: Iterable[CustomKind], lacking: Iterable[str] = ()) -> Registry[CustomKind]:
    """Return the built-in kinds and further ones."""
    from webhook import Registry

    return Registry(kinds, {name: partial(_loaded, at) for name, at in BUILT_IN.items()}, lacking)


def _loaded(place: str) -> JobKind:
    """Return a built-in kind with the schema that `make docs` generated from its models, which takes time."""
    kind: JobKind = resolve_name(place)
    file = SCHEMAS / f"{kind.qualified_plural}.json"
    if file.is_file():  # not yet of a new kind
        kind.schema.use(msgspec.json.decode(file.read_bytes()))  # type: ignore[attr-defined]
    return kind
