"""Hooks: what a container does just after it starts, and just before it is stopped.

The rules are those of `core/v1` validation of Kubernetes (`validateLifecycle`), field `lifecycle`, of containers and of
native sidecars. `stopSignal` is not judged: the API server drops it while its feature is off, as it is by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, UnsetType

from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.handlers import PlainHandler, grace_period, handler
from jobgate.kinds.common.pod.parts import Json, containers
from jobgate.kinds.common.pod.shapes import Plain
from webhook.cause import Cause, Notice
from webhook.path import Path

HOOKS: Final = ("postStart", "preStop")
HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the hooks of every container that may have them."""
    for container in containers(pod, path):
        lifecycle = container.json.get("lifecycle")
        if isinstance(lifecycle, dict) and (container.sidecar or not container.init):
            yield from hooks_have_one_handler(lifecycle, container.path / "lifecycle", grace_period(pod))


def hooks_have_one_handler(lifecycle: Json, path: Path, grace: int) -> Iterator[Cause]:
    """A hook does exactly one thing, and says all that is needed for it."""
    for hook in HOOKS:
        given = lifecycle.get(hook)
        if isinstance(given, dict):
            yield from handler(given, path / hook, HANDLERS, grace)


class _Lifecycle(Plain):
    post_start: PlainHandler | UnsetType = UNSET
    pre_stop: PlainHandler | UnsetType = UNSET


FAMILY = Family(check=check, container={"lifecycle": _Lifecycle})
