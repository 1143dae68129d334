"""All that the Pod Security levels mind in a Pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.kinds.common.pod_security import host, privileges, profiles, sysctls, users, volumes
from jobgate.kinds.common.pod_security.violation import Violation
from webhook.path import Path

#: In the order in which a reader looks at a template.
_FAMILIES = (host, privileges, users, profiles, sysctls, volumes)


def violations(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield what some level, in some version, minds in a Pod.

    Args:
        pod: the Pod as an operator makes it.
        path: where its template stands in the job.
    """
    for family in _FAMILIES:
        yield from family.check(pod, path)
