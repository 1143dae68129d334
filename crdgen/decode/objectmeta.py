"""The types of ObjectMeta (k8s.io/apimachinery, pkg/apis/meta/v1/types.go)."""

from typing import Any, Final

from crdgen.decode.decoder import TEXT_MAP, TEXTS, ListOf, Scalar, fields, struct
from crdgen.schema import PRESERVE

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


_TEXT: Final = {"type": "string"}
#: ObjectMeta as a schema, for the columns of `kubectl get`.
METADATA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TEXT | {"format": "date-time"}),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _TEXT | {"type": "integer"}),
        **{key: {"type": "object", "additionalProperties": _TEXT} for key in ("labels", "annotations")},
        **{key: {"type": "array", "items": {PRESERVE: True}} for key in ("ownerReferences", "managedFields")},
        "finalizers": {"type": "array", "items": _TEXT},
    },
}
