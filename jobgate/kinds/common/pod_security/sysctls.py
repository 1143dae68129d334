"""The kernel parameters that a pod may set: those of its own namespaces.

From the check sysctls of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from jobgate.kinds.common.fitting import Never
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import objects
from jobgate.kinds.common.pod.shapes import PartialObject
from jobgate.kinds.common.pod_security.contexts import CONTEXT, of_pod
from jobgate.kinds.common.pod_security.violation import ALWAYS, Level, Violation
from webhook.path import Path

#: Each that is safe, and since which minor it counts as such.
SAFE: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
}


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield the parameters that are not safe."""
    context = of_pod(pod, path)
    for index, sysctl in objects(context.json.get("sysctls")):
        name = sysctl.get("name")
        safe = SAFE.get(name, ALWAYS) if isinstance(name, str) else ALWAYS
        if safe:
            where = context.path / "sysctls" / index / "name"
            yield Violation(where, name, f"must be one of {', '.join(SAFE)}", Level.BASELINE, until=safe)


class _None(PartialObject):
    sysctls: Never | UnsetType = UNSET


BASELINE = Family(check=check, spec={CONTEXT: _None})
