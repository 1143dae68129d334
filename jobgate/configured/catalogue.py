"""The entries that come with jobgate. An entry is read when its kind appears, or is named: others cost nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

from jobgate.configured.binding import configured
from jobgate.configured.entry import Entry
from jobgate.configured.file import read_entries
from jobgate.configured.kind import ConfiguredKind
from jobgate.jobs.kind import JobKind
from webhook import Registry

_FOLDER: Final = files(__package__).joinpath("catalogue")
_SUFFIX: Final = ".yaml"
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_GROUP: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,252})")


def names() -> list[str]:
    """Return the names of the entries, as `<plural>.<group>`."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.iterdir() if file.name.endswith(_SUFFIX))


@cache
def named_in_catalogue(name: str) -> tuple[Entry, ...]:
    """Return the entries of a name, the preferred first; more than one if versions have different shapes."""
    file = _FOLDER.joinpath(f"{name}{_SUFFIX}")
    return tuple(read_entries(file.read_bytes(), file.name)) if file.is_file() else ()


def entries_of(api_version: str, kind: str) -> Iterator[tuple[Entry, str]]:
    """Yield the entry of an object's type, with its version; none if the catalogue has none.

    The file of a kind is named after its plural, which is regular in all entries.
    """
    group, _, version = api_version.rpartition("/")
    if _KIND.fullmatch(kind) and _GROUP.fullmatch(group):
        for entry in named_in_catalogue(f"{kind.lower()}s.{group}"):
            if version in entry.versions and entry.kind == kind:
                yield entry, version


class _Catalogued(Registry[JobKind]):
    """Kinds, and those of the catalogue that are asked for."""

    def __init__(self, kinds: Registry[JobKind], crds: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__((), {name: partial(self._with_crd, kinds, name) for name in kinds.names()})
        self._crds = crds

    def _with_crd(self, kinds: Registry[JobKind], name: tuple[str, str]) -> JobKind:
        """Return a kind, with the schema of its CRD if that is given."""
        kind = kinds.get(*name)
        assert kind is not None
        crd = self._crds.get(kind.qualified_plural)
        return configured(kind.entry, kind.version, crd=crd) if crd and isinstance(kind, ConfiguredKind) else kind

    def get(self, api_version: str, kind: str) -> JobKind | None:
        """Return a kind, from the catalogue if no other has the name."""
        found = super().get(api_version, kind)
        if found is None and (entry := next(entries_of(api_version, kind), None)) is not None:
            found = configured(*entry, crd=self._crds.get(entry[0].name))
            self._kinds[api_version, kind] = found
        return found


def catalogued(kinds: Registry[JobKind], crds: Mapping[str, Mapping[str, Any]] | None = None) -> Registry[JobKind]:
    """Return a registry that also has the kinds of the catalogue; `crds` by name give them their schemas."""
    return _Catalogued(kinds, crds or {})
