"""When, with what rank and under whose name a pod runs, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of, text, whole
from jobgate.kinds.common.pod.shapes import DnsSubdomain
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, Notice, NotSupported, Required
from webhook.path import Path

RestartPolicy: TypeAlias = Literal["Always", "OnFailure", "Never"]
RESTART_POLICIES: Final = get_args(RestartPolicy)
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
SYSTEMS: Final = ("linux", "windows")

#: The classes that every cluster has, and what they are worth.
SYSTEM_PRIORITIES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

#: Longest `activeDeadlineSeconds`.
DEADLINE_LIMIT: Final = 2**31 - 1

#: Annotation of the pods that a kubelet makes of its own files.
MIRROR: Final = "kubernetes.io/config.mirror"


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's gates, rank, runtime, claims, deadlines and policies."""
    spec, path = spec_of(pod), path / "spec"
    yield from _names_of_other_objects(spec, path)
    yield from _restart_policy(spec, path / "restartPolicy")
    if spec.get("activeDeadlineSeconds") is not None:
        yield from _deadline(spec["activeDeadlineSeconds"], path / "activeDeadlineSeconds")
    if spec.get("priority") is not None or spec.get("preemptionPolicy") is not None:
        yield from _priority(spec, path)
    if spec.get("schedulingGates"):
        yield from _scheduling_gates(spec["schedulingGates"], path / "schedulingGates")
    if spec.get("readinessGates"):
        yield from _readiness_gates(spec["readinessGates"], path / "readinessGates")
    if spec.get("resourceClaims"):
        yield from _resource_claims(pod, path / "resourceClaims")
    if spec.get("overhead") is not None:
        yield from _overhead(spec, path / "overhead")
    if isinstance(spec.get("os"), dict):
        yield from _system(spec["os"], path / "os")


def _names_of_other_objects(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Service account, priority class and runtime class are named by DNS subdomains.

    From `core/v1` validation, `ValidatePodSpec`. `serviceAccount` is the old name of `serviceAccountName` and counts
    where that is empty; an empty runtime class is one that cannot be.
    """
    account = "serviceAccountName" if spec.get("serviceAccountName") else "serviceAccount"
    for field in (account, "priorityClassName"):
        if spec.get(field) and (fault := names.dns_subdomain(text(spec[field]))):
            yield Invalid(path / field, spec[field], fault)
    runtime_class = spec.get("runtimeClassName")
    if isinstance(runtime_class, str) and (fault := names.dns_subdomain(runtime_class)):
        yield Invalid(path / "runtimeClassName", runtime_class, fault)


def _restart_policy(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The policy is one of three; Always, where none is given."""
    policy = spec.get("restartPolicy")
    if policy and policy not in RESTART_POLICIES:
        yield NotSupported(path, policy, RESTART_POLICIES)


def _deadline(deadline: Any, path: Path) -> Iterator[Cause]:
    """A deadline is at least a second away, and fits 31 bits."""
    seconds = whole(deadline)
    if seconds is not None and not 1 <= seconds <= DEADLINE_LIMIT:
        yield Invalid(path, deadline, f"must be between 1 and {DEADLINE_LIMIT}")


def _priority(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A pod's priority and preemption policy follow from its class; where they are given too, they say the same.

    From the admission plugin `Priority`. A pod without a class has priority 0 and preempts (a cluster may have a
    default class that says otherwise; then the class belongs beside the number). What a class of the cluster's own is
    worth is not known here.
    """
    policy, priority, name = spec.get("preemptionPolicy"), whole(spec.get("priority")), spec.get("priorityClassName")
    if policy is not None and policy not in PREEMPTION_POLICIES:
        yield NotSupported(path / "preemptionPolicy", policy, PREEMPTION_POLICIES)
    elif policy == "Never" and (not name or name in SYSTEM_PRIORITIES):
        yield Forbidden(
            path / "preemptionPolicy",
            "must match the priority class: set priorityClassName to a class with preemptionPolicy Never",
        )
    worth = SYSTEM_PRIORITIES.get(text(name)) if name else 0
    if priority is not None and worth is not None and priority != worth:
        yield Forbidden(
            path / "priority",
            f"must match the priority class, which has {worth}: remove the field and set priorityClassName",
        )


def _scheduling_gates(gates: Any, path: Path) -> Iterator[Cause]:
    """Gates have qualified names, each once.

    From `core/v1` validation, `validateSchedulingGates`.
    """
    seen: set[str] = set()
    for index, gate in objects(gates):
        name = gate.get("name")
        if not isinstance(name, str):
            continue
        if fault := names.qualified_name(name):
            yield Invalid(path / index / "name", name, fault)
        if name in seen:
            yield Duplicate(path / index / "name", name)
        seen.add(name)


def _readiness_gates(gates: Any, path: Path) -> Iterator[Cause]:
    """The condition that a gate waits for has a qualified name.

    From `core/v1` validation, `validateReadinessGates`.
    """
    for index, gate in objects(gates):
        condition = gate.get("conditionType")
        if isinstance(condition, str) and (fault := names.qualified_name(condition)):
            yield Invalid(path / index / "conditionType", condition, fault)


def _resource_claims(pod: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Claims have names of their own, and each names a claim or a template of claims.

    From `core/v1` validation, `validatePodResourceClaim`.
    """
    if MIRROR in mapping(metadata_of(pod).get("annotations")):
        yield Forbidden(path, f"may not be set on a pod with the annotation {MIRROR}")
        return
    seen: set[str] = set()
    for index, claim in objects(spec_of(pod)["resourceClaims"]):
        item, name = path / index, claim.get("name")
        if name == "":
            yield Required(item / "name", "must be the name that containers use to reference the claim")
        elif isinstance(name, str):
            if name in seen:
                yield Duplicate(item / "name", name)
            elif fault := names.dns_label(name):
                yield Invalid(item / "name", name, fault)
            seen.add(name)
        yield from _claim_source(claim, item)


def _claim_source(claim: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    sources = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(field) is not None]
    if len(sources) != 1:
        yield Invalid(
            path,
            {field: claim[field] for field in sources},
            "must set exactly one of resourceClaimName and resourceClaimTemplateName",
        )
    for field in sources:
        if fault := names.dns_subdomain(text(claim[field])):
            yield Invalid(path / field, claim[field], fault)


def _overhead(spec: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Overhead is the runtime class's; where it is given too, it is quantities that say the same.

    From the admission plugin `RuntimeClass`, and `core/v1` validation, `validateOverhead`.
    """
    if spec.get("runtimeClassName") is None:
        yield Forbidden(path, "is set from the runtime class: set runtimeClassName, and remove overhead")
    for name, amount in mapping(spec["overhead"]).items():
        try:
            if quantity.parse(amount) < 0:
                yield Invalid(path.key(name), amount, "must be at least 0")
        except ValueError as error:
            yield Invalid(path.key(name), amount, str(error))


def _system(system: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The pod's operating system is one that Kubernetes knows.

    From `core/v1` validation, `validateOS`.
    """
    name = system.get("name")
    if name == "":
        yield Required(path / "name", "must be linux or windows")
    elif name is not None and name not in SYSTEMS:
        yield NotSupported(path / "name", name, SYSTEMS)


FAMILY = Family(
    check=check,
    spec={
        "serviceAccountName": DnsSubdomain,
        "serviceAccount": DnsSubdomain,
        "priorityClassName": DnsSubdomain,
        "runtimeClassName": DnsSubdomain,
        "restartPolicy": RestartPolicy,
        "activeDeadlineSeconds": Annotated[int, Meta(ge=1, le=DEADLINE_LIMIT)],
        "priority": LOOK,
        "preemptionPolicy": LOOK,
        "schedulingGates": LOOK,
        "readinessGates": LOOK,
        "resourceClaims": LOOK,
        "overhead": LOOK,
        "os": LOOK,
    },
)
