"""Containers: what each must say, and what no two of them may share.

The rules are those of `core/v1` validation of Kubernetes (`validateContainers`, `validateContainerCommon`,
`ValidatePodCreate`), fields `spec.containers`, `spec.initContainers` and `spec.ephemeralContainers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.reading import WHITE_SPACE, Json, containers, spec_of
from jobgate.kinds.common.pod.shapes import DnsLabel, whole_text
from jobgate.kinds.common.pod.values import (
    ValueRule,
    family,
    forbidden,
    formatted,
    need,
    one_of,
    rare,
)
from webhook.cause import Cause, Duplicate, Invalid, Required
from webhook.path import Path

#: The plain name of an image: printable ASCII, without blanks around it.
Image: TypeAlias = Annotated[str, Meta(pattern=whole_text("[!-~](?:[ -~]*[!-~])?"))]


def _image(image: Any, path: Path) -> Iterator[Cause]:
    if isinstance(image, str) and image != image.strip(WHITE_SPACE):
        yield Invalid(path, image, "must not have leading or trailing white space")


def _agreement(pod: Json, path: Path) -> Iterator[Cause]:
    """There is a container, and names are unique among all."""
    if spec_of(pod).get("containers") in (None, []):
        yield Required(path / "spec" / "containers", "must have at least one container")
    taken: set[str] = set()
    for container in containers(pod, path):
        name = container.json.get("name")
        if isinstance(name, str) and name:
            if name in taken:
                yield Duplicate(container.path / "name", name, "must be unique among containers and init containers")
            taken.add(name)


def _there_are_some_of_different_names(spec: Json, containers: Sequence[Json]) -> bool:
    if not spec.get("containers"):
        return False
    return len(containers) == 1 or len({container["name"] for container in containers}) == len(containers)


FAMILY = family(
    _agreement,
    spec={"ephemeralContainers": forbidden("may only be added to a running pod: remove it")},
    container={
        "name": need(formatted(names.dns_label, DnsLabel)),
        "image": need(ValueRule(_image, Image), "must be the image of the container"),
        "imagePullPolicy": one_of(("Always", "IfNotPresent", "Never")),
        "terminationMessagePolicy": one_of(("FallbackToLogsOnError", "File")),
        "restartPolicy": rare(one_of(("Always", "Never", "OnFailure"), empty=True)),
    },
    agree=_there_are_some_of_different_names,
)
