"""Findings as text and as JSON; `crdgen.lint.sarif` has SARIF."""

import json
from collections.abc import Mapping, Sequence

from crdgen.lint.finding import Finding, Severity


def text(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return a paragraph per finding, errors first, and a summary line."""
    paragraphs = [
        f"{file}: {finding.severity}: {finding.path or '(document)'}: {finding.problem}\n"
        f"    {finding.fix} [{finding.rule}]\n"
        for file, findings in findings_by_file.items()
        for finding in sorted(findings, key=lambda found: found.severity is not Severity.ERROR)
    ]
    return "".join([*paragraphs, _summary(findings_by_file)])


def as_json(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return a JSON list with one object per finding."""
    entries = [
        {
            "file": file,
            "severity": str(finding.severity),
            "path": finding.path,
            "problem": finding.problem,
            "fix": finding.fix,
            "rule": finding.rule,
        }
        for file, findings in findings_by_file.items()
        for finding in findings
    ]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def _summary(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    every = [finding for findings in findings_by_file.values() for finding in findings]
    errors = sum(finding.severity is Severity.ERROR for finding in every)
    parts = [_count(errors, "error"), _count(len(every) - errors, "warning")]
    return f"{_count(len(findings_by_file), 'file')}: {', '.join(parts)}\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
