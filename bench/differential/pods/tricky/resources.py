"""Quantities in every spelling, requests and limits, extended resources, claims."""

from typing import Any

from bench.differential.pods import values
from bench.differential.pods.tricky.builder import Table, box, pod


def _both(requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    resources = {"requests": requests, "limits": limits, **more}
    return pod({"resources": {name: value for name, value in resources.items() if value is not None}})


def _claims(*claims: Any, known: tuple[str, ...] = ("card",)) -> dict[str, Any]:
    return pod(
        {"resources": {"claims": list(claims)}},
        resourceClaims=[{"name": name, "resourceClaimName": "x"} for name in known],
    )


_SPELLINGS: Table = [
    (f"a {resource} limit of {quantity!r}", _both(limits={resource: quantity}))
    for resource in ("memory", "cpu")
    for quantity in (*values.QUANTITIES, *values.QUANTITY_NUMBERS)
]

_NAMES: Table = [
    (f"a limit of the resource {name!r}", _both(limits={name: "2"})) for name in values.MAP_KEYS["resources"]
]

RESOURCES: Table = [
    *_SPELLINGS,
    *_NAMES,
    ("more requested than the limit", _both({"cpu": "2"}, {"cpu": "1"})),
    ("more requested than the limit, in other units", _both({"memory": "1Gi"}, {"memory": "1000M"})),
    ("as much as the limit, in other units", _both({"memory": "1Gi"}, {"memory": "1073741824"})),
    ("a ten-millionth more than the limit", _both({"cpu": "1.0000001"}, {"cpu": "1"})),
    ("a billionth more than the limit", _both({"cpu": "1.000000001"}, {"cpu": "1"})),
    ("less than a billionth more than the limit", _both({"cpu": "1.0000000001"}, {"cpu": "1"})),
    ("a request in exponents beyond the limit", _both({"memory": "1e10"}, {"memory": "1Gi"})),
    ("a request beyond 63 bits below a larger limit", _both({"memory": "1e20"}, {"memory": "1e21"})),
    ("a limit beyond 63 bits", _both({"memory": "1e22"}, {"memory": "1e21"})),
    ("a cpu limit of a fraction of a thousandth", _both(limits={"cpu": "0.5m"})),
    ("a negative request", _both({"cpu": "-1"})),
    ("a negative zero", _both({"cpu": "-0"})),
    ("a memory of thousandths", _both({"memory": "100m"})),
    ("a number as quantity", _both({"cpu": 1, "memory": 1024})),
    ("a null quantity", _both({"cpu": None})),
    ("a null limit below a request", _both({"cpu": "1"}, {"cpu": None})),
    ("requests null", pod({"resources": {"requests": None, "limits": {"cpu": 1}}})),
    ("resources null", pod({"resources": None})),
    ("empty resources", pod({"resources": {}})),
    ("an extended resource without a limit", _both({"nvidia.com/gpu": 1})),
    ("an extended resource with another limit", _both({"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 2})),
    ("an extended resource only limited", _both(limits={"nvidia.com/gpu": 1})),
    ("half an extended resource", _both(limits={"nvidia.com/gpu": "0.5"})),
    ("an extended resource of 1500m", _both(limits={"nvidia.com/gpu": "1500m"})),
    ("an extended resource of 2000m", _both(limits={"nvidia.com/gpu": "2000m"})),
    ("an extended resource of 1k", _both(limits={"nvidia.com/gpu": "1k"})),
    ("an extended resource of 1e-1", _both(limits={"nvidia.com/gpu": "1e-1"})),
    ("an extended resource of 1e30", _both(limits={"nvidia.com/gpu": "1e30"})),
    ("a negative extended resource", _both(limits={"nvidia.com/gpu": "-1"})),
    ("huge pages alone", _both(limits={"hugepages-2Mi": "2Mi"})),
    ("huge pages with memory", _both({"memory": "1Gi"}, {"hugepages-2Mi": "2Mi", "memory": "1Gi"})),
    ("huge pages requested without a limit", _both({"hugepages-2Mi": "2Mi", "cpu": "1"})),
    ("huge pages requested below the limit", _both({"hugepages-2Mi": "2Mi", "cpu": "1"}, {"hugepages-2Mi": "4Mi"})),
    ("huge pages that are no whole pages", _both(limits={"hugepages-2Mi": "3Mi", "cpu": "1"})),
    ("huge pages of two sizes", _both(limits={"hugepages-2Mi": "2Mi", "hugepages-1Gi": "1Gi", "cpu": "1"})),
    ("huge pages of a size that is no quantity", _both(limits={"hugepages-big": "2Mi", "cpu": "1"})),
    ("huge pages of size zero", _both(limits={"hugepages-0": "2Mi", "cpu": "1"})),
    ("huge pages of a negative size", _both(limits={"hugepages--2Mi": "2Mi", "cpu": "1"})),
    ("huge pages of a size of thousandths", _both(limits={"hugepages-1m": "2Mi", "cpu": "1"})),
    ("half an ephemeral storage byte", _both(limits={"ephemeral-storage": "500m"})),
    ("a claim", _claims({"name": "card"})),
    ("a claim that the pod does not have", _claims({"name": "other"})),
    ("a claim of a pod without claims", pod({"resources": {"claims": [{"name": "card"}]}})),
    ("one claim twice", _claims({"name": "card"}, {"name": "card"})),
    ("two requests of one claim", _claims({"name": "card", "request": "a"}, {"name": "card", "request": "b"})),
    ("one request of a claim twice", _claims({"name": "card", "request": "a"}, {"name": "card", "request": "a"})),
    ("a claim whole and in part", _claims({"name": "card"}, {"name": "card", "request": "b"})),
    ("a claim in part and whole", _claims({"name": "card", "request": "b"}, {"name": "card"})),
    ("a claim without a name", _claims({})),
    ("a claim with a bad request", _claims({"name": "card", "request": "A"})),
    ("a pod claim without a source", pod(resourceClaims=[{"name": "a"}])),
    (
        "a pod claim with two sources",
        pod(resourceClaims=[{"name": "a", "resourceClaimName": "b", "resourceClaimTemplateName": "c"}]),
    ),
    ("a pod claim with an empty source", pod(resourceClaims=[{"name": "a", "resourceClaimName": ""}])),
    (
        "a pod claim with two empty sources",
        pod(resourceClaims=[{"name": "a", "resourceClaimName": "", "resourceClaimTemplateName": ""}]),
    ),
    ("two pod claims of one name", pod(resourceClaims=[{"name": "a", "resourceClaimName": "b"}] * 2)),
    ("a pod claim in capitals", pod(resourceClaims=[{"name": "A", "resourceClaimName": "b"}])),
    ("a pod claim with a dot in the source", pod(resourceClaims=[{"name": "a", "resourceClaimName": "b.c"}])),
    ("an overhead", pod(overhead={"cpu": "1"})),
    ("an empty overhead", pod(overhead={})),
    ("pod resources", pod(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})),
    ("pod resources, empty", pod(resources={})),
    ("pod resources of a GPU", pod(resources={"limits": {"nvidia.com/gpu": "1"}})),
    ("pod resources of ephemeral storage", pod(resources={"limits": {"ephemeral-storage": "1"}})),
    ("pod resources with claims", pod(resources={"claims": [{"name": "a"}]})),
    ("pod resources with no claims", pod(resources={"claims": []})),
    ("pod requests over pod limits", pod(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})),
    (
        "pod requests below a container's",
        pod({"resources": {"requests": {"cpu": "2"}}}, resources={"requests": {"cpu": "1"}}),
    ),
    (
        "pod requests below the sum of containers",
        pod(
            containers=[
                box("a", resources={"requests": {"cpu": "600m"}}),
                box("b", resources={"requests": {"cpu": "600m"}}),
            ],
            resources={"requests": {"cpu": "1"}},
        ),
    ),
    (
        "pod requests below an init container's",
        pod(initContainers=[box(resources={"requests": {"cpu": "2"}})], resources={"requests": {"cpu": "1"}}),
    ),
    (
        "pod requests below containers and a sidecar",
        pod(
            {"resources": {"requests": {"cpu": "600m"}}},
            initContainers=[box(restartPolicy="Always", resources={"requests": {"cpu": "600m"}})],
            resources={"requests": {"cpu": "1"}},
        ),
    ),
    (
        "pod requests below a sidecar and a later init container",
        pod(
            initContainers=[
                box("side", restartPolicy="Always", resources={"requests": {"cpu": "600m"}}),
                box("late", resources={"requests": {"cpu": "600m"}}),
            ],
            resources={"requests": {"cpu": "1"}},
        ),
    ),
    (
        "pod requests above an init container and a later sidecar",
        pod(
            initContainers=[
                box("early", resources={"requests": {"cpu": "600m"}}),
                box("side", restartPolicy="Always", resources={"requests": {"cpu": "600m"}}),
            ],
            resources={"requests": {"cpu": "1"}},
        ),
    ),
    (
        "pod limits below a container's",
        pod({"resources": {"limits": {"cpu": "2"}}}, resources={"limits": {"cpu": "1"}}),
    ),
    (
        "pod limits below an init container's",
        pod(initContainers=[box(resources={"limits": {"cpu": "2"}})], resources={"limits": {"cpu": "1"}}),
    ),
    (
        "pod limits below the sum of containers'",
        pod(
            containers=[box("a", resources={"limits": {"cpu": "1"}}), box("b", resources={"limits": {"cpu": "1"}})],
            resources={"limits": {"cpu": "1"}},
        ),
    ),
    (
        "pod limits below a container's requests",
        pod({"resources": {"requests": {"cpu": "2"}}}, resources={"limits": {"cpu": "1"}}),
    ),
    (
        "pod limits of memory, containers with requests",
        pod({"resources": {"requests": {"memory": "2Gi"}}}, resources={"limits": {"memory": "1Gi"}}),
    ),
    (
        "pod limits, containers with limits and no requests",
        pod({"resources": {"limits": {"cpu": "500m"}}}, resources={"limits": {"cpu": "1"}}),
    ),
    (
        "pod huge pages below the sum of containers'",
        pod(
            containers=[
                box("a", resources={"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}),
                box("b", resources={"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}),
            ],
            resources={"limits": {"cpu": "4", "hugepages-2Mi": "4Mi"}},
        ),
    ),
    ("pod huge pages alone", pod(resources={"limits": {"hugepages-2Mi": "4Mi"}})),
    (
        "container huge pages, pod limits without",
        pod({"resources": {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}}, resources={"limits": {"cpu": "4"}}),
    ),
    ("pod resources on Windows", pod(os={"name": "windows"}, resources={"limits": {"cpu": "1"}})),
    (
        "pod limits, no requests, one container with requests only",
        pod({"resources": {"requests": {"cpu": "1"}}}, resources={"limits": {"cpu": "2", "memory": "1Gi"}}),
    ),
]
