"""Status and scale, and the fields that selectors may name: paths that the API server itself reads."""

from collections.abc import Sequence
from typing import Any

from crdgen.generate.errors import SchemaError
from crdgen.resource import paths
from crdgen.resource.resource import Scale, Version
from crdgen.schema import Schema
from crdgen.schema.limits import SELECTABLE_FIELDS, SELECTABLE_TYPES


def subresources(version: Version, schema: Schema, kind: str) -> dict[str, Any]:
    """Return the subresources of a version: status where there is a model of it, scale where it is asked for.

    Raises:
        SchemaError: When a path of scale is not a field of the right type.
    """
    result: dict[str, Any] = {"status": {}} if version.status is not None else {}
    return result | {"scale": _scale(version.scale, schema, f"{kind} scale")} if version.scale else result


def selectable_fields(fields: Sequence[str], schema: Schema, kind: str) -> list[dict[str, str]]:
    """Return the selectable fields as the CRD has them.

    Raises:
        SchemaError: When there are too many, or one is not a scalar of the object's own.
    """
    if len(fields) > SELECTABLE_FIELDS:
        raise SchemaError(
            kind, f"{len(fields)} fields are selectable", f"the API server takes {SELECTABLE_FIELDS}: choose these"
        )
    for number, path in enumerate(fields):
        at = f"{kind} selectable field {path}"
        if path in fields[:number]:
            raise SchemaError(at, "is there twice", "drop one of the two")
        if path == ".metadata" or path.startswith(".metadata."):
            raise SchemaError(
                at, "is in metadata", "name and namespace can always be selected; use labels for the rest"
            )
        node = paths.plain_field(schema, path, at)
        if node.get("type") not in SELECTABLE_TYPES:
            found = node.get("type", "any")
            raise SchemaError(
                at, f"is of type {found}", f"select by a field of one of the types {', '.join(SELECTABLE_TYPES)}"
            )
    return [{"jsonPath": path} for path in fields]


def _scale(scale: Scale, schema: Schema, at: str) -> dict[str, str]:
    _check(scale.replicas, schema, f"{at} replicas", (".spec.",), "integer")
    _check(scale.status_replicas, schema, f"{at} status_replicas", (".status.",), "integer")
    result = {"specReplicasPath": scale.replicas, "statusReplicasPath": scale.status_replicas}
    if not scale.selector:
        return result
    _check(scale.selector, schema, f"{at} selector", (".status.", ".spec."), "string")
    return result | {"labelSelectorPath": scale.selector}


def _check(path: str, schema: Schema, at: str, roots: tuple[str, ...], kind: str) -> None:
    if not path.startswith(roots):
        where = " or ".join(f"`{root[:-1]}`" for root in roots)
        raise SchemaError(at, f"{path!r} is not under {where}", f"write it as `{roots[0]}replicas`")
    found = paths.plain_field(schema, path, at).get("type", "any")
    if found != kind:
        raise SchemaError(at, f"{path} is of type {found}", f"use a field of type {kind}")
