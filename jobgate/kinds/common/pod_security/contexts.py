"""The security contexts of a pod: its own, and those of its containers, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jobgate.kinds.common.pod.reading import containers, mapping, spec_of
from webhook.path import Path

CONTEXT = "securityContext"


class Context(NamedTuple):
    """A security context; an empty one where there is none."""

    json: Mapping[str, Any]
    path: Path


def of_pod(pod: Mapping[str, Any], path: Path) -> Context:
    """Return the security context of a pod."""
    return Context(mapping(spec_of(pod).get(CONTEXT)), path / "spec" / CONTEXT)


def of_containers(pod: Mapping[str, Any], path: Path) -> Iterator[Context]:
    """Yield the security context of each container of a pod."""
    for container, where in containers(spec_of(pod), path / "spec"):
        yield Context(mapping(container.get(CONTEXT)), where / CONTEXT)


def of_all(pod: Mapping[str, Any], path: Path) -> Iterator[Context]:
    """Yield the security context of a pod, and those of its containers."""
    yield of_pod(pod, path)
    yield from of_containers(pod, path)


def on_windows(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod says that it runs on Windows."""
    return mapping(spec_of(pod).get("os")).get("name") == "windows"


def has_own_users(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod has its own user namespace (`hostUsers: false`)."""
    return spec_of(pod).get("hostUsers") is False
