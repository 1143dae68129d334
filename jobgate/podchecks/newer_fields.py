"""Fields of pod templates that are newer than Kubernetes 1.21. An operator built from older types drops them.

A typed client decodes a job into structs, and silently drops fields that they lack. A job that could not run without
such a field, or would be less secure, is denied; other dropped fields are warnings. The table comes from comparing the
structs of `k8s.io/api/core/v1` of every minor version from v0.21 to v0.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from msgspec import Struct

from webhook.cause import Cause, Forbidden, Notice
from webhook.path import Path


class NewField(Struct, frozen=True):
    """A field that was added in a minor version after 1.21.

    Attributes:
        since: the minor version.
        fatal: why the job cannot run without the field, or would be less secure, and how to fix it; empty if the job
            can run without it.
        when: returns whether `fatal` is true for a value.
    """

    since: int
    fatal: str = ""
    when: Callable[[Any], bool] = lambda _: True


#: Fields by path; `*` is any item of a list.
Fields: TypeAlias = Mapping[str, NewField]


def _below(path: str, fields: Fields) -> Fields:
    return {f"{path}.{name}": new for name, new in fields.items()}


_GRPC: Final = NewField(
    23, "the probe would be empty and the API server would reject the pod: use exec, httpGet or tcpSocket"
)
_SLEEP: Final = NewField(29, 'the hook would be empty and the API server would reject the pod: use exec with "sleep"')
_CONTEXT: Final[Fields] = {
    "appArmorProfile": NewField(
        30,
        "the containers would run under the node's default AppArmor profile: remove the field if that is acceptable",
        lambda profile: not isinstance(profile, dict) or profile.get("type") != "Unconfined",
    ),
    "windowsOptions.hostProcess": NewField(
        22, "the containers would run without access to the host: remove the field", lambda value: value is True
    ),
}
_CLAIMS: Final[Fields] = {"claims": NewField(26), "claims.*.request": NewField(31)}
_CONTAINER: Final[Fields] = {
    "restartPolicy": NewField(28),
    "restartPolicyRules": NewField(34),
    "resizePolicy": NewField(27),
    **_below("resources", _CLAIMS),
    "env.*.valueFrom.fileKeyRef": NewField(
        34, "the variable would have no source and the API server would reject the pod: read the file in the command"
    ),
    "volumeMounts.*.recursiveReadOnly": NewField(
        30, "mounts below the volume would be writable: remove the field", lambda mode: mode == "Enabled"
    ),
    "livenessProbe.grpc": _GRPC,
    "readinessProbe.grpc": _GRPC,
    "startupProbe.grpc": _GRPC,
    "lifecycle.postStart.sleep": _SLEEP,
    "lifecycle.preStop.sleep": _SLEEP,
    "lifecycle.stopSignal": NewField(33),
    **_below("securityContext", _CONTEXT),
}
_INIT_CONTAINER: Final[Fields] = {
    **_CONTAINER,
    "restartPolicy": NewField(
        28,
        "it would be a regular init container, and the pod would never start if it does not exit: let it exit, or do "
        "its work in another container",
        lambda policy: policy == "Always",
    ),
}
_POD_TERM: Final[Fields] = {"matchLabelKeys": NewField(29), "mismatchLabelKeys": NewField(29)}
_POD_AFFINITY: Final[Fields] = {
    **_below("requiredDuringSchedulingIgnoredDuringExecution.*", _POD_TERM),
    **_below("preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm", _POD_TERM),
}
_SPREAD: Final[Fields] = {
    "minDomains": NewField(24),
    "matchLabelKeys": NewField(25),
    "nodeAffinityPolicy": NewField(25),
    "nodeTaintsPolicy": NewField(25),
}
_CLAIM_SPEC: Final[Fields] = {
    "dataSourceRef": NewField(22, "the volume would be empty: use dataSource if the source is a claim or a snapshot"),
    "dataSourceRef.namespace": NewField(26, "the source would be looked up in the job's namespace: create it there"),
    "volumeAttributesClassName": NewField(29),
}
_VOLUME: Final[Fields] = {
    "image": NewField(
        31, "the volume would be an empty directory: copy the files in an init container that uses the image"
    ),
    **_below("ephemeral.volumeClaimTemplate.spec", _CLAIM_SPEC),
    "projected.sources.*.clusterTrustBundle": NewField(
        29, "the source would be empty and the API server would reject the pod: mount the bundle from a ConfigMap"
    ),
    "projected.sources.*.podCertificate": NewField(
        34, "the source would be empty and the API server would reject the pod: mount the certificate from a Secret"
    ),
    "projected.sources.*.podCertificate.userAnnotations": NewField(35),
}
_CLAIM_SOURCE: Final = NewField(
    31, "the claim would have no source and the API server would reject the pod: request devices as extended resources"
)

#: The newer fields of a pod's spec.
FIELDS: Final[Fields] = {
    "os": NewField(23),
    "hostUsers": NewField(
        25,
        "root in the containers would be root on the node: remove the field, and run as a non-root user",
        lambda value: value is False,
    ),
    "resourceClaims": NewField(
        26, "the containers would not get the claimed devices: request devices as extended resources"
    ),
    "resourceClaims.*.resourceClaimName": _CLAIM_SOURCE,
    "resourceClaims.*.resourceClaimTemplateName": _CLAIM_SOURCE,
    "schedulingGates": NewField(26),
    "resources": NewField(32),
    **_below("resources", _CLAIMS),
    "hostnameOverride": NewField(34),
    "schedulingGroup": NewField(36),
    **_below("securityContext", _CONTEXT),
    "securityContext.supplementalGroupsPolicy": NewField(
        31, "the groups of the user in the image would be added: remove the field", lambda policy: policy == "Strict"
    ),
    "securityContext.seLinuxChangePolicy": NewField(32),
    **_below("affinity.podAffinity", _POD_AFFINITY),
    **_below("affinity.podAntiAffinity", _POD_AFFINITY),
    **_below("topologySpreadConstraints.*", _SPREAD),
    **_below("volumes.*", _VOLUME),
    **_below("initContainers.*", _INIT_CONTAINER),
    **_below("containers.*", _CONTAINER),
}

#: For each step of a path: the newer field, or the table of the next step; `*` is any item of a list.
_Table: TypeAlias = "Mapping[str, NewField | _Table]"


def check_newer_fields(
    template: Mapping[str, Any], path: Path, *, minor: int, operator: str
) -> Iterator[Cause | Notice]:
    """Report every field that an operator with types of this minor version drops; a field that the job needs is denied.

    Null and empty fields are not reported, because newer types drop them, too.
    """
    for place, field, value in _dropped(template, _newer(minor), path):
        drops = f"{operator}, built for Kubernetes 1.{minor}, drops this field (added in 1.{field.since})"
        if field.fatal and field.when(value):
            yield Forbidden(place, f"{drops}: {field.fatal}")
        else:
            yield Notice(place, f"{drops}: the pods are created without it")


def without_newer_fields(template: dict[str, Any], minor: int) -> dict[str, Any]:
    """Return the template without the fields that types of a minor version lack; the same object if it has none.

    Only the changed parts are copied.
    """
    kept: dict[str, Any] = _kept(template, _newer(minor))
    return kept


@lru_cache(maxsize=64)
def _newer(minor: int) -> _Table:
    """Return the fields that types of a minor version lack, as a tree."""
    tree: dict[str, Any] = {}
    for path, field in FIELDS.items():
        *parents, last = path.split(".")
        part: Any = tree if field.since > minor else None
        for step in parents:  # fields below a newer field are dropped with it
            part = part.setdefault(step, {}) if isinstance(part, dict) else None
        if isinstance(part, dict):
            part[last] = field
    return {"spec": tree}


def _dropped(value: Any, table: _Table, path: Path) -> Iterator[tuple[Path, NewField, Any]]:
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
            yield from _dropped(part, entry, path / step)


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
