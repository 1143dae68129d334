"""Files of the downward API: a field of the pod, or a resource of one of its containers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jobgate.kinds.common.pod.downward import field_reference, resource_reference
from jobgate.kinds.common.pod.volumes.fields import Fields, mapping
from jobgate.kinds.common.pod.volumes.files import mode, named_file
from webhook.cause import Cause, Invalid, Required
from webhook.path import Path

#: The fields that a file may hold; labels and annotations one by one, beside these.
FILE_FIELDS: Final = frozenset(
    {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
)


def downward_file(item: Fields, path: Path) -> Iterator[Cause]:
    """A file shows one thing, a field or a resource (`core/v1` validation, DownwardAPIVolumeFile)."""
    yield from named_file(item, path)
    yield from mode(item, "mode", path)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None and resource is not None:
        yield Invalid(path, "fieldRef and resourceFieldRef", "must have only one of them")
    if field is not None:
        yield from field_reference(mapping(item, "fieldRef"), path / "fieldRef", FILE_FIELDS)
    elif resource is not None:
        reference = mapping(item, "resourceFieldRef")
        yield from resource_reference(reference, path / "resourceFieldRef", of_container=False)
    else:
        yield Required(path, "must set fieldRef or resourceFieldRef")
