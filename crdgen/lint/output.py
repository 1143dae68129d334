"""Findings as text for people, and as JSON for programs. Another form for programs is in `crdgen.lint.sarif`."""

import json
from collections.abc import Mapping, Sequence

from crdgen.lint.finding import Finding, Severity


def text(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return a paragraph a finding, what is refused first, and a line that counts them. Ends with a line break."""
    paragraphs = [
        f"{file}: {finding.severity}: {finding.path or 'the whole document'}: {finding.problem}\n"
        f"    {finding.fix} [{finding.rule}]\n"
        for file, findings in findings_by_file.items()
        for finding in sorted(findings, key=lambda found: found.severity is not Severity.REFUSED)
    ]
    return "".join([*paragraphs, _summary(findings_by_file)])


def as_json(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return a JSON list of objects with the fields of a finding and its `file`. Ends with a line break."""
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
    refused = sum(finding.severity is Severity.REFUSED for finding in every)
    files = len(findings_by_file)
    return f"{files} file{'' if files == 1 else 's'}: {refused} refused, {len(every) - refused} surprising\n"
