"""Rules for the whole document: its type and size, and the names of the object, the group and the kind."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from crdgen.dns import LABEL, SUBDOMAIN, is_label, is_subdomain
from crdgen.evaluate.metadata import COMMON
from crdgen.formats import is_uri
from crdgen.lint.rule import Issue, error, warning
from crdgen.lint.versions import Definition
from crdgen.schema import limits
from crdgen.schema.limits import API_APPROVED, COMMUNITY_GROUPS
from crdgen.schema.look import path_of, shown, size

_SCOPES: Final = ("Cluster", "Namespaced")

API_VERSION: Final = "apiextensions.k8s.io/v1"
KIND: Final = "CustomResourceDefinition"

#: Limit of a request in bytes (k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes).
_REQUEST_LIMIT: Final = 3 * 1024 * 1024
#: Default limit of an object in etcd, in bytes (etcd, --max-request-bytes).
_STORAGE_LIMIT: Final = 1_572_864


@error("pkg/apis/apiextensions/v1/register.go")
def document_is_a_definition(definition: Definition) -> Iterator[Issue]:
    """The document is a CustomResourceDefinition of v1, the only version since Kubernetes 1.22."""
    for field, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        value = definition.decoded.get(field, "")
        if value and value != expected:
            yield Issue(field, f"{field} must be {expected}, not {value}", f"write {expected}")


@warning("k8s.io/apimachinery, pkg/runtime/serializer/json")
def document_says_what_it_is(definition: Definition) -> Iterator[Issue]:
    """Without apiVersion and kind, `kubectl` cannot apply a document."""
    for field, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if not definition.decoded.get(field):
            yield Issue(field, f"there is no {field}: kubectl does not apply it", f"write {field}: {expected}")


@error("k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes")
def document_fits_a_request(definition: Definition) -> Iterator[Issue]:
    """The document fits the size limit of requests."""
    length = _bytes(definition.raw)
    if length > _REQUEST_LIMIT:
        yield Issue("", f"{length} bytes: requests are limited to {_REQUEST_LIMIT}", "drop descriptions")


@warning("k8s.io/apimachinery, pkg/api/validation/objectmeta.go; etcd, --max-request-bytes")
def document_fits_client_side_apply(definition: Definition) -> Iterator[Issue]:
    """The document fits the annotation of client-side apply and the size limit of etcd."""
    length = _bytes(definition.raw)
    if length > _STORAGE_LIMIT:
        yield Issue("", f"{length} bytes: the default limit of etcd is {_STORAGE_LIMIT}", "drop descriptions")
    elif length > limits.ANNOTATIONS:
        fix = "drop or shorten descriptions, or apply with --server-side"
        yield Issue(
            "", f"{length} bytes: the limit of kubectl apply without --server-side is {limits.ANNOTATIONS}", fix
        )


def _bytes(document: Mapping[str, Any]) -> int:
    try:
        return size(document)
    except (TypeError, ValueError, RecursionError):
        # Values that are not JSON have findings of their own.
        return 0


@error("apiextensions validation.go, ValidateCustomResourceDefinition")
def name_is_plural_and_group(definition: Definition) -> Iterator[Issue]:
    """The name of a CRD is its plural, a dot and its group."""
    plural, group = definition.names.get("plural", ""), definition.group
    name, prefix = definition.metadata.get("name", ""), definition.metadata.get("generateName", "")
    expected, fix = f"{plural}.{group}", f"write metadata.name: {plural}.{group}"
    is_computable = is_label(plural) and _is_domain(group)
    if not is_computable:
        fix = "correct spec.names.plural and spec.group first: the name is made of them"
    if not is_subdomain(name) or (is_computable and name != expected):
        problem = f"name {name!r} must be spec.names.plural, a dot and spec.group: {SUBDOMAIN}"
        yield Issue("metadata.name", problem, fix)
    if prefix and (not is_computable or prefix != expected):
        yield Issue("metadata.generateName", "a CustomResourceDefinition cannot have a generated name", fix)


@error("k8s.io/apimachinery, pkg/api/validation/objectmeta.go")
def metadata_is_valid(definition: Definition) -> Iterator[Issue]:
    """Labels, annotations, owner references and finalizers are valid."""
    for check in COMMON:
        for violation in check(definition.metadata):
            problem = f"{'.'.join(map(str, violation.path[1:]))}: {shown(violation.value)} {violation.message}"
            yield Issue(path_of(violation.path).lstrip("."), problem, "correct it")


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def group_is_a_domain(definition: Definition) -> Iterator[Issue]:
    """A group is a DNS name with a dot, so that groups of different authors do not collide."""
    group = definition.group
    if not _is_domain(group):
        yield Issue(
            "spec.group",
            f"group {group!r} must be a DNS subdomain with a dot, such as shop.example.com",
            "set spec.group to a subdomain of a domain that you own",
        )


def _is_domain(group: str) -> bool:
    return is_subdomain(group) and "." in group


@error("apiextensions validation.go, validateAPIApproval; apihelpers/helpers.go")
def group_of_the_community_is_approved(definition: Definition) -> Iterator[Issue]:
    """Groups below k8s.io and kubernetes.io need an approval of the Kubernetes community."""
    if not any(definition.group == owner or definition.group.endswith(f".{owner}") for owner in COMMUNITY_GROUPS):
        return
    approval = definition.metadata.get("annotations", {}).get(API_APPROVED, "")
    is_url = is_uri(approval.partition("#")[0]) and urlsplit(approval).scheme and urlsplit(approval).netloc
    if not approval.startswith("unapproved") and not is_url:
        path = f"metadata.annotations[{API_APPROVED}]"
        fix = "take a group of your own; or write the URL of the review, or unapproved and why"
        yield Issue(
            path,
            f"group {definition.group} belongs to the Kubernetes community, and {API_APPROVED} names no approval",
            fix,
        )


@error("apiextensions validation.go, validateCustomResourceDefinitionSpec")
def scope_is_known(definition: Definition) -> Iterator[Issue]:
    """The scope is Namespaced or Cluster."""
    scope = definition.spec.get("scope", "")
    if scope not in _SCOPES:
        yield Issue(
            "spec.scope",
            f"scope must be Namespaced or Cluster, not {scope!r}",
            "set spec.scope to Namespaced or Cluster",
        )


@error("apiextensions validation.go, ValidateCustomResourceDefinitionNames")
def names_are_labels(definition: Definition) -> Iterator[Issue]:
    """All names of a kind are DNS labels; kind and listKind may have upper-case letters."""
    names = definition.names
    kind = names.get("kind", "")
    checked = {
        "plural": names.get("plural", ""),
        "kind": kind.lower(),
        "singular": names.get("singular") or kind.lower(),
        "listKind": (names.get("listKind") or (f"{kind}List" if kind else "")).lower(),
    }
    for field, name in checked.items():
        note = " (derived from kind if it is absent)" if field in {"singular", "listKind"} else ""
        if note and not names.get(field) and not is_label(checked["kind"]):
            # The default comes from kind, which has its own finding.
            continue
        if not is_label(name):
            yield Issue(f"spec.names.{field}", f"{field} {name!r}{note} must be a label: {LABEL}", "write another name")
    for field in ("shortNames", "categories"):
        for index, name in enumerate(names.get(field, ())):
            if not is_label(name):
                path = f"spec.names.{field}[{index}]"
                yield Issue(path, f"{name!r} must be a label: {LABEL}", "write another name")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionNames")
def list_has_a_kind_of_its_own(definition: Definition) -> Iterator[Issue]:
    """The kind of objects and the kind of lists of them differ."""
    kind = definition.names.get("kind", "")
    if kind and definition.names.get("listKind") == kind:
        yield Issue("spec.names.listKind", "kind and listKind are the same", f"write {kind}List")
