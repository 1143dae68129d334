"""Reviews prerequisites as their webhook does. Problems that their status would show are warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.prerequisites import not_checked
from jobgate.jobs.schema import StructuralSchema
from jobgate.prerequisites.item import causes, item_of
from jobgate.prerequisites.models import DEFINED
from jobgate.prerequisites.resolve import finder, resolve_item
from jobgate.prerequisites.status import problems_of
from webhook import Cause, Objects

#: Schemas of the kinds of prerequisites.
SCHEMAS: Final = {resource.names.kind: StructuralSchema(resource) for resource in DEFINED}


def denied(document: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[Cause]:
    """Return why an item with its defaults would be denied: the causes of its schema, or else of the webhook.

    The webhook is not called for an update that does not change the spec.
    """
    kind = str(document["kind"])
    if faults := SCHEMAS[kind].check(document):
        return faults
    item = item_of(document, kind)
    same = old is not None and old.get("spec") == document.get("spec")
    return [] if same else causes(kind, document.get("spec"), item.spec)


def not_ready(document: Mapping[str, Any], namespace: str, objects: Objects) -> Iterator[str]:
    """Yield why a valid item would not be Ready after it is stored, and the unknown items that it requires."""
    kind = str(document["kind"])
    resolution = resolve_item(item_of(document, kind), finder(objects, namespace), partial=True)
    for name in dict.fromkeys(unknown for unknown, _ in resolution.unknown):
        yield not_checked(name)
    for problem in problems_of(resolution):
        yield f"the item would be stored, but not be Ready: {problem.message()}"
