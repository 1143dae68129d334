"""What the API server rejects in a Pod, by family; one file a family, each with its `FAMILY` (`family.py` says how).

It answers as kube-apiserver answers the creation of the Pod, with more to say on how to fix it, before there is a job.
It differs from the server only as `docs/explanation/pod-templates.md` lists, beside the measured figures: above all,
checks of what training jobs hardly ever use are not repeated, such as Windows options and details of rare volumes.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta

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
from jobgate.kinds.common.pod.family import Families, Keys
from jobgate.kinds.common.pod.shapes import Plain
from webhook import Notice, Path

__all__ = ["FAMILIES", "check", "look", "plain"]


class _Named(Plain):
    name: str = ""


#: Keys that no family reads, or only beside keys of its own, with the types that the schema of pods gives them. A pod
#: with a key that is nowhere here is not plain.
_UNRULED = Keys(
    metadata={"creationTimestamp": None},
    spec={
        **dict.fromkeys(("automountServiceAccountToken", "enableServiceLinks", "setHostnameAsFQDN"), bool),
        **dict.fromkeys(("hostIPC", "hostNetwork", "hostPID"), bool),
        "imagePullSecrets": list[_Named],
        "schedulerName": str,
        "terminationGracePeriodSeconds": Annotated[int, Meta(ge=0, le=2**53)],
    },
    container={
        **dict.fromkeys(("args", "command"), list[str]),
        **dict.fromkeys(("stdin", "stdinOnce", "tty"), bool),
        **dict.fromkeys(("terminationMessagePath", "workingDir"), str),
    },
)

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
    ),
    _UNRULED,
)


def plain(pod: Mapping[str, Any]) -> bool:
    """Return whether a Pod is surely sound: `check` finds nothing in it. False says nothing."""
    return FAMILIES.plain(pod)


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Notice]:
    """Yield what is wrong with a Pod."""
    return FAMILIES.check(pod, path)


#: `check` for a Pod of which it is known that it is not plain.
look = FAMILIES.look
