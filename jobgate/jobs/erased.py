"""Fields of stored jobs that a client's full update has erased: kubectl's annotation still names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from webhook import Kind
from webhook.text import short
from webhook.values import mapping, metadata_of, objects, text

#: Where `kubectl apply` keeps the file that it sent last.
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

#: Field managers of people: what they remove is meant.
_PEOPLE = "kubectl"


class Erased(NamedTuple):
    """Fields that are gone, and the field manager whose full update probably erased them."""

    writer: str
    fields: tuple[str, ...]

    @property
    def said(self) -> str:
        """What messages say of it."""
        return f"{short(self.writer)} has erased {', '.join(self.fields)}, which kubectl applied"


def applied_spec(job: Mapping[str, Any], word: str = "") -> Mapping[str, Any]:
    """Return the spec that `kubectl apply` sent last; empty where it is not known, or the file does not have a word."""
    annotation = text(mapping(metadata_of(job).get("annotations")).get(APPLIED))
    try:
        return mapping(mapping(json.loads(annotation)).get("spec")) if annotation and word in annotation else {}
    except (ValueError, RecursionError):
        return {}


def erased(kind: Kind, job: Mapping[str, Any]) -> Erased | None:
    """Return the fields of a stored job's spec that a client other than kubectl has erased; None where there are none.

    Seen only of jobs that were applied client-side: nothing else in a job tells what it was.
    """
    writers = [
        text(entry.get("manager"))
        for _, entry in objects(metadata_of(job).get("managedFields"))
        if entry.get("operation") == "Update" and not entry.get("subresource")
    ]
    others = [one for one in writers if not one.startswith(_PEOPLE)]
    applied = applied_spec(job) if others else {}
    known = {field.alias or name for name, field in kind.spec.model_fields.items()}
    kept = mapping(job.get("spec"))
    sent = {key for key, value in applied.items() if value is not None}
    gone = tuple(sorted((sent & known) - kept.keys()))
    return Erased(others[-1], gone) if gone else None
