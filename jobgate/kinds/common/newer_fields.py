"""Fields of pod templates that are newer than Kubernetes 1.21, and what an operator built from older types loses.

A typed client reads a job into structs, and what they do not list is gone when it makes pods of it, without a word.
A job that could then not run, or would run with less security than asked for, is denied; other losses are
warnings. The table was made by comparing the structs of `k8s.io/api/core/v1` of every minor version from v0.21 to
v0.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from webhook.cause import Cause, Forbidden, Notice
from webhook.path import Path


class Loss(Enum):
    """What it means that a field is lost.

    Attributes:
        FATAL: the job cannot run, or is less secure than asked for.
        MINOR: the job runs, but not exactly as intended.
        NONE: what the field says is so without it, or another lost field is reported.
    """

    FATAL = "fatal"
    MINOR = "minor"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NewField:
    """A field that came with a minor version after 1.21.

    Attributes:
        since: that version.
        consequence: what happens without the field, and what to do.
        loss: what it means to lose it, of whatever value or by value.
    """

    since: int
    consequence: str = ""
    loss: Loss | Callable[[Any], Loss] = Loss.MINOR


#: By path; `*` is any item of a list. A field that came later into a newer one is below it.
Fields: TypeAlias = Mapping[str, NewField]


def _by_value(losses: Mapping[Any, Loss], otherwise: Loss = Loss.NONE) -> Callable[[Any], Loss]:
    """Return a judge by value: of these values what is said of them, of any other `otherwise`."""
    return lambda given: next((loss for value, loss in losses.items() if given == value), otherwise)


def _app_armor(value: Any) -> Loss:
    return Loss.MINOR if isinstance(value, dict) and value.get("type") == "Unconfined" else Loss.FATAL


def _below(path: str, fields: Fields) -> Fields:
    return {f"{path}.{name}": new for name, new in fields.items()}


_GRPC: Final = NewField(
    23, "the probe would be empty and the API server would reject the pod: use exec, httpGet or tcpSocket", Loss.FATAL
)
_SLEEP: Final = NewField(
    29, 'the hook would be empty and the API server would reject the pod: use exec with "sleep"', Loss.FATAL
)
_CONTEXT: Final[Fields] = {
    "appArmorProfile": NewField(
        30,
        "the containers would run under the node's default AppArmor profile: remove the field if that is acceptable",
        _app_armor,
    ),
    "windowsOptions.hostProcess": NewField(
        22, "the containers would run without access to the host: remove the field", _by_value({True: Loss.FATAL})
    ),
}
_CLAIMS: Final[Fields] = {
    "claims": NewField(26, "", Loss.NONE),
    "claims.*.request": NewField(31, "the container would get all devices of the claim, not only those of one request"),
}
_CONTAINER: Final[Fields] = {
    "restartPolicy": NewField(28, "the pod's restartPolicy would apply to the container"),
    "restartPolicyRules": NewField(34, "the pod's restartPolicy would apply to the container for every exit code"),
    "resizePolicy": NewField(27, "it would not apply when the running container is resized"),
    **_below("resources", _CLAIMS),
    "env.*.valueFrom.fileKeyRef": NewField(
        34,
        "the variable would have no source and the API server would reject the pod: read the file in the command",
        Loss.FATAL,
    ),
    "volumeMounts.*.recursiveReadOnly": NewField(
        30,
        "mounts below the volume would be writable: remove the field",
        _by_value({"Enabled": Loss.FATAL, "IfPossible": Loss.MINOR}),
    ),
    "livenessProbe.grpc": _GRPC,
    "readinessProbe.grpc": _GRPC,
    "startupProbe.grpc": _GRPC,
    "lifecycle.postStart.sleep": _SLEEP,
    "lifecycle.preStop.sleep": _SLEEP,
    "lifecycle.stopSignal": NewField(33, "the container would be stopped with the image's stop signal, or SIGTERM"),
    **_below("securityContext", _CONTEXT),
}
_INIT_CONTAINER: Final[Fields] = {
    **_CONTAINER,
    "restartPolicy": NewField(
        28,
        "it would be a regular init container, and the pod would never start if it does not exit: let it exit, or do "
        "its work in another container",
        _by_value({"Always": Loss.FATAL}, Loss.MINOR),
    ),
}
_LABEL_KEYS: Final = NewField(29, "the term would match pods with any values of these labels: use labelSelector")
_POD_TERM: Final[Fields] = {"matchLabelKeys": _LABEL_KEYS, "mismatchLabelKeys": _LABEL_KEYS}
_POD_AFFINITY: Final[Fields] = {
    **_below("requiredDuringSchedulingIgnoredDuringExecution.*", _POD_TERM),
    **_below("preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm", _POD_TERM),
}
_SPREAD: Final[Fields] = {
    "minDomains": NewField(24, "the number of domains would have no minimum"),
    "matchLabelKeys": NewField(25, "pods with any values of these labels would be counted: use labelSelector"),
    "nodeAffinityPolicy": NewField(25, "the default Honor would apply", _by_value({"Honor": Loss.NONE}, Loss.MINOR)),
    "nodeTaintsPolicy": NewField(25, "the default Ignore would apply", _by_value({"Ignore": Loss.NONE}, Loss.MINOR)),
}
_VOLUME: Final[Fields] = {
    "image": NewField(
        31,
        "the volume would be an empty directory: copy the files in an init container that uses the image",
        Loss.FATAL,
    ),
    "ephemeral.volumeClaimTemplate.spec.dataSourceRef": NewField(
        22, "the volume would be empty: use dataSource if the source is a claim or a snapshot", Loss.FATAL
    ),
    "ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace": NewField(
        26, "the source would be looked up in the job's namespace: create it there", Loss.FATAL
    ),
    "ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName": NewField(
        29, "the attributes of the storage class would apply"
    ),
    "projected.sources.*.clusterTrustBundle": NewField(
        29,
        "the source would be empty and the API server would reject the pod: mount the bundle from a ConfigMap",
        Loss.FATAL,
    ),
    "projected.sources.*.podCertificate": NewField(
        34,
        "the source would be empty and the API server would reject the pod: mount the certificate from a Secret",
        Loss.FATAL,
    ),
    "projected.sources.*.podCertificate.userAnnotations": NewField(35, "the signer would not receive them"),
}
_CLAIM_SOURCE: Final = NewField(
    31,
    "the claim would have no source and the API server would reject the pod: request devices as extended resources",
    Loss.FATAL,
)

#: Where in the spec of a pod, and so in a template, each newer field is.
FIELDS: Final[Fields] = {
    "os": NewField(23, "the pod would be scheduled without regard to its operating system"),
    "hostUsers": NewField(
        25,
        "root in the containers would be root on the node: remove the field, and run as a non-root user",
        _by_value({False: Loss.FATAL}),
    ),
    "resourceClaims": NewField(
        26, "the containers would not get the claimed devices: request devices as extended resources", Loss.FATAL
    ),
    "resourceClaims.*.resourceClaimName": _CLAIM_SOURCE,
    "resourceClaims.*.resourceClaimTemplateName": _CLAIM_SOURCE,
    "schedulingGates": NewField(26, "the pod would be scheduled immediately"),
    "resources": NewField(32, "only the requests and limits of the containers would apply: set them there"),
    **_below("resources", _CLAIMS),
    "hostnameOverride": NewField(34, "the hostname of the pod would apply"),
    "schedulingGroup": NewField(36, "the pod would be scheduled on its own, not with its group"),
    **_below("securityContext", _CONTEXT),
    "securityContext.supplementalGroupsPolicy": NewField(
        31, "the groups of the user in the image would be added: remove the field", _by_value({"Strict": Loss.FATAL})
    ),
    "securityContext.seLinuxChangePolicy": NewField(
        32, "the default MountOption could apply", _by_value({"MountOption": Loss.NONE}, Loss.MINOR)
    ),
    **_below("affinity.podAffinity", _POD_AFFINITY),
    **_below("affinity.podAntiAffinity", _POD_AFFINITY),
    **_below("topologySpreadConstraints.*", _SPREAD),
    **_below("volumes.*", _VOLUME),
    **_below("initContainers.*", _INIT_CONTAINER),
    **_below("containers.*", _CONTAINER),
    **_below("ephemeralContainers.*", _CONTAINER),
}

#: The fields of a pod spec that are newer, or hold newer ones.
POD_FIELDS: Final = frozenset(path.partition(".")[0] for path in FIELDS)


#: By step: what is lost there, or the table below; `*` is any item of a list.
_Table: TypeAlias = "Mapping[str, NewField | _Table]"


def check_newer_fields(
    template: Mapping[str, Any], path: Path, *, minor: int, operator: str
) -> Iterator[Cause | Notice]:
    """Report every field that an operator with types of this minor version drops; one that the job needs is denied.

    A field that is null or empty is dropped by newer types too, and is not reported.
    """
    for place, field, value in _lost(template, _newer(minor), path):
        loss = field.loss if isinstance(field.loss, Loss) else field.loss(value)
        drops = f"{operator}, built for Kubernetes 1.{minor}, drops this field (added in 1.{field.since})"
        if loss is not Loss.NONE:
            finding = Forbidden if loss is Loss.FATAL else Notice
            yield finding(place, f"{drops}: {field.consequence}")


def without_newer_fields(template: dict[str, Any], minor: int) -> dict[str, Any]:
    """Return the template as types of a minor version hold it: the same object where they lose nothing.

    What loses a field is copied, and everything else shared with the template.
    """
    kept: dict[str, Any] = _kept(template, _newer(minor))
    return kept


@lru_cache(maxsize=64)
def _newer(minor: int) -> _Table:
    """Return the part of the table that types of a minor version lack, as a tree."""
    tree: dict[str, Any] = {}
    for path, field in FIELDS.items():
        *way, last = path.split(".")
        part: Any = tree if field.since > minor else None
        for step in way:  # what is below a newer field is lost with it
            part = part.setdefault(step, {}) if isinstance(part, dict) else None
        if isinstance(part, dict):
            part[last] = field
    return {"spec": tree}


def _lost(value: Any, table: _Table, path: Path) -> Iterator[tuple[Path, NewField, Any]]:
    parts: Iterable[tuple[str | int, Any, NewField | _Table]] = ()
    if isinstance(value, list) and "*" in table:
        parts = ((index, item, table["*"]) for index, item in enumerate(value))
    elif isinstance(value, dict) and "*" not in table:
        parts = ((name, value.get(name), entry) for name, entry in table.items())
    for step, part, entry in parts:
        if part is None or part in ([], {}):
            continue
        if isinstance(entry, NewField):
            yield path / step, entry, part
        else:
            yield from _lost(part, entry, path / step)


def _kept(value: Any, table: _Table) -> Any:
    items = table.get("*")
    if isinstance(value, list) and isinstance(items, Mapping):
        kept = [_kept(item, items) for item in value]
        return kept if any(new is not old for new, old in zip(kept, value, strict=True)) else value
    if not isinstance(value, dict) or items is not None:
        return value
    copy = value
    for name, entry in table.items():
        if name not in value:
            continue
        if isinstance(entry, NewField):
            copy = {key: part for key, part in copy.items() if key != name}
        elif (part := _kept(value[name], entry)) is not value[name]:
            copy = {**copy, name: part}
    return copy
