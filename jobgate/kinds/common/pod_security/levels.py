"""All that violates the Pod Security levels in a Pod, and the plain types of Pods that violate none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType, defstruct

from jobgate.kinds.common.fitting import Never
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.shapes import PartialObject, whole_text
from jobgate.kinds.common.pod_security.checks import (
    CHECKS,
    CONTEXT,
    NAMESPACES,
    OUTSIDE,
    PROBES,
    Binding,
    Capability,
    Level,
    PodSecurityViolation,
    Profile,
)
from webhook.path import Path

_Nothing: TypeAlias = Never | UnsetType


class _NoHostPort(PartialObject):
    host_port: _Nothing = UNSET


class _NoHost(PartialObject):
    host: _Nothing = UNSET


class _Handler(PartialObject):
    http_get: _NoHost | UnsetType = UNSET
    tcp_socket: _NoHost | UnsetType = UNSET


class _Hooks(PartialObject):
    post_start: _Handler | UnsetType = UNSET
    pre_stop: _Handler | UnsetType = UNSET


class _Profile(PartialObject):
    type: Profile


class _OfAll(PartialObject):
    """What every security context is at the level baseline."""

    windows_options: _Nothing = UNSET
    seccomp_profile: _Profile | UnsetType = UNSET
    app_armor_profile: _Profile | UnsetType = UNSET
    se_linux_options: _Nothing = UNSET
    sysctls: _Nothing = UNSET


class _Capabilities(PartialObject):
    add: list[Capability] = msgspec.field(default_factory=list)


class _Baseline(_OfAll):
    privileged: bool = False
    capabilities: _Capabilities | UnsetType = UNSET
    proc_mount: Literal["Default"] = "Default"

    def __post_init__(self) -> None:
        if self.privileged:
            raise ValueError("privileged")


class _RestrictedPod(_OfAll):
    run_as_non_root: bool = True
    run_as_user: Annotated[int, Meta(ge=1)] = 1

    def __post_init__(self) -> None:
        if not self.run_as_non_root:
            raise ValueError("could run as root")


class _CapabilitiesDropped(PartialObject):
    drop: list[str]
    add: list[Binding] = msgspec.field(default_factory=list)


class _Restricted(_RestrictedPod, kw_only=True):
    allow_privilege_escalation: bool
    capabilities: _CapabilitiesDropped
    privileged: bool = False
    proc_mount: Literal["Default"] = "Default"

    def __post_init__(self) -> None:
        may_more = self.privileged or self.allow_privilege_escalation or "ALL" not in self.capabilities.drop
        if may_more or not self.run_as_non_root:
            raise ValueError("may be more than restricted")


#: None of the annotations that were before the fields.
_Annotations: TypeAlias = dict[Annotated[str, Meta(pattern=whole_text(r"(?s:(?!.*\.kubernetes\.io/).*)"))], Any]


def _volumes_without(*sources: str) -> Any:
    return list[defstruct("Volume", [(source, Never, UNSET) for source in sources])]  # type: ignore[misc]  # made just now


def _check(pod: Mapping[str, Any], path: Path) -> Iterator[PodSecurityViolation]:
    for check in CHECKS:
        yield from check(pod, path)


def _each_has_a_profile_and_is_not_root(spec: Mapping[str, Any], containers: Sequence[Mapping[str, Any]]) -> bool:
    return all(
        field in spec.get(CONTEXT, ()) or all(field in container.get(CONTEXT, ()) for container in containers)
        for field in ("seccompProfile", "runAsNonRoot")
    )


_CONTAINER: Final = {
    **dict.fromkeys(PROBES, _Handler),
    "lifecycle": _Hooks,
    "ports": list[_NoHostPort],
}
_SPEC: Final = {**dict.fromkeys(NAMESPACES, LOOK), "ephemeralContainers": LOOK}
_FAMILIES: Final[Mapping[Level, Family[PodSecurityViolation]]] = {
    Level.BASELINE: Family(
        check=_check,
        metadata={"annotations": _Annotations},
        spec={**_SPEC, CONTEXT: _OfAll, "volumes": _volumes_without("hostPath")},
        container={**_CONTAINER, CONTEXT: _Baseline},
    ),
    Level.RESTRICTED: Family(
        check=_check,
        needs=frozenset({CONTEXT}),
        metadata={"annotations": _Annotations},
        spec={**_SPEC, CONTEXT: _RestrictedPod, "volumes": _volumes_without("hostPath", *OUTSIDE)},
        container={**_CONTAINER, CONTEXT: _Restricted},
        agree=_each_has_a_profile_and_is_not_root,
    ),
}


def violations(pod: Mapping[str, Any], path: Path, level: Level = Level.RESTRICTED) -> Iterator[PodSecurityViolation]:
    """Yield what violates a level in a Pod, in some version; some may violate only a higher level."""
    if not keeps_to(level, pod):
        yield from _FAMILIES[level].check(pod, path)


def keeps_to(level: Level, pod: Mapping[str, Any]) -> bool:
    """Return whether a Pod surely violates nothing of a level. False says nothing."""
    return level not in _FAMILIES or _FAMILIES[level].plain(pod)
