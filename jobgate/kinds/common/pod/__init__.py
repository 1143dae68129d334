"""What the API server rejects in a Pod, by family; one file a family, each with its `FAMILY` (`family.py` says how).

It answers as kube-apiserver answers the creation of the Pod, with more to say on how to fix it, before there is a job.
It differs from the server only as `docs/explanation/pod-templates.md` lists, beside the measured figures: above all,
checks of what training jobs hardly ever use are not repeated, such as Windows options and details of rare volumes.
"""

from jobgate.kinds.common.pod import (
    containers,
    env,
    host,
    metadata,
    placement,
    probes,
    resources,
    scheduling,
    security,
    volumes,
)
from jobgate.kinds.common.pod.family import Families

__all__ = ["FAMILIES", "check", "look", "plain"]


#: In the order in which a reader looks at a template.
FAMILIES = Families(
    (
        metadata.FAMILY,
        containers.FAMILY,
        env.FAMILY,
        resources.FAMILY,
        volumes.FAMILY,
        probes.FAMILY,
        security.FAMILY,
        placement.FAMILY,
        scheduling.FAMILY,
        host.FAMILY,
    )
)

#: Whether a Pod is surely sound; False says nothing.
plain = FAMILIES.plain
#: Yields what is wrong with a Pod; `look` does in one of which it is known that it is not plain.
check, look = FAMILIES.check, FAMILIES.look
