"""The findings of a verdict, and its notes, as reports list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crdgen.reading import Manifest
from crdgen.reporting import Result, Severity
from jobgate.jobs.runner import left_alone
from jobgate.offline.judge import NOT_CHECKED, OTHER_KIND, ReviewOptions, Verdict
from webhook import Cause


def results_of(document: Mapping[str, Any], verdict: Verdict, options: ReviewOptions) -> list[Result]:
    """Return the findings in an object, without their places."""
    results = [
        Result(
            rule or "review",
            Severity.ERROR if isinstance(finding, Cause) else Severity.WARNING,
            str(finding.path),
            finding.message,
            steps=finding.path.steps,
            of_key=rule == "unknown-field",
        )
        for rule, finding in (verdict.findings if verdict.reviewed else ())
        if rule != NOT_CHECKED
    ]
    kind = options.kinds.get(str(document.get("apiVersion")), str(document.get("kind")))
    why = left_alone(kind, options.settings.runs, options.settings.operator_can) if kind is not None else ""
    return [*results, Result("not-run", Severity.WARNING, "", why)] if why else results


def notes_of(manifest: Manifest, verdict: Verdict) -> list[str]:
    """Return why an object is not reviewed, and what was not checked."""
    others = [str(finding) for rule, finding in verdict.findings if rule != OTHER_KIND]
    left_out = others if not verdict.reviewed and verdict.allowed else []
    unchecked = {f"note: {finding}" for rule, finding in verdict.findings if rule == NOT_CHECKED}
    return [*(f"{manifest.file}:{manifest.line}: {note}" for note in left_out), *sorted(unchecked)]
