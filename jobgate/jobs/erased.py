"""Fields of stored jobs that a client's full update has erased, found with kubectl's last-applied annotation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from jobgate.jobs.kind import CustomKind
from webhook.text import short
from webhook.values import mapping, metadata_of, objects, text

#: The annotation with the file that `kubectl apply` sent last.
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

#: Prefix of the field managers of users, who remove fields on purpose.
_USERS = "kubectl"


class Erased(Struct, frozen=True):
    """Erased fields, and the field manager that probably erased them with a full update."""

    writer: str
    fields: tuple[str, ...]

    @property
    def message(self) -> str:
        """The text for messages."""
        return f"{short(self.writer)} has erased {', '.join(self.fields)}, which kubectl applied"


def applied_spec(job: Mapping[str, Any], word: str = "") -> Mapping[str, Any]:
    """Return the spec that `kubectl apply` sent last; empty if it is unknown, or the file does not contain `word`."""
    annotation = text(mapping(metadata_of(job).get("annotations")).get(APPLIED))
    try:
        return mapping(mapping(json.loads(annotation)).get("spec")) if annotation and word in annotation else {}
    except (ValueError, RecursionError):
        return {}


def erased(kind: CustomKind, job: Mapping[str, Any]) -> Erased | None:
    """Return the fields of a stored job's spec that a client other than kubectl has erased; None if there are none.

    Only jobs that were applied client-side have the annotation that this needs.
    """
    writers = [
        text(entry.get("manager"))
        for _, entry in objects(metadata_of(job).get("managedFields"))
        if entry.get("operation") == "Update" and not entry.get("subresource")
    ]
    programs = [writer for writer in writers if not writer.startswith(_USERS)]
    applied = applied_spec(job) if programs else {}
    known = {field.alias or name for name, field in kind.spec.model_fields.items()}
    sent = {key for key, value in applied.items() if value is not None}
    missing = tuple(sorted((sent & known) - mapping(job.get("spec")).keys()))
    return Erased(programs[-1], missing) if missing else None
