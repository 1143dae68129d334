"""The page of figures and disagreements, `docs/explanation/pod-templates.md`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bench.differential.pods.answer import Answer
from bench.differential.pods.case import FAMILIES
from bench.differential.pods.comparison import Comparison, Figures, brief, figures
from bench.differential.pods.known import KNOWN
from controlplane.versions import KUBERNETES

_HEAD = """\
# Pod templates: our verdict and the API server's

Made by `python -m bench.pod_templates`; do not edit.

A pod template is checked when the job is applied, long before its operator creates pods from it. So our verdict must equal
the API server's. This page measures that. {cases:,} Pods were sent to kube-apiserver {version} as a dry-run create, and to our
structural schema and rules: valid Pods, and mutations of them (by hand, by a walk over the schema of `PodTemplateSpec`, and several at
once). The same seed gives the same cases: {seed}.

- Of the {accepted:,} Pods that the server accepts, we reject {false_refusals}; **{wrong}** of them without a reason that
  is given below.
- Of the {refused:,} Pods that the server rejects, we reject **{caught:.2f} %**; of the {misses} that we miss, {meant} are intended.
- If both name fields, we name the same fields in {same:.1f} % of the cases, and at least the server's in {all:.1f} %.
- {cluster} more Pods are rejected because the test cluster lacks an object (a priority class, a runtime class). A template does not show
  that, so they are not counted.

## By family

*Schema alone*: rejected by our schema, not by our rules; most have a value of a wrong type. *Missed*: the server rejects, we do
not. *Rejected in error*: the reverse. *Same fields*: of the Pods that both reject by rules, the share for which we report exactly the
fields that the server reports; *all fields*: at least those. Most differences have one of three causes: the server omits an index or a
step (`spec.containers[0].volumeMounts.subPath`), it uses another name (`downwarAPI`, `persistentDisk`), or we report a
broken volume once while the server reports it again at each of its mounts.

| family | cases | accepted | rejected | schema alone | missed | rejected in error | caught | same fields | all fields |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""

#: Cases of one sort that the page lists.
_LISTED = 60
_PATTERN = re.compile(r" \(e\.g\..*?\?'\)")
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
        wrong=sum(fault.is_false_refusal for fault in total.faults),
        caught=total.caught,
        misses=total.misses,
        meant=total.misses - sum(fault.is_miss for fault in total.faults),
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
    found: dict[str, list[Comparison]] = {"Rejected in error": [], "Missed": [], **{known.name: [] for known in KNOWN}}
    for comparison in disagreements:
        plain = "Rejected in error" if comparison.is_false_refusal else "Missed"
        found[comparison.known.name if comparison.known else plain].append(comparison)
    reasons = {known.name: known.reason for known in KNOWN}
    parts = []
    for name, comparisons in found.items():
        title = f"Intended: {name}" if name in reasons else name
        parts.append(f"### {title} ({len(comparisons)})\n")
        parts.append(f"{reasons[name]}\n" if name in reasons else "")
        parts.extend(map(_entry, comparisons[:_LISTED]))
        if len(comparisons) > _LISTED:
            parts.append(f"- and {len(comparisons) - _LISTED} more")
        parts.append("")
    return "\n".join(_without_doubled_blanks(parts)).rstrip() + "\n"


def _without_doubled_blanks(parts: list[str]) -> list[str]:
    return [
        part
        for index, part in enumerate(parts)
        if part or (index and parts[index - 1] and parts[index - 1][-1] != "\n")
    ]


def _entry(comparison: Comparison) -> str:
    return (
        f"- {_code(comparison.case.title)}\n"
        f"  - API server: {_said(comparison.server)}\n"
        f"  - ours: {_said(comparison.ours)}"
    )


def _said(answer: Answer) -> str:
    # Without the regular expression that the API server adds: a page of Markdown reads it as a link.
    return "accepted" if answer.accepted else _code(_PATTERN.sub("", brief(answer, 600))[:300])


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    padding = " " if fence == "``" else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _share(part: int, whole: int) -> float:
    return 100.0 if not whole else 100 * part / whole
