"""What a template says of its pods' identity: name, namespace, labels, annotations, finalizers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.reading import (
    ALL_CONTAINERS,
    Json,
    containers,
    items,
    mapping,
    metadata_of,
    spec_of,
    text,
)
from jobgate.kinds.common.pod.selectors import LABELS
from jobgate.kinds.common.pod.shapes import DnsLabel, DnsSubdomain, whole_text
from jobgate.kinds.common.pod.tolerations import TOLERATIONS
from jobgate.kinds.common.pod.values import Finding, anything, family, formatted, texts
from webhook.cause import Cause, Forbidden, Invalid, TooLong
from webhook.path import Path

#: Most that keys and values take together, in bytes of UTF-8.
TOTAL_LIMIT: Final = 256 * 1024

MIRROR: Final = "kubernetes.io/config.mirror"
OLD_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR_CONTAINER: Final = "container.apparmor.security.beta.kubernetes.io/"

#: What Kubernetes reads has this in its key.
_READ: Final = "kubernetes.io/"

_NOT_READ = whole_text(f"(?!.*{re.escape(_READ)}){names.QUALIFIED_NAME}")

#: So few and so short that they are far from the limit, at four bytes a character; and none that Kubernetes reads.
PlainAnnotations: TypeAlias = Annotated[
    dict[
        Annotated[str, Meta(pattern=_NOT_READ, max_length=names.LABEL_LIMIT)],
        Annotated[str, Meta(max_length=900)],
    ],
    Meta(max_length=TOTAL_LIMIT // (4 * 1024)),
]

_INTEGER = re.compile(r"(-[0-9]{1,20}|0|[1-9][0-9]{0,10})\Z")
#: What profiles of annotations are as fields; docker/default is one of seccomp only.
_TYPES: Final = {
    "runtime/default": "RuntimeDefault",
    "docker/default": "RuntimeDefault",
    "unconfined": "Unconfined",
}
_LOCALHOST: Final = "localhost/"


def _annotations(pod: Json, path: Path) -> Iterator[Finding]:
    """Check the annotations of a pod: their keys, their size, and the values that Kubernetes reads.

    From `k8s.io/apimachinery/pkg/api/validation`, `ValidateAnnotations`, and `core/v1` validation,
    `ValidatePodSpecificAnnotations`. No message shows a value: annotations may hold anything.
    """
    annotations = mapping(metadata_of(pod).get("annotations"))
    if not annotations:
        return
    where = path / "metadata" / "annotations"
    yield from keys_and_size(annotations, where)
    if any(_READ in key for key in annotations):
        yield from _mirror(pod, annotations, where)
        yield from _tolerations(annotations, where)
        yield from _deletion_cost(annotations, where)
        yield from _seccomp(pod, annotations, path)
        yield from _apparmor(pod, annotations, path)


def keys_and_size(annotations: Any, path: Path) -> Iterator[Cause]:
    """Keys are qualified names; keys and values take at most 256 KiB together."""
    total = 0
    for key, value in mapping(annotations).items():
        if fault := names.annotation_key(key):
            yield Invalid(path, key, fault)
        total += sum(
            len(one) if one.isascii() else len(one.encode(errors="surrogatepass")) for one in (key, text(value))
        )
    if total > TOTAL_LIMIT:
        yield TooLong(path, f"{total} bytes", TOTAL_LIMIT, "total size of keys and values", unit="bytes")


def _mirror(pod: Json, annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The mark of a kubelet's own pod is for a pod that is on a node."""
    if MIRROR in annotations and not spec_of(pod).get("nodeName"):
        yield Forbidden(path.key(MIRROR), "is reserved for mirror pods of the kubelet: remove it")


def _tolerations(annotations: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """Tolerations that are written as an annotation, as before Kubernetes 1.6, are checked like the field's."""
    written = text(annotations.get(OLD_TOLERATIONS))
    if not written:
        return
    try:
        listed = json.loads(written)
    except (ValueError, RecursionError):
        listed = False
    if not (listed is None or isinstance(listed, list)):
        yield Forbidden(path.key(OLD_TOLERATIONS), "must be a JSON list of tolerations: use spec.tolerations instead")
        return
    # Go reads the fields' names in either case.
    named = [{str(k)[:1].lower() + str(k)[1:]: v for k, v in mapping(item).items()} for item in listed or ()]
    yield from TOLERATIONS.check(named, path.key(OLD_TOLERATIONS))


def _deletion_cost(annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The cost of deleting a pod is a whole number of 32 bits."""
    if DELETION_COST not in annotations:
        return
    cost = text(annotations[DELETION_COST])
    if not _INTEGER.match(cost) or not -(2**31) <= int(cost) < 2**31:
        yield Forbidden(path.key(DELETION_COST), "must be a 32-bit integer without a leading '+' or zeros")


def _seccomp(pod: Json, annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Seccomp profiles that are annotations are ones that can be, and do not contradict the fields."""
    where, spec = path / "metadata" / "annotations", spec_of(pod)
    owners = {SECCOMP_POD: (spec, path / "spec")}
    for container in containers(pod, path, ALL_CONTAINERS):
        owners[SECCOMP_CONTAINER + text(container.json.get("name"))] = container.json, container.path
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            profile = text(value)
            local = profile.startswith(_LOCALHOST) and not names.relative_path(profile.removeprefix(_LOCALHOST))
            if profile not in _TYPES and not local:
                yield Forbidden(where.key(key), "must be runtime/default, unconfined or localhost/<relative path>")
            if key in owners:
                owner, at = owners[key]
                field = mapping(owner.get("securityContext")).get("seccompProfile")
                yield from _agree(profile, field, at / "securityContext" / "seccompProfile")


def _apparmor(pod: Json, annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """AppArmor profiles that are annotations are of containers that the pod has, and do not contradict the fields.

    A container's annotation becomes its field where it has none, so only a field of its own can contradict it (from
    the pod strategy, `applyAppArmorVersionSkew`, which runs before the validation).
    """
    where, spec = path / "metadata" / "annotations", spec_of(pod)
    owners = {APPARMOR_CONTAINER + text(one.json.get("name")): one for one in containers(pod, path, ALL_CONTAINERS)}
    for key, value in annotations.items():
        if not key.startswith(APPARMOR_CONTAINER):
            continue
        profile = text(value)
        local = profile.removeprefix(_LOCALHOST) if profile.startswith(_LOCALHOST) else None
        known = profile in ("runtime/default", "unconfined")
        if key not in owners:
            name = key.removeprefix(APPARMOR_CONTAINER)
            yield Invalid(where.key(key), name, "must be the name of a container of this pod")
        if profile and not known and local is None:
            yield Forbidden(where.key(key), "must be runtime/default, unconfined or localhost/<name>")
        if key in owners and mapping(spec.get("os")).get("name") != "windows":
            container = owners[key]
            field = mapping(container.json.get("securityContext")).get("appArmorProfile")
            if field is None and not (known or (local and local == local.strip())):
                field = mapping(spec.get("securityContext")).get("appArmorProfile")
            yield from _agree(profile, field, container.path / "securityContext" / "appArmorProfile")


def _agree(written: str, field: Any, path: Path) -> Iterator[Cause]:
    """An annotation and the field that took its place say the same."""
    kind, local = mapping(field).get("type"), mapping(field).get("localhostProfile")
    if kind == "Localhost":
        if local is None or written != _LOCALHOST + text(local):
            yield Forbidden(path, "must match the annotation of the pod: remove the annotation")
    elif kind in _TYPES.values() and _TYPES.get(written) != kind:
        yield Forbidden(path / "type", "must match the annotation of the pod: remove the annotation")


#: Finalizers of the garbage collector that contradict each other.
ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"


def _agreement(pod: Any, path: Path) -> Iterator[Finding]:
    """Annotations agree with the spec; finalizers do not ask to keep and to delete dependents both."""
    yield from _annotations(pod, path)
    finalizers = items(metadata_of(pod).get("finalizers"))
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        yield Invalid(path / "metadata" / "finalizers", finalizers, f"may contain {ORPHAN} or {FOREGROUND}, not both")


#: From `k8s.io/apimachinery/pkg/api/validation`, `ValidateObjectMeta` and `ValidateFinalizers`.
FAMILY = family(
    _agreement,
    metadata={
        "name": formatted(names.dns_subdomain, DnsSubdomain),
        "generateName": formatted(names.generate_name),
        "namespace": formatted(names.dns_label, DnsLabel),
        "labels": LABELS,
        "annotations": anything(PlainAnnotations),
        "finalizers": texts(names.qualified_name),
    },
)
