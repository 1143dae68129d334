"""The document as a whole: what it is, how big it is, whether it can be read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.lint.rule import Found, refused, surprising
from crdgen.lint.version import Definition
from crdgen.schema import limits
from crdgen.schema.look import size

API_VERSION: Final = "apiextensions.k8s.io/v1"
KIND: Final = "CustomResourceDefinition"

#: What the API server reads of a request (k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes).
_REQUEST_LIMIT: Final = 3 * 1024 * 1024
#: What etcd takes as it is installed (etcd, --max-request-bytes).
_STORAGE_LIMIT: Final = 1_572_864


@refused("pkg/apis/apiextensions/v1/register.go")
def document_is_a_definition(definition: Definition) -> Iterator[Found]:
    """The linter is for CustomResourceDefinitions of v1; the API server has had no other since 1.22."""
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        found = definition.decoded.get(field, "")
        if found and found != wanted:
            yield Found(field, f"{field} must be {wanted}, not {found}", f"write {wanted}")


@surprising("k8s.io/apimachinery, pkg/runtime/serializer/json")
def document_says_what_it_is(definition: Definition) -> Iterator[Found]:
    """Without apiVersion and kind, `kubectl` does not know where to send an object."""
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if not definition.decoded.get(field):
            yield Found(field, f"there is no {field}: kubectl does not apply it", f"write {field}: {wanted}")


@refused("k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes")
def document_fits_a_request(definition: Definition) -> Iterator[Found]:
    """The API server reads no more of a request."""
    measured = _bytes(definition.raw)
    if measured > _REQUEST_LIMIT:
        yield Found("", f"{measured} bytes: {_REQUEST_LIMIT} is the most of a request", "drop descriptions")


@surprising("k8s.io/apimachinery, pkg/api/validation/objectmeta.go; etcd, --max-request-bytes")
def document_fits_client_side_apply(definition: Definition) -> Iterator[Found]:
    """Client-side apply keeps the whole object in an annotation; etcd takes no object above 1.5 MiB."""
    measured = _bytes(definition.raw)
    if measured > _STORAGE_LIMIT:
        yield Found("", f"{measured} bytes: etcd takes {_STORAGE_LIMIT} as it is installed", "drop descriptions")
    elif measured > limits.ANNOTATIONS:
        fix = "drop or shorten descriptions, or apply with --server-side"
        yield Found("", f"{measured} bytes: kubectl apply without --server-side takes {limits.ANNOTATIONS}", fix)


def _bytes(document: Mapping[str, Any]) -> int:
    try:
        return size(document)
    except (TypeError, ValueError, RecursionError):
        # What JSON cannot hold is told elsewhere.
        return 0
