"""Compares the versions of this command, of the pods, and of the API server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate import __version__
from jobgate.doctor.expected import Expected, container_of
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import DEPLOYMENTS, PODS, ClusterSnapshot, NotChecked, place
from jobgate.installation.installation import LABELS
from jobgate.kinds.common.members import matches

#: The oldest supported minor version of Kubernetes 1: it has stable admission policies.
OLDEST = 30


_VERSION = re.compile(r"v?(?P<version>\d+\.\d+\.\d+(?:[-.+_a-z0-9]*)?)\Z")


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield versions that are not compatible."""
    if not isinstance(observed.version, NotChecked):
        found = re.match(r"v?1\.(\d+)", observed.version)
        if found and int(found[1]) < OLDEST:
            yield fault_at("api-server-too-old", "the API server", f"version {observed.version}")
    if expected.outside:
        return
    images = _images(observed, expected)
    if len(images) > 1:
        every = "; ".join(f"{image}: {', '.join(sorted(where))}" for image, where in sorted(images.items()))
        yield fault_at("versions-mixed", f"pods in {expected.namespace}", f"different images: {every}")
    for image, where in sorted(images.items()):
        version = version_of(image)
        if version is None:
            yield fault_at(
                "version-unknown", ", ".join(sorted(where)), f"runs {image}; this command has version {__version__}"
            )
        elif version != __version__:
            yield fault_at(
                "version-skew", ", ".join(sorted(where)), f"runs {image}; this command has version {__version__}"
            )


def version_of(image: str) -> str | None:
    """Return the version in the tag of an image; None if the tag is not a version."""
    name, _, _ = image.partition("@")
    found = _VERSION.match(name.rpartition("/")[2].partition(":")[2])
    return found["version"] if found else None


def _images(observed: ClusterSnapshot, expected: Expected) -> Mapping[str, Sequence[str]]:
    """Return our Deployments and running pods, by image."""
    found: dict[str, list[str]] = {}
    for name in expected.deployments:
        deployment = observed.get(DEPLOYMENTS, name, expected.namespace)
        if deployment is not None:
            pod = deployment["spec"]["template"]["spec"]
            found.setdefault(_image(pod), []).append(place(DEPLOYMENTS, name))
    for pod in observed.all(PODS, expected.namespace) or ():
        labels = pod["metadata"].get("labels") or {}
        if matches({"matchLabels": LABELS}, labels) and (pod.get("status") or {}).get("phase") == "Running":
            found.setdefault(_image(pod["spec"]), []).append(place(PODS, pod["metadata"]["name"]))
    return found


def _image(pod: Mapping[str, Any]) -> str:
    """Return the image of our container."""
    return str(container_of(pod)["image"])
