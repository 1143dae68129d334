"""Who containers run as: not root, where the pod is restricted.

From the checks runAsNonRoot and runAsUser of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta

from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import whole
from jobgate.kinds.common.pod.shapes import PartialObject
from jobgate.kinds.common.pod_security.contexts import CONTEXT, has_own_users, of_all, of_containers, of_pod
from jobgate.kinds.common.pod_security.violation import ALWAYS, Level, Violation
from webhook.path import Path

#: Since when a number is looked at; and since when a pod with users of its own could run as root among them.
_NUMBER_SINCE: Final = 23
_OWN_USERS_SINCE: Final = 35


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield where a container runs as root, or might."""
    until = _OWN_USERS_SINCE if has_own_users(pod) else ALWAYS
    for context in of_all(pod, path):
        if context.json.get("runAsNonRoot") is False:
            yield Violation(context.path / "runAsNonRoot", False, "must be true", Level.RESTRICTED, until=until)
        if whole(context.json.get("runAsUser")) == 0:
            right = "must be a non-root user, or not be set"
            yield Violation(context.path / "runAsUser", 0, right, Level.RESTRICTED, _NUMBER_SINCE, until)
    own = of_pod(pod, path)
    silent = any(context.json.get("runAsNonRoot") is None for context in of_containers(pod, path))
    if silent and own.json.get("runAsNonRoot") is None:
        right = "must be true for the pod or for every container"
        yield Violation(own.path / "runAsNonRoot", None, right, Level.RESTRICTED, until=until)


class _NotRoot(PartialObject):
    run_as_non_root: bool = True
    run_as_user: Annotated[int, Meta(ge=1)] = 1

    def __post_init__(self) -> None:
        if not self.run_as_non_root:
            raise ValueError("could run as root")


def _all_say_so(spec: Mapping[str, Any], containers: Sequence[Mapping[str, Any]]) -> bool:
    return "runAsNonRoot" in spec.get(CONTEXT, ()) or all(
        "runAsNonRoot" in container.get(CONTEXT, ()) for container in containers
    )


RESTRICTED = Family(
    check=check,
    spec={CONTEXT: _NotRoot, "ephemeralContainers": LOOK},
    container={CONTEXT: _NotRoot},
    agree=_all_say_so,
)
