"""Reviews stored jobs, which were created before the webhook was installed, or reviewed by an older version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from webhook import Cause, Notice, Objects, Operation, Phase, Registry, Request, review


@dataclass(frozen=True, slots=True)
class Audited:
    """The review of a stored job.

    Attributes:
        kind: the kind, as `<plural>.<group>`.
        namespace, name: of the job.
        faults: causes for which the job would be denied today, each with the name of its rule.
        notices: the warnings.
    """

    kind: str
    namespace: str
    name: str
    faults: tuple[tuple[str, Cause], ...] = ()
    notices: tuple[Notice, ...] = ()


def audit(
    kind: CustomKind,
    document: dict[str, Any],
    kinds: Registry[CustomKind],
    settings: Settings,
    objects: Objects | None = None,
) -> Audited:
    """Review a stored job of a kind of the registry as if it were created now, even if the installation only warns."""
    metadata = document["metadata"]
    namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
    request = Request(
        uid="audit",
        api_version=kind.gvk.api_version,
        kind=kind.kind,
        operation=Operation.CREATE,
        name=name,
        namespace=namespace,
        document=document,
    )
    answer = review(request, Phase.VALIDATE, kinds, replace(settings, enforces=True), objects)
    faults = tuple((rule, finding) for rule, finding in answer.findings if isinstance(finding, Cause))
    return Audited(kind.qualified_plural, namespace, name, faults, tuple(answer.notices))


def by_rule(audits: Iterable[Audited]) -> Mapping[str, int]:
    """Return the number of jobs with faults, by rule, the most frequent rule first."""
    return dict(Counter(rule for audited in audits for rule in {rule for rule, _ in audited.faults}).most_common())
