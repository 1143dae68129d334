"""Containers: what each must say, and what no two of them may share.

The rules are those of `core/v1` validation of Kubernetes (`validateContainers`, `validateContainerCommon`,
`ValidatePodCreate`), fields `spec.containers`, `spec.initContainers` and `spec.ephemeralContainers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.parts import WHITE_SPACE, Container, Json, containers, unset
from jobgate.kinds.common.pod.reading import objects, spec_of
from jobgate.kinds.common.pod.shapes import DnsLabel, whole_text
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, Notice, NotSupported, Required, TooMany
from webhook.path import Path

PullPolicy: TypeAlias = Literal["Always", "IfNotPresent", "Never"]
TerminationMessagePolicy: TypeAlias = Literal["FallbackToLogsOnError", "File"]
PULL_POLICIES: Final = get_args(PullPolicy)
TERMINATION_MESSAGE_POLICIES: Final = get_args(TerminationMessagePolicy)
RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
EXIT_CODE_OPERATORS: Final = ("In", "NotIn")

#: Most restart rules of a container, and most exit codes of a rule.
RESTART_RULES_LIMIT: Final = 20
EXIT_CODES_LIMIT: Final = 255


#: The plain name of an image: printable ASCII, without blanks around it.
Image: TypeAlias = Annotated[str, Meta(pattern=whole_text("[!-~](?:[ -~]*[!-~])?"))]


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check what every container of a pod must say."""
    yield from there_is_a_container(pod, path)
    yield from no_ephemeral_container_is_created(pod, path)
    taken: set[str] = set()
    for container in containers(pod, path):
        yield from names_are_labels_and_unique(container, taken)
        yield from images_are_named(container)
        yield from policies_are_known(container)
        yield from restart_rules_are_complete(container)


def there_is_a_container(pod: Json, path: Path) -> Iterator[Cause]:
    """A pod has at least one container that is no init container."""
    listed = spec_of(pod).get("containers")
    if listed is None or listed == []:
        yield Required(path / "spec" / "containers", "must have at least one container")


def no_ephemeral_container_is_created(pod: Json, path: Path) -> Iterator[Cause]:
    """Ephemeral containers are added to a running pod, by their own subresource only."""
    if spec_of(pod).get("ephemeralContainers"):
        yield Forbidden(path / "spec" / "ephemeralContainers", "may only be added to a running pod: remove it")


def names_are_labels_and_unique(container: Container, taken: set[str]) -> Iterator[Cause]:
    """The name of a container is a DNS label, and no other container or init container has it."""
    name = container.json.get("name")
    if unset(name):
        yield Required(container.path / "name")
    elif isinstance(name, str):
        if fault := names.dns_label(name):
            yield Invalid(container.path / "name", name, fault)
        if name in taken:
            yield Duplicate(container.path / "name", name, "must be unique among containers and init containers")
        taken.add(name)


def images_are_named(container: Container) -> Iterator[Cause]:
    """A container has an image, whose name has no white space around it."""
    image = container.json.get("image")
    if unset(image):
        yield Required(container.path / "image", "must be the image of the container")
    elif isinstance(image, str) and image != image.strip(WHITE_SPACE):
        yield Invalid(container.path / "image", image, "must not have leading or trailing white space")


def policies_are_known(container: Container) -> Iterator[Cause]:
    """The pull policy and the policy for termination messages are ones that Kubernetes knows."""
    for field, known in _POLICIES:
        policy = container.json.get(field)
        if isinstance(policy, str) and policy and policy not in known:
            yield NotSupported(container.path / field, policy, known)


_POLICIES: Final = (("imagePullPolicy", PULL_POLICIES), ("terminationMessagePolicy", TERMINATION_MESSAGE_POLICIES))


def restart_rules_are_complete(container: Container) -> Iterator[Cause]:
    """A container may have a restart policy of its own, and beside it rules by exit code (`restartPolicyRules`)."""
    policy, rules = container.json.get("restartPolicy"), container.json.get("restartPolicyRules")
    if policy is None:
        if rules:
            yield Required(container.path / "restartPolicy", "must be set when restartPolicyRules is set")
    elif isinstance(policy, str) and policy not in RESTART_POLICIES:
        yield NotSupported(container.path / "restartPolicy", policy, RESTART_POLICIES)
    if rules and isinstance(rules, list):
        if len(rules) > RESTART_RULES_LIMIT:
            yield TooMany(container.path / "restartPolicyRules", len(rules), RESTART_RULES_LIMIT)
        for index, rule in objects(rules):
            yield from _restart_rule(rule, container.path / "restartPolicyRules" / index)


def _restart_rule(rule: Json, path: Path) -> Iterator[Cause]:
    action = rule.get("action")
    if unset(action):
        yield Required(path / "action")
    elif isinstance(action, str) and action not in RESTART_ACTIONS:
        yield NotSupported(path / "action", action, RESTART_ACTIONS)
    codes: Any = rule.get("exitCodes")
    if codes is None:
        yield Required(path / "exitCodes", "must specify the exit codes of the rule")
    elif isinstance(codes, dict):
        operator, values = codes.get("operator"), codes.get("values")
        if unset(operator):
            yield Required(path / "exitCodes" / "operator")
        elif isinstance(operator, str) and operator not in EXIT_CODE_OPERATORS:
            yield NotSupported(path / "exitCodes" / "operator", operator, EXIT_CODE_OPERATORS)
        if isinstance(values, list) and len(values) > EXIT_CODES_LIMIT:
            yield TooMany(path / "exitCodes" / "values", len(values), EXIT_CODES_LIMIT)


def _there_are_some_of_different_names(spec: Json, containers: Sequence[Json]) -> bool:
    if not spec.get("containers"):
        return False
    return len(containers) == 1 or len({container["name"] for container in containers}) == len(containers)


FAMILY = Family(
    check=check,
    needs=frozenset({"name", "image"}),
    spec={"ephemeralContainers": LOOK},
    container={
        "name": DnsLabel,
        "image": Image,
        "imagePullPolicy": PullPolicy,
        "terminationMessagePolicy": TerminationMessagePolicy,
        "restartPolicy": LOOK,
        "restartPolicyRules": LOOK,
    },
    agree=_there_are_some_of_different_names,
)
