"""The entries that come with jobgate. An entry is read when its kind appears, or is named: others cost nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from jobgate.jobs.kind import CustomKind, JobKind
from webhook import Registry

K = TypeVar("K", bound=CustomKind)

_FOLDER: Final = Path(__file__).with_name("catalogue")
_SUFFIX: Final = ".yaml"
_TYPE: Final = re.compile(r"([a-z0-9][-a-z0-9.]{0,252})/[a-z0-9]+ [A-Z][A-Za-z0-9]{0,62}")


def names() -> list[str]:
    """Return the names of the entries, as `<plural>.<group>`."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.iterdir() if file.name.endswith(_SUFFIX))


@cache
def named_in_catalogue(name: str) -> Sequence[Any]:
    """Return the entries of a name, the preferred first; more than one if versions have different shapes."""
    file = _FOLDER.joinpath(f"{name}{_SUFFIX}")
    # The format takes a tenth of a second to import.
    return resolve_name("jobgate.configured.file:read_entries")(file.read_bytes(), file.name) if file.is_file() else ()


def near(api_version: str, kind: str) -> list[tuple[str, str]]:
    """Return the apiVersions and kinds in the catalogue that differ only in the version or in the case of the kind."""
    if not _TYPE.fullmatch(f"{api_version} {kind}"):
        return []
    group = api_version.rpartition("/")[0]
    entries = named_in_catalogue(f"{kind.lower()}s.{group}")
    return [(f"{group}/{version}", entry.kind) for entry in entries for version in entry.versions]


class Catalogued(Registry[CustomKind]):
    """Kinds, and those of the catalogue that are asked for; `crds` by name give configured kinds their schemas."""

    def __init__(self, kinds: Registry[CustomKind], crds: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        super().__init__((), {name: partial(self._loaded, kinds, name) for name in kinds.names()}, kinds.lacking)
        self._crds = crds or {}

    def _loaded(self, kinds: Registry[CustomKind], name: tuple[str, str]) -> CustomKind:
        kind = kinds.get(*name)
        assert kind is not None
        return self._with_schema(kind)

    def get(self, api_version: str, kind: str) -> CustomKind | None:
        """Return a kind, from the catalogue if no other has the name.

        The file of a kind is named after its plural, which is regular in all entries.
        """
        known = super().get(api_version, kind)
        if known is None and _TYPE.fullmatch(f"{api_version} {kind}"):
            group, _, version = api_version.rpartition("/")
            for entry in named_in_catalogue(f"{kind.lower()}s.{group}"):
                if version in entry.versions and entry.kind == kind:
                    described = resolve_name("jobgate.configured.binding:configured")(entry, version)
                    known = self._kinds[api_version, kind] = self._with_schema(described)
        return known

    def _with_schema(self, kind: CustomKind) -> CustomKind:
        crd = self._crds.get(kind.qualified_plural)
        if kind.resource is not None or crd is None:
            return kind
        return resolve_name("jobgate.configured.binding:with_crd")(kind, crd)  # type: ignore[no-any-return]


def kinds_of(entries: Iterable[Any]) -> list[JobKind]:
    """Return the kinds of entries, one for each version, the preferred first."""
    return [
        resolve_name("jobgate.configured.binding:configured")(entry, version)
        for entry in entries
        for version in entry.versions
    ]


def installable(kinds: Iterable[K], deny: Collection[str] = ()) -> list[K]:
    """Return the kinds for a cluster: of configured ones the preferred version, which only warn if not in `deny`.

    The API server converts objects of other versions.

    Raises:
        ValueError: `deny` names another kind.
    """
    chosen = {kind.qualified_plural: kind for kind in reversed([*kinds])}
    known = sorted(name for name, kind in chosen.items() if kind.resource is None)
    if unknown := sorted(set(deny).difference(known)):
        raise ValueError(f"--deny {unknown[0]}: must be a kind of --kinds: {', '.join(known) or '(none)'}")
    return [kind if kind.resource else replace(kind, enforced=name in deny) for name, kind in reversed(chosen.items())]
