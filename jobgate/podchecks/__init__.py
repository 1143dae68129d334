"""What the API server rejects in a Pod: a pod spec in, causes out. It knows no job, kind or operator.

    from jobgate.podchecks import check
    from webhook.path import Path

    pod = {"spec": {"containers": [{"name": "main", "image": "train", "imagePullPolicy": "Sometimes"}]}}
    for finding in check(pod, Path()):
        print(finding)  # spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: …

It answers as kube-apiserver answers the creation of the Pod, and says how to fix it. The differences from the server
are listed in `docs/explanation/pod-templates.md`, with measured figures: above all, checks of what training jobs
hardly ever use are not repeated, such as Windows options and details of rare volumes.

- `check`: yields the causes and warnings of a Pod. `plain`: fast, True only if there are none. `look`: `check` of a
  Pod that is not plain
- `containers`, `env`, `host`, …: one family of fields per file, each with its `FAMILY` (`family` says how)
- `values`, `shapes`: the rules of single values, and the types of plain ones; `reading`: the containers of a Pod
- `pod_security`: what violates the Pod Security levels, and what the labels of a namespace ask for
- `newer_fields`: fields that clients of an older Kubernetes drop
- `quantity`, `durations`: values as Go reads them; `fitting`: a fast predicate from a JSON Schema
"""

from jobgate.podchecks import (
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
from jobgate.podchecks.family import Families

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
