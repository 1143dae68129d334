"""The versions of a kind beside the one that is reviewed, and the conversion of objects between all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from msgspec import Struct

from webhook.text import line
from webhook.values import metadata_of

#: Returns an object in another version. The object is a copy, which the function may change.
Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

#: The parts of an object's metadata that a conversion may change. The API server rejects other changes
#: (k8s.io/apiextensions-apiserver, pkg/apiserver/conversion/webhook_converter.go, restoreObjectMeta).
_FREE = ("labels", "annotations")


class NotConvertible(Exception):
    """An object cannot be converted; the message tells its user why."""


class OtherVersion(Struct, frozen=True):
    """How objects of another version of a kind become objects of the reviewed version, and back.

    The functions get and return whole objects. `apiVersion`, `kind` and the metadata except labels and annotations are
    set after them. They raise `NotConvertible` for an object that has no equivalent.

    Attributes:
        up: returns an object of this version in the reviewed version.
        down: returns an object of the reviewed version in this version.
    """

    up: Change
    down: Change


def convert(document: Mapping[str, Any], versions: Mapping[str, OtherVersion], hub: str, to: str) -> dict[str, Any]:
    """Return an object in another version of its kind.

    Args:
        document: the object; it is not changed.
        versions: the versions beside the reviewed one, by name.
        hub: the name of the reviewed version, through which all conversions lead.
        to: the name of the wanted version.

    Raises:
        NotConvertible: a version is unknown, or has no equivalent of the object.
    """
    group, _, version = str(document.get("apiVersion")).rpartition("/")
    for name in (version, to):
        if name != hub and name not in versions:
            known = ", ".join((hub, *versions))
            raise NotConvertible(f"version {line(name, 63)} is unknown; known versions: {known}")
    converted = deepcopy(dict(document))
    if version == to:
        return converted
    if version != hub:
        converted = _step(versions[version].up, converted, f"{group}/{hub}")
    return converted if to == hub else _step(versions[to].down, converted, f"{group}/{to}")


def _step(change: Change, document: dict[str, Any], api_version: str) -> dict[str, Any]:
    kind, metadata = document.get("kind"), dict(metadata_of(document))
    converted = change(document)
    if "metadata" in converted:
        kept = {key: value for key, value in metadata.items() if key not in _FREE}
        metadata = kept | {key: value for key, value in metadata_of(converted).items() if key in _FREE}
    return {**converted, "apiVersion": api_version, "kind": kind, "metadata": metadata}
