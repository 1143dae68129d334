"""Containers: what each must say, and what no two of them may share.

The rules are those of `core/v1` validation of Kubernetes (`validateContainers`, `validateContainerCommon`,
`ValidatePodCreate`), fields `spec.containers`, `spec.initContainers` and `spec.ephemeralContainers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.reading import WHITE_SPACE, Json, containers, spec_of
from jobgate.kinds.common.pod.shapes import DnsLabel, whole_text
from jobgate.kinds.common.pod.values import (
    ValueRule,
    at_most,
    family,
    fields,
    forbidden,
    formatted,
    listed,
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
    """There is a container; names are unique among all; who has restart rules also has a policy of its own."""
    if spec_of(pod).get("containers") in (None, []):
        yield Required(path / "spec" / "containers", "must have at least one container")
    taken: set[str] = set()
    for container in containers(pod, path):
        name = container.json.get("name")
        if isinstance(name, str) and name:
            if name in taken:
                yield Duplicate(container.path / "name", name, "must be unique among containers and init containers")
            taken.add(name)
        if container.json.get("restartPolicyRules") and container.json.get("restartPolicy") is None:
            yield Required(container.path / "restartPolicy", "must be set when restartPolicyRules is set")


def _there_are_some_of_different_names(spec: Json, containers: Sequence[Json]) -> bool:
    if not spec.get("containers"):
        return False
    return len(containers) == 1 or len({container["name"] for container in containers}) == len(containers)


#: What the exit code of a container leads to: at most 20 rules of at most 255 codes.
_EXIT_CODES: Final = fields(operator=need(one_of(("In", "NotIn"))), values=ValueRule(at_most(255)))
_RESTART_RULE: Final = fields(
    action=need(one_of(("Restart", "RestartAllContainers"))),
    exitCodes=need(_EXIT_CODES, "must specify the exit codes of the rule"),
)

FAMILY = family(
    _agreement,
    spec={"ephemeralContainers": forbidden("may only be added to a running pod: remove it")},
    container={
        "name": need(formatted(names.dns_label, DnsLabel)),
        "image": need(ValueRule(_image, Image), "must be the image of the container"),
        "imagePullPolicy": one_of(("Always", "IfNotPresent", "Never")),
        "terminationMessagePolicy": one_of(("FallbackToLogsOnError", "File")),
        "restartPolicy": rare(one_of(("Always", "Never", "OnFailure"), empty=True)),
        "restartPolicyRules": listed(_RESTART_RULE, at_most(20)),
    },
    agree=_there_are_some_of_different_names,
)
