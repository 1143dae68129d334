"""The types of ObjectMeta (k8s.io/apimachinery, pkg/apis/meta/v1/types.go)."""

from typing import Any, Final

from crdgen.decode.decoder import TEXT_MAP, TEXTS, ListOf, MapOf, Scalar, Shape, Struct, fields, struct

OBJECT_META: Final = struct(
    **fields(Scalar.TEXT, "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"),
    generation=Scalar.INT64,
    **fields(Scalar.TIME, "creationTimestamp", "deletionTimestamp"),
    deletionGracePeriodSeconds=Scalar.INT64,
    **fields(TEXT_MAP, "labels", "annotations"),
    ownerReferences=ListOf(
        struct(
            **fields(Scalar.TEXT, "apiVersion", "kind", "name", "uid"),
            **fields(Scalar.BOOLEAN, "controller", "blockOwnerDeletion"),
        )
    ),
    finalizers=TEXTS,
    managedFields=ListOf(
        struct(
            **fields(Scalar.TEXT, "manager", "operation", "apiVersion", "fieldsType", "subresource"),
            time=Scalar.TIME,
            fieldsV1=Scalar.ANY,
        )
    ),
)


def _schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case ListOf():
            return {"type": "array", "items": _schema(shape.item)}
        case MapOf():
            return {"type": "object", "additionalProperties": _schema(shape.value)}
        case Struct():
            return {"type": "object", "properties": {name: _schema(child) for name, child in shape.fields.items()}}
        case _:
            return dict(_SCALARS.get(shape, {}))


_SCALARS: Final[dict[Shape, dict[str, Any]]] = {
    Scalar.TEXT: {"type": "string"},
    Scalar.BOOLEAN: {"type": "boolean"},
    Scalar.INT64: {"type": "integer"},
    Scalar.TIME: {"type": "string", "format": "date-time"},
}
#: The same as a schema, which no CRD says.
METADATA: Final = _schema(OBJECT_META)
