"""Reviews jobs that are stored already: before the webhook was installed, or by an older version of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from webhook import Cause, Kind, Notice, Objects, Operation, Phase, Registry, Request, Settings, review


@dataclass(frozen=True, slots=True)
class Audited:
    """What is found of one job.

    Attributes:
        kind: what it is, as `<plural>.<group>`.
        namespace, name: which one.
        faults: what would be refused if it were made today, each with the name of its rule.
        notices: the warnings.
    """

    kind: str
    namespace: str
    name: str
    faults: tuple[tuple[str, Cause], ...] = ()
    notices: tuple[Notice, ...] = ()


def audit(kind: Kind, document: dict[str, Any], settings: Settings, objects: Objects | None = None) -> Audited:
    """Judge a stored job as if it were created now. Whether the installation refuses or only warns is no matter.

    Args:
        kind: of the job.
        document: the job, with the defaults that the API server has given it.
        settings: of the installation.
        objects: what is known of other objects of the cluster.
    """
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
    answer = review(request, Phase.VALIDATE, Registry([kind]), replace(settings, enforces=True), objects)
    faults = tuple(zip(answer.rules, answer.causes, strict=True))
    return Audited(kind.qualified_plural, namespace, name, faults, tuple(answer.notices))


def by_rule(found: Iterable[Audited]) -> Mapping[str, int]:
    """Return how many jobs have a fault of each rule, the most frequent first."""
    return dict(Counter(rule for one in found for rule in {rule for rule, _ in one.faults}).most_common())
