"""The rule that denies a job if the Pod Security level of its namespace rejects its pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from jobgate.jobs.binding import looks_up
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.podchecks.pod_security.checks import ALWAYS, Level, PodSecurityViolation, violations
from jobgate.podchecks.pod_security.policy import FIRST, NOTHING, Certainty, Policy, policy_of
from jobgate.rules.templates import judged
from webhook import Cause, Invalid, Notice, Path, Required, rule
from webhook.text import shown
from webhook.values import mapping, spec_of

#: The resource that the rule looks up.
NAMESPACES: Final = "namespaces.v1."


@rule()
@looks_up(NAMESPACES)
def pods_keep_to_the_security_level_of_their_namespace(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """A namespace's `pod-security.kubernetes.io/enforce` rejects pods, not jobs: the operator would fail later.

    https://kubernetes.io/docs/concepts/security/pod-security-standards/.
    An unknown namespace is not checked. Only warnings: a violation that only some versions of Kubernetes reject, that
    the API server may exempt by runtime class, or of the level in `pod-security.kubernetes.io/warn`.
    """
    policy = _policy(context)
    if policy is not NOTHING and max(policy.enforce.level, policy.warn.level) is not Level.PRIVILEGED:
        yield from judged(job, context, partial(_findings, policy=policy, namespace=context.namespace))


def _policy(context: Context) -> Policy:
    """Return the Pod Security policy of the job's namespace; `NOTHING` if the namespace is unknown."""
    try:
        namespace = context.objects.get(NAMESPACES, context.namespace)
    except LookupError:
        namespace = None
    return policy_of(mapping(mapping(mapping(namespace).get("metadata")).get("labels")))


def _findings(pod: Mapping[str, Any], path: Path, *, policy: Policy, namespace: str) -> Iterator[Cause | Notice]:
    """Yield the violations of a policy in a Pod: for each field the most certain one."""
    exempt = spec_of(pod).get("runtimeClassName")
    findings: dict[Path, tuple[int, Cause | Notice]] = {}
    for violation in violations(pod, path):
        rank, finding = _finding(violation, policy, namespace, exempt)
        place = violation.path
        if finding is not None and (place not in findings or rank < findings[place][0]):
            findings[place] = rank, finding
    yield from (finding for _, finding in findings.values())


def _finding(
    violation: PodSecurityViolation, policy: Policy, namespace: str, exempt: Any
) -> tuple[int, Cause | Notice | None]:
    """Return a finding and its rank: the lower, the more certain."""
    enforced = policy.enforce.violated_by(violation)
    by = f"namespace {namespace} enforces Pod Security level {policy.enforce}"
    if enforced is Certainty.YES and not exempt:
        return 0, _denial(violation, f"{violation.right}: {by}")
    if enforced is Certainty.YES:
        unless = f"the pods would be rejected unless the API server exempts runtime class {shown(exempt)}"
        return 1, Notice(violation.path, f"{violation.right}: {by}; {unless}")
    if enforced is Certainty.BY_VERSION:
        return 2, Notice(violation.path, f"{violation.right}: {by}; {_versions(violation)} would reject the pods")
    if policy.warn.violated_by(violation) is not Certainty.NO:
        by = f"namespace {namespace} warns on Pod Security level {policy.warn}"
        return 3, Notice(violation.path, f"{violation.right}: {by}")
    return 4, None


def _denial(violation: PodSecurityViolation, detail: str) -> Cause:
    if violation.value is None:
        return Required(violation.path, detail)
    cause = Invalid(violation.path, violation.value, detail)
    if violation.written is not None:
        cause.value = violation.written
    return cause


def _versions(violation: PodSecurityViolation) -> str:
    """Return which versions of Kubernetes reject a violation."""
    if violation.until == ALWAYS:
        return f"Kubernetes 1.{max(violation.since, FIRST)} and later"
    return f"Kubernetes before 1.{violation.until}"


#: The rules, for `shared_rules`.
pod_security_rules = (pods_keep_to_the_security_level_of_their_namespace,)
