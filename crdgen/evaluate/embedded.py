"""Embedded resources (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go).

Unlike what else a schema says, this is held against every write, also where nothing changed.
"""

from collections.abc import Iterator
from typing import Any

from crdgen.decode.objectmeta import OF_EMBEDDED
from crdgen.dns import is_label
from crdgen.evaluate.check import Check, Reason, Violation, under
from crdgen.evaluate.metadata import judged
from crdgen.schema import EMBEDDED, Schema


def resources(schema: Schema) -> Check | None:
    """Return the check of the embedded resources in a value of this schema, or None where there are none."""
    whole = bool(schema.get(EMBEDDED))
    fields = {name: found for name, child in schema.get("properties", {}).items() if (found := resources(child))}
    declared = schema.get("properties", {}).keys()
    others, items = _below(schema.get("additionalProperties")), _below(schema.get("items"))
    if not whole and not fields and others is None and items is None:
        return None

    def check(value: Any) -> list[Violation] | None:
        found: list[Violation] = []
        if isinstance(value, dict):
            if whole:
                found += _resource(value)
            for key, child in value.items():
                field = fields.get(key) if key in declared else others
                found += under(key, (field and field(child)) or [])
        elif isinstance(value, list) and items is not None:
            for index, child in enumerate(value):
                found += under(index, items(child) or [])
        return found or None

    return check


def _below(schema: Any) -> Check | None:
    return resources(schema) if isinstance(schema, dict) else None


def _resource(value: dict[str, Any]) -> Iterator[Violation]:
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield Violation((name,), Reason.REQUIRED, None, "must be set")
        elif not isinstance(value[name], str):
            yield Violation((name,), Reason.INVALID, value[name], "must be a string")
        elif not value[name]:
            yield Violation((name,), Reason.INVALID, "", "must not be empty")
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and version.count("/") > 1:
        yield Violation(("apiVersion",), Reason.INVALID, version, "must be a version, or a group and a version")
    if isinstance(kind, str) and kind and not is_label(kind.lower()):
        yield Violation(("kind",), Reason.INVALID, kind, "must be a name of letters, digits and dashes")
    if "metadata" in value:
        yield from judged(value["metadata"], OF_EMBEDDED)
