"""All that the Pod Security levels mind in a Pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod_security import host, privileges, profiles, sysctls, users, volumes
from jobgate.kinds.common.pod_security.violation import Level, Violation
from webhook.path import Path

#: What each level minds, in the order in which a reader looks at a template. The plain shapes are those of values that
#: no version of the level minds.
_FAMILIES: Final[Mapping[Level, Sequence[Family[Violation]]]] = {
    Level.PRIVILEGED: (),
    Level.BASELINE: (host.BASELINE, privileges.BASELINE, profiles.BASELINE, sysctls.BASELINE, volumes.BASELINE),
    Level.RESTRICTED: (
        host.BASELINE,
        privileges.RESTRICTED,
        users.RESTRICTED,
        profiles.RESTRICTED,
        sysctls.BASELINE,
        volumes.RESTRICTED,
    ),
}


def violations(pod: Mapping[str, Any], path: Path, level: Level = Level.RESTRICTED) -> Iterator[Violation]:
    """Yield what a level minds in a Pod, in some version; among it may be what only a higher level minds.

    Args:
        pod: the Pod as an operator makes it.
        path: of its template in the job.
        level: the level.
    """
    for family in _FAMILIES[level]:
        if not family.plain(pod):
            yield from family.check(pod, path)


def keeps_to(level: Level, pod: Mapping[str, Any]) -> bool:
    """Return whether a level surely minds nothing in a Pod. False says nothing."""
    return all(family.plain(pod) for family in _FAMILIES[level])
