"""Which fields of pod templates came with which version of Kubernetes, and what it means to lose them.

The table was made by comparing the structs of `k8s.io/api/core/v1` of every minor version from v0.21 to v0.36; it
holds what came after v0.21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias


class Loss(Enum):
    """What it means that a field is lost.

    Attributes:
        FATAL: the job cannot run, or is less secure than asked for.
        MINOR: the job runs, but not exactly as intended.
        NONE: what the field says is so without it, or another lost field tells it.
    """

    FATAL = "fatal"
    MINOR = "minor"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class New:
    """An entry of the table: a field that came with a minor version after 1.21.

    Attributes:
        since: that version.
        consequence: what happens without the field, and what to do.
        loss: what it means to lose it, of whatever value or by value.
        inner: what came into the field later still.
    """

    since: int
    consequence: str = ""
    loss: Loss | Callable[[Any], Loss] = Loss.MINOR
    inner: Table | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """The table of every item of a list."""

    item: Table


Table: TypeAlias = Mapping[str, "New | Each | Table"]


def _fatal_if(*values: Any) -> Callable[[Any], Loss]:
    """Return a judge by value: fatal for these, else what the field says is so without it."""
    return lambda value: Loss.FATAL if value in values else Loss.NONE


def _told_unless(*values: Any) -> Callable[[Any], Loss]:
    """Return a judge by value: worth a word, except for these, which are the defaults."""
    return lambda value: Loss.NONE if value in values else Loss.MINOR


def _recursive_read_only(value: Any) -> Loss:
    return {"Enabled": Loss.FATAL, "IfPossible": Loss.MINOR}.get(str(value), Loss.NONE)


def _app_armor(value: Any) -> Loss:
    return Loss.MINOR if isinstance(value, dict) and value.get("type") == "Unconfined" else Loss.FATAL


def _init_restart(value: Any) -> Loss:
    return Loss.FATAL if value == "Always" else Loss.MINOR


_PROBE: Final[Table] = {
    "grpc": New(
        23,
        "the probe would be empty and the API server would reject the pod: use exec, httpGet or tcpSocket",
        Loss.FATAL,
    )
}
_HOOK: Final[Table] = {
    "sleep": New(
        29, 'the hook would be empty and the API server would reject the pod: use exec with "sleep"', Loss.FATAL
    )
}
_APP_ARMOR: Final = New(
    30,
    "the containers would run under the node's default AppArmor profile: remove the field if that is acceptable",
    _app_armor,
)
_WINDOWS: Final[Table] = {
    "hostProcess": New(22, "the containers would run without access to the host: remove the field", _fatal_if(True))
}
_CLAIMS: Final = New(
    26,
    "",
    Loss.NONE,
    {"request": New(31, "the container would get all devices of the claim, not only those of one request")},
)
_CONTAINER: Final[dict[str, New | Each | Table]] = {
    "restartPolicy": New(28, "the pod's restartPolicy would apply to the container"),
    "restartPolicyRules": New(34, "the pod's restartPolicy would apply to the container for every exit code"),
    "resizePolicy": New(27, "it would not apply when the running container is resized"),
    "resources": {"claims": _CLAIMS},
    "env": Each(
        {
            "valueFrom": {
                "fileKeyRef": New(
                    34,
                    "the variable would have no source and the API server would reject the pod: read the file "
                    "in the command",
                    Loss.FATAL,
                )
            }
        }
    ),
    "volumeMounts": Each(
        {
            "recursiveReadOnly": New(
                30, "mounts below the volume would be writable: remove the field", _recursive_read_only
            )
        }
    ),
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "lifecycle": {
        "postStart": _HOOK,
        "preStop": _HOOK,
        "stopSignal": New(33, "the container would be stopped with the image's stop signal, or SIGTERM"),
    },
    "securityContext": {"appArmorProfile": _APP_ARMOR, "windowsOptions": _WINDOWS},
}
_INIT_CONTAINER: Final[Table] = {
    **_CONTAINER,
    "restartPolicy": New(
        28,
        "it would be a regular init container, and the pod would never start if it does not exit: move it to "
        "containers, or let it exit",
        _init_restart,
    ),
}
_POD_TERM: Final[Table] = {
    "matchLabelKeys": New(29, "the term would match pods with any values of these labels: use labelSelector"),
    "mismatchLabelKeys": New(29, "the term would match pods with any values of these labels: use labelSelector"),
}
_POD_AFFINITY: Final[Table] = {
    "requiredDuringSchedulingIgnoredDuringExecution": Each(_POD_TERM),
    "preferredDuringSchedulingIgnoredDuringExecution": Each({"podAffinityTerm": _POD_TERM}),
}
_SPREAD: Final[Table] = {
    "minDomains": New(24, "the number of domains would have no minimum"),
    "matchLabelKeys": New(25, "pods with any values of these labels would be counted: use labelSelector"),
    "nodeAffinityPolicy": New(25, "the default Honor would apply", _told_unless("Honor")),
    "nodeTaintsPolicy": New(25, "the default Ignore would apply", _told_unless("Ignore")),
}
_CLAIM_TEMPLATE: Final[Table] = {
    "dataSourceRef": New(
        22,
        "the volume would be empty: use dataSource if the source is a claim or a snapshot",
        Loss.FATAL,
        {"namespace": New(26, "the source would be looked up in the job's namespace: create it there", Loss.FATAL)},
    ),
    "volumeAttributesClassName": New(29, "the attributes of the storage class would apply"),
}
_PROJECTION: Final[Table] = {
    "clusterTrustBundle": New(
        29,
        "the source would be empty and the API server would reject the pod: mount the bundle from a ConfigMap",
        Loss.FATAL,
    ),
    "podCertificate": New(
        34,
        "the source would be empty and the API server would reject the pod: mount the certificate from a Secret",
        Loss.FATAL,
        {"userAnnotations": New(35, "the signer would not receive them")},
    ),
}
_VOLUME: Final[Table] = {
    "image": New(
        31,
        "the volume would be an empty directory: copy the files in an init container that uses the image",
        Loss.FATAL,
    ),
    "ephemeral": {"volumeClaimTemplate": {"spec": _CLAIM_TEMPLATE}},
    "projected": {"sources": Each(_PROJECTION)},
}
_POD_CLAIM: Final[Table] = {
    name: New(
        31,
        "the claim would have no source and the API server would reject the pod: request devices as extended resources",
        Loss.FATAL,
    )
    for name in ("resourceClaimName", "resourceClaimTemplateName")
}

#: The tables: where in the spec of a pod, and so in a template, each newer field stands.
_SPEC: Final[Table] = {
    "os": New(23, "the pod would be scheduled without regard to its operating system"),
    "hostUsers": New(
        25,
        "root in the containers would be root on the node: remove the field, and run as a non-root user",
        _fatal_if(False),
    ),
    "resourceClaims": New(
        26,
        "the containers would not get the claimed devices: request devices as extended resources",
        Loss.FATAL,
        _POD_CLAIM,
    ),
    "schedulingGates": New(26, "the pod would be scheduled immediately"),
    "resources": New(
        32,
        "only the requests and limits of the containers would apply: set them there",
        inner={"claims": _CLAIMS},
    ),
    "hostnameOverride": New(34, "the hostname of the pod would apply"),
    "schedulingGroup": New(36, "the pod would be scheduled on its own, not with its group"),
    "securityContext": {
        "appArmorProfile": _APP_ARMOR,
        "windowsOptions": _WINDOWS,
        "supplementalGroupsPolicy": New(
            31, "the groups of the user in the image would be added: remove the field", _fatal_if("Strict")
        ),
        "seLinuxChangePolicy": New(32, "the default MountOption could apply", _told_unless("MountOption")),
    },
    "affinity": {"podAffinity": _POD_AFFINITY, "podAntiAffinity": _POD_AFFINITY},
    "topologySpreadConstraints": Each(_SPREAD),
    "volumes": Each(_VOLUME),
    "initContainers": Each(_INIT_CONTAINER),
    "containers": Each(_CONTAINER),
    "ephemeralContainers": Each(_CONTAINER),
}
TEMPLATE: Final[Table] = {"spec": _SPEC}

#: The fields of a pod spec that are newer, or hold newer ones.
POD_FIELDS: Final = _SPEC.keys()
