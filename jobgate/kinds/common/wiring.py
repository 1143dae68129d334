"""Which kinds have pods that are wired, and how the API server knows such pods: what server and installation share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.kinds.common.members import Members
from jobgate.kinds.common.operator import Operator
from jobgate.plugins.crew import KIND_LABEL
from webhook import Kind, Phase

#: Where the API server sends pods, whatever kind of job they belong to.
PATHS: Mapping[Phase, str] = {phase: f"/{phase}--v1-pod" for phase in Phase}


def wired(kinds: Iterable[Kind]) -> list[Kind]:
    """Return the kinds whose jobs can ask for plugins."""
    return [
        kind
        for kind in kinds
        if isinstance(kind.operator, Operator) and kind.words.get("plugins", ("plugins",))[0] in kind.spec.model_fields
    ]


def members_of(kind: Kind) -> Members | None:
    """Return how the pods are known that a kind's operator makes, or None where they are not."""
    return kind.operator.members if isinstance(kind.operator, Operator) else None


def jobs_of(kind: Kind) -> str:
    """Return the resource of a kind's jobs, as `<plural>.<version>.<group>`."""
    return f"{kind.plural}.{kind.version}.{kind.group}"


def marked_selector(kinds: Iterable[Kind]) -> Mapping[str, Any]:
    """Return the LabelSelector of the pods that our own labels give to one of these kinds."""
    plurals = [kind.qualified_plural for kind in kinds]
    return {"matchExpressions": [{"key": KIND_LABEL, "operator": "In", "values": plurals}]}
