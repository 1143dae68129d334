"""Checks that the workloads run, all in this version, and that the version of the API server is supported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate import __version__
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected, container_of
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import CONFIGURATIONS, CRON_JOBS, DEPLOYMENTS, PODS, ClusterSnapshot, labels_of, place
from jobgate.installation.installation import LABELS
from jobgate.installation.workload import ACCOUNT

#: The oldest supported minor version of Kubernetes 1: it has stable admission policies.
OLDEST = 30
_VERSION = re.compile(r"v?(?P<version>\d+\.\d+\.\d+(?:[-.+_a-z0-9]*)?)\Z")


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield workloads that are missing or do not run, and versions that are not compatible."""
    namespace = expected.namespace
    for kind, resource in (("Deployment", DEPLOYMENTS), ("CronJob", CRON_JOBS)):
        for shipped in expected.of(kind):
            name = shipped["metadata"]["name"]
            where = place(resource, name, namespace)
            if observed.missing(resource, name, namespace):
                yield fault_at("workload-missing", where, "not found")
            elif (workload := observed.get(resource, name, namespace)) is not None:
                yield from _runs(workload, where)
    minor = re.match(r"v?1\.(\d+)", observed.version)
    if minor and int(minor[1]) < OLDEST:
        yield fault_at("api-server-too-old", "the API server", f"version {observed.version}")
    if not expected.outside:
        yield from _versions(observed, expected)


def not_installed(observed: ClusterSnapshot, expected: Expected) -> FoundFault | None:
    """Return a single fault if nothing is installed, instead of a fault for each missing object."""
    namespace = expected.namespace
    refs = [(resource, observed.name, "") for resource in CONFIGURATIONS]
    refs += [(SERVICES, expected.installation.service, namespace), (DEPLOYMENTS, ACCOUNT, namespace)]
    if all(observed.missing(*ref) for ref in refs):
        return fault_at("not-installed", f"namespaces/{namespace}", "jobgate is not installed")
    return None


def _runs(workload: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    spec = workload["spec"]
    if spec.get("suspend"):
        yield fault_at("workload-stopped", where, "suspended")
    if "schedule" in spec:
        return
    asked, available = spec.get("replicas", 1), (workload.get("status") or {}).get("availableReplicas", 0)
    if not asked:
        yield fault_at("workload-stopped", where, "spec.replicas is 0")
    elif available < asked:
        yield fault_at("workload-unavailable", where, f"{available} of {asked} replicas are available")


def _versions(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    images = _images(observed, expected)
    if len(images) > 1:
        every = "; ".join(f"{image}: {', '.join(sorted(where))}" for image, where in sorted(images.items()))
        yield fault_at("versions-mixed", f"pods in {expected.namespace}", f"different images: {every}")
    for image, where in sorted(images.items()):
        if (version := version_of(image)) != __version__:
            fault = "version-skew" if version else "version-unknown"
            what = f"runs {image}; this command has version {__version__}"
            yield fault_at(fault, ", ".join(sorted(where)), what)


def version_of(image: str) -> str | None:
    """Return the version in the tag of an image; None if the tag is not a version."""
    name, _, _ = image.partition("@")
    match = _VERSION.match(name.rpartition("/")[2].partition(":")[2])
    return match["version"] if match else None


def _images(observed: ClusterSnapshot, expected: Expected) -> Mapping[str, Sequence[str]]:
    """Return our Deployments and running pods, by image."""
    images: dict[str, list[str]] = {}
    for name in expected.deployments:
        deployment = observed.get(DEPLOYMENTS, name, expected.namespace)
        if deployment is not None:
            pod = deployment["spec"]["template"]["spec"]
            images.setdefault(container_of(pod)["image"], []).append(place(DEPLOYMENTS, name))
    for pod in observed.all(PODS, expected.namespace) or ():
        if LABELS.items() <= labels_of(pod).items() and (pod.get("status") or {}).get("phase") == "Running":
            images.setdefault(container_of(pod["spec"])["image"], []).append(place(PODS, pod["metadata"]["name"]))
    return images
