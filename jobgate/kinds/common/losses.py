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
        TOLD: the job runs, and not quite as meant.
        NONE: what the field says is so without it, or another lost field tells it.
    """

    FATAL = "fatal"
    TOLD = "told"
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
    loss: Loss | Callable[[Any], Loss] = Loss.TOLD
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
    return lambda value: Loss.NONE if value in values else Loss.TOLD


def _recursive_read_only(value: Any) -> Loss:
    return {"Enabled": Loss.FATAL, "IfPossible": Loss.TOLD}.get(str(value), Loss.NONE)


def _app_armor(value: Any) -> Loss:
    return Loss.TOLD if isinstance(value, dict) and value.get("type") == "Unconfined" else Loss.FATAL


def _init_restart(value: Any) -> Loss:
    return Loss.FATAL if value == "Always" else Loss.TOLD


_PROBE: Final[Table] = {
    "grpc": New(
        23,
        "the probe would have nothing to do, and the API server refuses the pod: probe with exec, httpGet or tcpSocket",
        Loss.FATAL,
    )
}
_HOOK: Final[Table] = {
    "sleep": New(
        29, 'the hook would have nothing to do, and the API server refuses the pod: use exec with "sleep"', Loss.FATAL
    )
}
_APP_ARMOR: Final = New(
    30,
    "the containers would run under the node's default AppArmor profile: leave it out if that will do",
    _app_armor,
)
_WINDOWS: Final[Table] = {
    "hostProcess": New(
        22, "the containers would be ordinary ones, without access to the host: leave it out", _fatal_if(True)
    )
}
_CLAIMS: Final = New(
    26,
    "",
    Loss.NONE,
    {"request": New(31, "the container would get every device of the claim, not those of one request")},
)
_CONTAINER: Final[dict[str, New | Each | Table]] = {
    "restartPolicy": New(28, "the container would restart as the pod's restartPolicy says"),
    "restartPolicyRules": New(
        34, "the container would restart as the pod's restartPolicy says, whatever its exit code"
    ),
    "resizePolicy": New(27, "resizing the running container would not follow it"),
    "resources": {"claims": _CLAIMS},
    "env": Each(
        {
            "valueFrom": {
                "fileKeyRef": New(
                    34,
                    "the variable would have no source, and the API server refuses the pod: have the command read the "
                    "file",
                    Loss.FATAL,
                )
            }
        }
    ),
    "volumeMounts": Each(
        {
            "recursiveReadOnly": New(
                30, "what is mounted below the volume could be written to: leave it out", _recursive_read_only
            )
        }
    ),
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "lifecycle": {
        "postStart": _HOOK,
        "preStop": _HOOK,
        "stopSignal": New(33, "the container would be stopped by the signal that its image names, or SIGTERM"),
    },
    "securityContext": {"appArmorProfile": _APP_ARMOR, "windowsOptions": _WINDOWS},
}
_INIT_CONTAINER: Final[Table] = {
    **_CONTAINER,
    "restartPolicy": New(
        28,
        "it would be an ordinary init container, which has to end before the pod goes on; where it runs on, the job "
        "hangs for ever: let it end, or do its work in a container that is there",
        _init_restart,
    ),
}
_POD_TERM: Final[Table] = {
    "matchLabelKeys": New(29, "the term would match pods whatever their values of these labels: use labelSelector"),
    "mismatchLabelKeys": New(29, "the term would match pods whatever their values of these labels: use labelSelector"),
}
_POD_AFFINITY: Final[Table] = {
    "requiredDuringSchedulingIgnoredDuringExecution": Each(_POD_TERM),
    "preferredDuringSchedulingIgnoredDuringExecution": Each({"podAffinityTerm": _POD_TERM}),
}
_SPREAD: Final[Table] = {
    "minDomains": New(24, "pods would spread over as many domains as there are, be they fewer"),
    "matchLabelKeys": New(25, "pods would count whatever their values of these labels: use labelSelector"),
    "nodeAffinityPolicy": New(25, "nodes would count by node affinity, as with Honor", _told_unless("Honor")),
    "nodeTaintsPolicy": New(25, "nodes would count whatever their taints, as with Ignore", _told_unless("Ignore")),
}
_CLAIM_TEMPLATE: Final[Table] = {
    "dataSourceRef": New(
        22,
        "the volume would start empty: use dataSource where the source is a claim or a snapshot",
        Loss.FATAL,
        {"namespace": New(26, "the source would be looked for in the job's own namespace: have it there", Loss.FATAL)},
    ),
    "volumeAttributesClassName": New(29, "the volume would be of the storage class's own attributes"),
}
_PROJECTION: Final[Table] = {
    "clusterTrustBundle": New(
        29,
        "the source would be empty, and the API server refuses the pod: mount the bundle from a ConfigMap",
        Loss.FATAL,
    ),
    "podCertificate": New(
        34,
        "the source would be empty, and the API server refuses the pod: mount the certificate from a Secret",
        Loss.FATAL,
        {"userAnnotations": New(35, "the signer would not see them")},
    ),
}
_VOLUME: Final[Table] = {
    "image": New(
        31, "the volume would be an empty folder: copy the files in an init container of that image", Loss.FATAL
    ),
    "ephemeral": {"volumeClaimTemplate": {"spec": _CLAIM_TEMPLATE}},
    "projected": {"sources": Each(_PROJECTION)},
}
_POD_CLAIM: Final[Table] = {
    name: New(
        31,
        "the claim would have no source, and the API server refuses the pod: ask for devices as extended resources",
        Loss.FATAL,
    )
    for name in ("resourceClaimName", "resourceClaimTemplateName")
}

#: The tables: where in the spec of a pod, and so in a template, each newer field stands.
_SPEC: Final[Table] = {
    "os": New(23, "the pod would be taken for one of any operating system"),
    "hostUsers": New(
        25,
        "root in the containers would be root on the node: leave it out, and run as another user",
        _fatal_if(False),
    ),
    "resourceClaims": New(
        26,
        "the containers would not get the devices that they claim: ask for devices as extended resources",
        Loss.FATAL,
        _POD_CLAIM,
    ),
    "schedulingGates": New(26, "the pod would be scheduled at once"),
    "resources": New(
        32,
        "the pod would have the requests and limits of its containers only: write them there",
        inner={"claims": _CLAIMS},
    ),
    "hostnameOverride": New(34, "the pod would be called by its hostname"),
    "schedulingGroup": New(36, "the pod would be scheduled alone, not with its group"),
    "securityContext": {
        "appArmorProfile": _APP_ARMOR,
        "windowsOptions": _WINDOWS,
        "supplementalGroupsPolicy": New(
            31, "the groups that the image gives its user would be added: leave it out", _fatal_if("Strict")
        ),
        "seLinuxChangePolicy": New(
            32, "volumes might be labelled when they are mounted, as with MountOption", _told_unless("MountOption")
        ),
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
