"""Findings as text, as JSON, and as SARIF 2.1.0, the format of code scanning (OASIS, sarif-v2.1.0-os)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from crdgen.lint.rule import Finding, Severity


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


_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return the findings as one SARIF run."""
    broken = {found.rule: found.severity for findings in findings_by_file.values() for found in findings}
    names = sorted(broken)
    driver = {"name": "crdgen lint", "rules": [_rule(name, broken[name]) for name in names]}
    run = {
        "tool": {"driver": driver},
        "artifacts": [{"location": {"uri": _uri(file)}} for file in findings_by_file],
        "results": list(_results(findings_by_file, names)),
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str, severity: Severity) -> dict[str, Any]:
    return {"id": name, "defaultConfiguration": {"level": str(severity)}}


def _results(findings_by_file: Mapping[str, Sequence[Finding]], names: list[str]) -> Iterator[dict[str, Any]]:
    indices = {name: index for index, name in enumerate(names)}
    for place, (file, findings) in enumerate(findings_by_file.items()):
        for finding in findings:
            yield {
                "ruleId": finding.rule,
                "ruleIndex": indices[finding.rule],
                "level": str(finding.severity),
                "message": {"text": f"{finding.path}: {finding.problem}. {finding.fix}"},
                "locations": [
                    {
                        "physicalLocation": {"artifactLocation": {"uri": _uri(file), "index": place}},
                        "logicalLocations": [{"fullyQualifiedName": finding.path}],
                    }
                ],
            }


def _uri(file: str) -> str:
    """Return the file name as a relative URI reference."""
    return file.replace("\\", "/").replace("%", "%25").replace(" ", "%20")
