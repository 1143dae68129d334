"""What the API server refuses in a Pod, by family; one file a family, each with its `check(pod, path)`.

It answers as kube-apiserver answers the creation of the Pod, with more to say on how to mend it: refuses nothing that
the server takes, and finds what the server would find, before there is a job. How well it does is measured against
a real server; `docs/pod-templates.md` has the figures.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.kinds.common.pod import (
    affinity,
    containers,
    dns,
    env,
    host,
    init_containers,
    lifecycle,
    metadata,
    mounts,
    pod_resources,
    ports,
    probes,
    resources,
    scheduling,
    security,
    selectors,
    spread,
    tolerations,
    volumes,
)
from webhook import Cause, Notice, Path

__all__ = ["check"]

#: In the order in which a reader looks at a template.
_FAMILIES = (
    metadata,
    containers,
    init_containers,
    env,
    ports,
    resources,
    pod_resources,
    mounts,
    volumes,
    probes,
    lifecycle,
    security,
    selectors,
    affinity,
    tolerations,
    spread,
    scheduling,
    host,
    dns,
)


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Yield what is wrong with a Pod.

    Args:
        pod: the Pod that an operator makes of a template; its shape has been checked by the schema.
        path: where the template stands in the job, to say where each fault is.
    """
    for family in _FAMILIES:
        yield from family.check(pod, path)
