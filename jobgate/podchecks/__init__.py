"""What the API server rejects in a Pod: a pod spec in, causes out. It knows no job, kind or operator.

    from jobgate.podchecks import check
    from webhook.path import Path

    pod = {"spec": {"containers": [{"name": "main", "image": "train", "imagePullPolicy": "Sometimes"}]}}
    for finding in check(pod, Path()):
        print(finding)  # spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: …

It answers as kube-apiserver answers the creation of the Pod, with messages that also say how to fix it.
`docs/explanation/pod-templates.md` lists the differences from the server, with measured figures. Features that training
jobs hardly ever use are not checked, such as Windows options and details of rare volumes.

- `check`: yields the causes and warnings of a Pod. `plain`: fast, True only if there are none. `look`: `check` for a
  Pod that is known not to be plain
- `containers`, `env`, `host`, …: one family of fields per file, each with its `FAMILY` (see `family`)
- `values`, `shapes`: rules for single values, and the types of plain values; `reading`: the containers of a Pod
- `pod_security`: violations of the Pod Security levels, and the levels that the labels of a namespace set
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


#: In the order of the fields in most templates.
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

#: True only if a Pod is valid; False for invalid and for unusual Pods.
plain = FAMILIES.plain
#: Yield the faults of a Pod; `look` is for a Pod that is known not to be plain.
check, look = FAMILIES.check, FAMILIES.look
