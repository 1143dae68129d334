"""Annotations of a pod that mean something to the API server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod import tolerations
from jobgate.kinds.common.pod.reading import containers, mapping, metadata_of, spec_of, text
from jobgate.kinds.common.pod.shapes import whole_text
from webhook.cause import Cause, Forbidden, Invalid, TooLong
from webhook.path import Path

#: Most that keys and values take together, in bytes of UTF-8.
TOTAL_LIMIT: Final = 256 * 1024

MIRROR: Final = "kubernetes.io/config.mirror"
TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
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

_WHOLE = re.compile(r"(-[0-9]+|0|[1-9][0-9]*)\Z")
_PLAIN_SECCOMP: Final = {
    "runtime/default": "RuntimeDefault",
    "docker/default": "RuntimeDefault",
    "unconfined": "Unconfined",
}
_PLAIN_APPARMOR: Final = {"runtime/default": "RuntimeDefault", "unconfined": "Unconfined"}
_LOCALHOST: Final = "localhost/"


def annotation_causes(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Check the annotations of a pod: their keys, their size, and the values that Kubernetes reads.

    From `k8s.io/apimachinery/pkg/api/validation`, `ValidateAnnotations`, and `core/v1` validation,
    `ValidatePodSpecificAnnotations`. No message shows a value: annotations may hold anything.
    """
    annotations = mapping(metadata_of(pod).get("annotations"))
    if not annotations:
        return
    where = path / "metadata" / "annotations"
    for key in annotations:
        if fault := names.annotation_key(key):
            yield Invalid(where, key, fault)
    yield from _total(annotations, where)
    if any(_READ in key for key in annotations):
        yield from _mirror(pod, annotations, where)
        yield from _tolerations(annotations, where)
        yield from _deletion_cost(annotations, where)
        yield from _seccomp(pod, annotations, path)
        yield from _apparmor(pod, annotations, path)


def _total(annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Keys and values take at most 256 KiB together."""
    total = sum(_size(key) + _size(text(value)) for key, value in annotations.items())
    if total > TOTAL_LIMIT:
        yield TooLong(path, f"{total} bytes", TOTAL_LIMIT, "total size of keys and values", unit="bytes")


def _size(string: str) -> int:
    return len(string) if string.isascii() else len(string.encode(errors="surrogatepass"))


def _mirror(pod: Mapping[str, Any], annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The mark of a kubelet's own pod is for a pod that is on a node."""
    if MIRROR in annotations and not spec_of(pod).get("nodeName"):
        yield Forbidden(path.key(MIRROR), "is reserved for mirror pods of the kubelet: remove it")


def _tolerations(annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Tolerations that are written as an annotation, as before Kubernetes 1.6, are checked like the field's."""
    written = text(annotations.get(TOLERATIONS))
    if not written:
        return
    try:
        listed = json.loads(written)
    except (ValueError, RecursionError):
        listed = False
    if not (listed is None or isinstance(listed, list)):
        yield Forbidden(path.key(TOLERATIONS), "must be a JSON list of tolerations: use spec.tolerations instead")
        return
    # Go reads the fields' names in either case.
    named = [{str(k)[:1].lower() + str(k)[1:]: v for k, v in mapping(item).items()} for item in listed or ()]
    yield from tolerations.each(named, path.key(TOLERATIONS))


def _deletion_cost(annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The cost of deleting a pod is a whole number of 32 bits."""
    if DELETION_COST not in annotations:
        return
    cost = text(annotations[DELETION_COST])
    if not _WHOLE.match(cost) or not _fits_32_bits(cost):
        yield Forbidden(path.key(DELETION_COST), "must be a 32-bit integer without a leading '+' or zeros")


def _fits_32_bits(whole: str) -> bool:
    digits = whole.removeprefix("-").lstrip("0")
    return len(digits) <= 10 and int(digits or "0") < 2**31 + whole.startswith("-")


def _seccomp(pod: Mapping[str, Any], annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Seccomp profiles that are annotations are ones that can be, and do not contradict the fields."""
    where = path / "metadata" / "annotations"
    written = {
        key: text(value)
        for key, value in annotations.items()
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER)
    }
    for key, profile in written.items():
        localhost = profile.startswith(_LOCALHOST) and not names.relative_path(profile.removeprefix(_LOCALHOST))
        if profile not in _PLAIN_SECCOMP and not localhost:
            yield Forbidden(where.key(key), "must be runtime/default, unconfined or localhost/<relative path>")
    if not written:
        return
    spec = spec_of(pod)
    if SECCOMP_POD in written:
        field, at = mapping(spec.get("securityContext")).get("seccompProfile"), path / "spec" / "securityContext"
        yield from _agree(written[SECCOMP_POD], field, at / "seccompProfile", plain=_PLAIN_SECCOMP)
    for container, at in containers(spec, path / "spec"):
        if (key := SECCOMP_CONTAINER + text(container.get("name"))) in written:
            field = mapping(container.get("securityContext")).get("seccompProfile")
            yield from _agree(written[key], field, at / "securityContext" / "seccompProfile", plain=_PLAIN_SECCOMP)


def _apparmor(pod: Mapping[str, Any], annotations: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """AppArmor profiles that are annotations are of containers that the pod has, and do not contradict the fields."""
    where = path / "metadata" / "annotations"
    written = {
        key.removeprefix(APPARMOR_CONTAINER): text(value)
        for key, value in annotations.items()
        if key.startswith(APPARMOR_CONTAINER)
    }
    if not written:
        return
    spec = spec_of(pod)
    present = {text(container.get("name")): (container, at) for container, at in containers(spec, path / "spec")}
    for name, profile in written.items():
        if name not in present:
            yield Invalid(where.key(APPARMOR_CONTAINER + name), name, "must be the name of a container of this pod")
        if profile and profile not in _PLAIN_APPARMOR and not profile.startswith(_LOCALHOST):
            yield Forbidden(
                where.key(APPARMOR_CONTAINER + name), "must be runtime/default, unconfined or localhost/<name>"
            )
    if mapping(spec.get("os")).get("name") == "windows":
        return
    whole_pod = mapping(spec.get("securityContext")).get("appArmorProfile")
    for name, (container, at) in present.items():
        own = mapping(container.get("securityContext")).get("appArmorProfile")
        if name in written:
            yield from _agree_apparmor(written[name], own, whole_pod, at / "securityContext" / "appArmorProfile")


def _agree_apparmor(written: str, own: Any, whole_pod: Any, path: Path) -> Iterator[Cause]:
    """A container's annotation becomes its field where it has none, so only a field of its own can contradict it.

    From the pod strategy, `applyAppArmorVersionSkew`, which runs before the validation.
    """
    if own is None and _derivable(written):
        return
    yield from _agree(written, own if own is not None else whole_pod, path, plain=_PLAIN_APPARMOR)


def _derivable(written: str) -> bool:
    name = written.removeprefix(_LOCALHOST)
    return written in _PLAIN_APPARMOR or (written.startswith(_LOCALHOST) and name.strip() == name != "")


def _agree(written: str, field: Any, path: Path, *, plain: Mapping[str, str]) -> Iterator[Cause]:
    """An annotation and the field that took its place say the same."""
    profile = mapping(field)
    kind = profile.get("type")
    if kind == "Localhost":
        if written != _LOCALHOST + text(profile.get("localhostProfile")) or profile.get("localhostProfile") is None:
            yield Forbidden(path, "must match the annotation of the pod: remove the annotation")
    elif kind in plain.values() and plain.get(written) != kind:
        yield Forbidden(path / "type", "must match the annotation of the pod: remove the annotation")
