"""`crdgen lint`: report what the API server rejects in CRDs."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from crdgen.cli.sources import KIND, UsageError, files, name_of, objects, output_argument, write_json
from crdgen.lint import Finding, LintSeverity, lint

ABOUT: Final = """Report errors, which the API server rejects, and warnings, for fields that have no effect or a
surprising one.

FILE is a YAML or JSON file with one or more objects, a directory to search for CRDs, or - for standard input. Ignores
objects of other kinds.

Exit status: 0 if there are no errors, 1 if there are errors (with --strict, also warnings), 2 if a file cannot be read
or there is no CRD."""

EXAMPLES: Final = """
  crdgen lint crds/                                   # all CRDs in the directory
  crdgen lint --strict widget.yaml                    # fail on warnings too
  kubectl get crd -o yaml | crdgen lint -             # all CRDs in a cluster
  crdgen lint --output sarif crds/ > findings.sarif   # for code scanning
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file, a directory, or - for standard input")
    output_argument(parser, "json", "sarif")
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    findings_by_file: dict[str, list[Finding]] = {}
    broken = False
    for file in (file for path in options.files for file in files(path)):
        try:
            findings_by_file.update(_lint(file))
        except UsageError as error:
            sys.stderr.write(f"{error}\n")
            broken = True
    if not findings_by_file and not broken:
        raise UsageError(f"{', '.join(options.files)}: no {KIND} found")
    match options.output:
        case "text":
            sys.stdout.write(text(findings_by_file))
        case "json":
            write_json(entries(findings_by_file))
        case "sarif":
            write_json(sarif(findings_by_file))
    if broken:
        return 2
    all_findings = [finding for findings in findings_by_file.values() for finding in findings]
    return int(any(options.strict or finding.severity is LintSeverity.ERROR for finding in all_findings))


def _lint(file: str) -> dict[str, list[Finding]]:
    """Return the findings in a file, if it contains a CRD. If it contains several, paths begin with the CRD's name."""
    manifests = [manifest for manifest in objects(file) if manifest.object.get("kind") == KIND]
    findings: list[Finding] = []
    for manifest in manifests:
        for key in manifest.duplicates:
            sys.stderr.write(
                f"{manifest.file}:{manifest.line}: warning: {key} is a duplicate key: the last value is used\n"
            )
        found = lint(manifest.object)
        if len(manifests) > 1:
            found = [replace(finding, path=f"{name_of(manifest)}: {finding.path}") for finding in found]
        findings += found
    return {manifests[0].file: findings} if manifests else {}


def text(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    """Return a paragraph per finding, errors first, and a summary line."""
    paragraphs = [
        f"{file}: {finding.severity}: {finding.path or '(document)'}: {finding.problem}\n"
        f"    {finding.fix} [{finding.rule}]\n"
        for file, findings in findings_by_file.items()
        for finding in sorted(findings, key=lambda finding: finding.severity is not LintSeverity.ERROR)
    ]
    return "".join([*paragraphs, _summary(findings_by_file)])


def entries(findings_by_file: Mapping[str, Sequence[Finding]]) -> list[dict[str, Any]]:
    """Return one object per finding."""
    return [
        {"file": file, "severity": finding.severity} | asdict(finding)
        for file, findings in findings_by_file.items()
        for finding in findings
    ]


def _summary(findings_by_file: Mapping[str, Sequence[Finding]]) -> str:
    all_findings = [finding for findings in findings_by_file.values() for finding in findings]
    errors = sum(finding.severity is LintSeverity.ERROR for finding in all_findings)
    parts = [_count(errors, "error"), _count(len(all_findings) - errors, "warning")]
    return f"{_count(len(findings_by_file), 'file')}: {', '.join(parts)}\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings_by_file: Mapping[str, Sequence[Finding]]) -> dict[str, Any]:
    """Return the findings as one SARIF run."""
    severities = {finding.rule: str(finding.severity) for findings in findings_by_file.values() for finding in findings}
    rules = [{"id": name, "defaultConfiguration": {"level": severities[name]}} for name in sorted(severities)]
    results = [_result(file, finding) for file, findings in findings_by_file.items() for finding in findings]
    run = {"tool": {"driver": {"name": "crdgen lint", "rules": rules}}, "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(file: str, finding: Finding) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "level": str(finding.severity),
        "message": {"text": f"{finding.path}: {finding.problem}. {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(file)}},
                "logicalLocations": [{"fullyQualifiedName": finding.path}],
            }
        ],
    }


def _uri(file: str) -> str:
    """Return the file name as a relative URI reference."""
    return file.replace("\\", "/").replace("%", "%25").replace(" ", "%20")
