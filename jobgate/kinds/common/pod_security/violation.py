"""What violates a Pod Security level in a Pod, and the security contexts in which most of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from jobgate.kinds.common.pod.reading import ALL_CONTAINERS, containers, mapping, spec_of
from webhook.path import Path

#: Above all minors that there are: of a violation that every later version reports.
ALWAYS: Final = 10_000


class Level(IntEnum):
    """How far a namespace's pods are restricted; each level asks for all that those below it ask for."""

    PRIVILEGED = 0
    BASELINE = 1
    RESTRICTED = 2

    @property
    def word(self) -> str:
        """As a label of a namespace says it."""
        return self.name.lower()


class PodSecurityViolation(NamedTuple):
    """What violates a level in a Pod.

    Attributes:
        path: the field.
        value: what stands there; None where something is missing.
        right: what would do.
        level: the lowest level that is violated.
        since: the first minor of the level's definition that is violated: a namespace can pin any version.
        until: the first later minor that is not violated.
        written: all that the user wrote there, where `value` is only what it is called.
    """

    path: Path
    value: Any
    right: str
    level: Level
    since: int = 0
    until: int = ALWAYS
    written: Any = None


CONTEXT = "securityContext"


class SecurityContext(NamedTuple):
    """A security context; an empty one where there is none."""

    json: Mapping[str, Any]
    path: Path


def of_pod(pod: Mapping[str, Any], path: Path) -> SecurityContext:
    """Return the security context of a pod."""
    return SecurityContext(mapping(spec_of(pod).get(CONTEXT)), path / "spec" / CONTEXT)


def of_containers(pod: Mapping[str, Any], path: Path) -> Iterator[SecurityContext]:
    """Yield the security context of each container of a pod."""
    for container in containers(pod, path, ALL_CONTAINERS):
        yield SecurityContext(mapping(container.json.get(CONTEXT)), container.path / CONTEXT)


def of_all(pod: Mapping[str, Any], path: Path) -> Iterator[SecurityContext]:
    """Yield the security context of a pod, and those of its containers."""
    yield of_pod(pod, path)
    yield from of_containers(pod, path)


def on_windows(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod says that it runs on Windows."""
    return mapping(spec_of(pod).get("os")).get("name") == "windows"


def has_own_users(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod has its own user namespace (`hostUsers: false`)."""
    return spec_of(pod).get("hostUsers") is False
