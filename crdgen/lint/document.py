"""Rules for the whole document: type and size."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.lint.rule import Problem, error, warning
from crdgen.lint.version import Definition
from crdgen.schema import limits
from crdgen.schema.look import size

API_VERSION: Final = "apiextensions.k8s.io/v1"
KIND: Final = "CustomResourceDefinition"

#: What the API server reads of a request (k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes).
_REQUEST_LIMIT: Final = 3 * 1024 * 1024
#: What etcd takes as it is installed (etcd, --max-request-bytes).
_STORAGE_LIMIT: Final = 1_572_864


@error("pkg/apis/apiextensions/v1/register.go")
def document_is_a_definition(definition: Definition) -> Iterator[Problem]:
    """The document is a CustomResourceDefinition of v1, the only version since Kubernetes 1.22."""
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        found = definition.decoded.get(field, "")
        if found and found != wanted:
            yield Problem(field, f"{field} must be {wanted}, not {found}", f"write {wanted}")


@warning("k8s.io/apimachinery, pkg/runtime/serializer/json")
def document_says_what_it_is(definition: Definition) -> Iterator[Problem]:
    """Without apiVersion and kind, `kubectl` cannot apply a document."""
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if not definition.decoded.get(field):
            yield Problem(field, f"there is no {field}: kubectl does not apply it", f"write {field}: {wanted}")


@error("k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes")
def document_fits_a_request(definition: Definition) -> Iterator[Problem]:
    """The document fits the size limit of requests."""
    measured = _bytes(definition.raw)
    if measured > _REQUEST_LIMIT:
        yield Problem("", f"{measured} bytes: requests are limited to {_REQUEST_LIMIT}", "drop descriptions")


@warning("k8s.io/apimachinery, pkg/api/validation/objectmeta.go; etcd, --max-request-bytes")
def document_fits_client_side_apply(definition: Definition) -> Iterator[Problem]:
    """The document fits the annotation of client-side apply and the size limit of etcd."""
    measured = _bytes(definition.raw)
    if measured > _STORAGE_LIMIT:
        yield Problem("", f"{measured} bytes: the default limit of etcd is {_STORAGE_LIMIT}", "drop descriptions")
    elif measured > limits.ANNOTATIONS:
        fix = "drop or shorten descriptions, or apply with --server-side"
        yield Problem(
            "", f"{measured} bytes: the limit of kubectl apply without --server-side is {limits.ANNOTATIONS}", fix
        )


def _bytes(document: Mapping[str, Any]) -> int:
    try:
        return size(document)
    except (TypeError, ValueError, RecursionError):
        # Values that are not JSON have findings of their own.
        return 0
