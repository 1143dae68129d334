"""The page of figures and disagreements, `docs/pod-templates.md`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.controlplane.versions import KUBERNETES
from tests.differential.answer import Answer
from tests.differential.case import FAMILIES
from tests.differential.comparison import Comparison, Figures, brief, figures

_HEAD = """\
# Pod templates: our verdict and the API server's

Made by `python -m bench.pod_templates`; do not edit.

A pod template is judged when the job is applied, long before its operator makes pods of it. So our verdict has to be
the API server's: this page measures it. {cases:,} Pods (sound ones, and mutations of them: by hand, by a walk over the
schema of `PodTemplateSpec`, and several at once) were given to kube-apiserver {version} as a dry-run create, and to our
structural schema and rules. The same cases come of the same seed, {seed}.

- Of the {accepted:,} Pods that the server accepts we refuse **{false_refusals}**.
- Of the {refused:,} that it refuses we refuse **{caught:.2f} %** ({misses} missed).
- Where both name fields, we name the same ones in {same:.1f} % of the cases, and at least the server's in {all:.1f} %.
- {cluster} more Pods are refused for what the test's cluster lacks (a priority class, a runtime class): no template can
  tell, so they are counted with neither.

## By family

*Schema alone*: refusals that our schema finds and our rules do not, most of them values of a wrong type. *Missed*: the
server refuses, we do not. *Refused in error*: the other way round. *Same fields*: among the Pods that both refuse by
rules, the share in which we blame exactly the fields that the server blames; *all fields*: at least those.

| family | cases | accepted | refused | schema alone | missed | refused in error | caught | same fields | all fields |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""

_DISAGREEMENTS = "\n## Disagreements\n\n"


def page(comparisons: Sequence[Comparison], seed: int) -> str:
    """Return the whole page."""
    by_family, total = figures(comparisons)
    head = _HEAD.format(
        cases=total.cases,
        version=KUBERNETES,
        seed=seed,
        accepted=total.accepted,
        refused=total.refused,
        false_refusals=total.false_refusals,
        caught=total.caught,
        misses=total.misses,
        cluster=total.cluster,
        same=_share(total.same_fields, total.located),
        all=_share(total.all_fields, total.located),
    )
    rows = [_row(family, by_family[family]) for family in FAMILIES if family in by_family]
    return head + "\n".join([*rows, _row("**all**", total)]) + "\n" + _DISAGREEMENTS + _listed(total.disagreements)


def _row(family: str, figures_: Figures) -> str:
    cells = [
        family,
        f"{figures_.cases:,}",
        f"{figures_.accepted:,}",
        f"{figures_.refused:,}",
        f"{figures_.schema_only:,}",
        f"{figures_.misses:,}",
        f"{figures_.false_refusals:,}",
        f"{figures_.caught:.1f} %",
        f"{_share(figures_.same_fields, figures_.located):.0f} %",
        f"{_share(figures_.all_fields, figures_.located):.0f} %",
    ]
    return f"| {' | '.join(cells)} |"


def _listed(disagreements: Iterable[Comparison]) -> str:
    refused_in_error: list[Comparison] = []
    missed: list[Comparison] = []
    for comparison in disagreements:
        (refused_in_error if comparison.is_false_refusal else missed).append(comparison)
    parts = []
    for words, found in (("Refused in error", refused_in_error), ("Missed", missed)):
        parts.append(f"### {words}: {len(found)}\n")
        parts.extend(_entry(comparison) for comparison in found)
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _entry(comparison: Comparison) -> str:
    return (
        f"- {_code(comparison.case.title)}\n"
        f"  - API server: {_said(comparison.server)}\n"
        f"  - ours: {_said(comparison.ours)}"
    )


def _said(answer: Answer) -> str:
    return "accepted" if answer.accepted else _code(brief(answer, 300))


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    padding = " " if fence == "``" else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _share(part: int, whole: int) -> float:
    return 100.0 if not whole else 100 * part / whole
