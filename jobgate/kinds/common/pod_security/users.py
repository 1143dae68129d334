"""Who containers run as: not root, where the pod is restricted.

From the checks runAsNonRoot and runAsUser of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.kinds.common.pod.reading import whole
from jobgate.kinds.common.pod_security.contexts import has_own_users, of_all, of_containers, of_pod
from jobgate.kinds.common.pod_security.violation import ALWAYS, Level, Violation
from webhook.path import Path

#: Since when a number is looked at; and since when a pod with users of its own may be root among them.
_NUMBER_SINCE: Final = 23
_OWN_USERS_SINCE: Final = 35


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield where a container runs as root, or might."""
    until = _OWN_USERS_SINCE if has_own_users(pod) else ALWAYS
    for context in of_all(pod, path):
        if context.json.get("runAsNonRoot") is False:
            yield Violation(context.path / "runAsNonRoot", False, "must be true", Level.RESTRICTED, until=until)
        if whole(context.json.get("runAsUser")) == 0:
            right = "must be another user than root, or left out"
            yield Violation(context.path / "runAsUser", 0, right, Level.RESTRICTED, _NUMBER_SINCE, until)
    own = of_pod(pod, path)
    silent = any(context.json.get("runAsNonRoot") is None for context in of_containers(pod, path))
    if silent and own.json.get("runAsNonRoot") is None:
        right = "must be true, here or in every container"
        yield Violation(own.path / "runAsNonRoot", None, right, Level.RESTRICTED, until=until)
