"""A report as text, JSON, SARIF, annotations of GitHub or JUnit."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from crdgen.reporting.accepted import accept
from crdgen.reporting.result import STDIN, Report, Result, count, file_of, printable
from crdgen.severity import Severity

#: Names of the formats that all reports have.
FORMATS: Final = ("text", "json", "sarif", "github", "junit")
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: Limit of rows in the summary of a GitHub job, which takes at most a megabyte.
_ROWS: Final = 500


def conclude(
    report: Report,
    *,
    output: str = "text",
    strict: bool = False,
    quiet: bool = False,
    brief: bool = False,
    baseline: str | None = None,
    write_baseline: bool = False,
    paint: Callable[[str], str] = str,
) -> int:
    """Print a report without the accepted findings, and return the exit status.

    Args:
        report: the report.
        output: one of `FORMATS`; another one prints no findings on standard output.
        strict: whether warnings count as errors.
        quiet: whether to print findings only.
        brief: whether text omits the objects without findings.
        baseline: the file of accepted findings.
        write_baseline: whether to write it.
        paint: colours a word such as `error`.
    """
    report.locate()
    accept(report, report.tool.partition(" ")[0], baseline, write=write_baseline)
    if not quiet:
        sys.stderr.write("".join(f"{note}\n" for note in report.notes))
    lines = list(_lines(report, paint, with_objects=not quiet and not brief))
    summary = [] if quiet else [_summary(report)]
    match output:
        case "text":
            _print([*lines, *summary])
        case "json":
            _print([json.dumps(entries(report), indent=2, ensure_ascii=False)])
        case "sarif":
            _print([json.dumps(_sarif(report), indent=2, ensure_ascii=False)])
        case "github":
            _print([*map(_annotation, report.results), *summary])
            _write_step_summary(report)
        case "junit":
            _print([_junit(report, strict=strict)])
    if output != "github":
        failures = report.failures if output in FORMATS else report.results
        sys.stderr.write("".join(f"{line}\n" for result in failures for line in _text(result, paint)))
    return report.status(strict=strict)


def _print(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _lines(report: Report, paint: Callable[[str], str], *, with_objects: bool) -> Iterator[str]:
    for item in report.items:
        for result in item.results:
            yield from _text(result, paint)
        if with_objects and item.verdict and not any(result.severity is Severity.ERROR for result in item.results):
            manifest = item.manifest
            yield f"{manifest.file}:{manifest.line}: {item.subject}: {paint(item.verdict)}"
            yield from item.details


def _text(result: Result, paint: Callable[[str], str]) -> Iterator[str]:
    text = f"{result.place}: {paint(str(result.severity))}: {result.text}"
    yield text if result.fix else f"{text} [{result.rule}]"
    if result.fix:
        yield f"    {result.fix} [{result.rule}]"


def entries(report: Report) -> list[dict[str, Any]]:
    """Return the entries in JSON: failures, and of each object one with its findings, or each finding."""
    written = [result.entry for result in report.failures]
    for item in report.items:
        findings = [result.entry for result in item.results]
        written += findings if item.entry is None else [{**item.entry, "findings": findings}]
    return written


def _summary(report: Report) -> str:
    errors = sum(result.severity is Severity.ERROR for result in report.results)
    parts = [count(errors, "error"), count(len(report.results) - errors, "warning")]
    others = f"; {'; '.join(report.others)}" if report.others else ""
    return f"{count(len(report.items), report.noun)}: {', '.join(parts)}{others}"


def _sarif(report: Report) -> dict[str, Any]:
    severities = {result.rule: str(result.severity) for result in report.results}
    rules = [{"id": name, "defaultConfiguration": {"level": severities[name]}} for name in sorted(severities)]
    run = {
        "tool": {"driver": {"name": report.tool, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(result) for result in report.results],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(result: Result) -> dict[str, Any]:
    from urllib.parse import quote  # noqa: PLC0415 - takes longer to import than a file to lint

    place: dict[str, Any] = {"artifactLocation": {"uri": quote(result.file.replace("\\", "/"))}}
    if result.line and not result.stream:
        place["region"] = {"startLine": result.line, "startColumn": max(result.column, 1)}
    location: dict[str, Any] = {"physicalLocation": place}
    if result.path:
        location["logicalLocations"] = [{"fullyQualifiedName": result.path}]
    return {
        "ruleId": result.rule,
        "level": str(result.severity),
        "message": {"text": f"{result.text}. {result.fix}" if result.fix else result.text},
        "locations": [location],
    }


def _annotation(result: Result) -> str:
    """Return the workflow command that marks a line. The line of a rendered stream is no line of its template."""
    properties = {"title": result.rule}
    if result.file != STDIN:
        lines = {} if result.stream or not result.line else {"line": str(result.line), "col": str(result.column)}
        properties = {"file": result.file, **lines, **properties}
    written = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    text = f"{result.text}: {result.fix}" if result.fix else result.text
    return f"::{result.severity} {written}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in "%\r\n" + more else char for char in text)


def _write_step_summary(report: Report) -> None:
    """Append a table to the summary of the job on GitHub, if there is one."""
    if not (file := os.environ.get("GITHUB_STEP_SUMMARY")):
        return
    results = report.results
    rows = [["Place", "Object", "Finding"], ["---"] * 3]
    rows += [
        [f"`{result.place}`", result.subject, f"{result.severity}: `{result.path}` {result.problem} ({result.rule})"]
        for result in results[:_ROWS]
    ]
    table = "".join(f"| {' | '.join(printable(cell).replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)
    more = f"\n… and {len(results) - _ROWS} more\n" if len(results) > _ROWS else ""
    with open(file, "a", encoding="utf-8") as stream:  # noqa: PTH123 - as GitHub names it
        stream.write(f"### {report.tool}\n\n{_summary(report)}\n\n{table + more if results else ''}\n")


def _junit(report: Report, *, strict: bool) -> str:
    """Return a test case for each object. With `strict`, warnings fail it, too."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - only this format needs it

    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", name=report.tool)
    failed = 0
    for file, name, results in [
        *((result.file, result.rule, [result]) for result in report.failures),
        *((file_of(item.manifest), item.subject, item.results) for item in report.items),
    ]:
        case = ET.SubElement(suite, "testcase", classname=file, name=name)
        if errors := [result for result in results if strict or result.severity is Severity.ERROR]:
            failed += 1
            text = "\n".join(line for result in errors for line in _text(result, str))
            ET.SubElement(case, "failure", message=errors[0].text, type=errors[0].rule).text = text
        if warnings := [result for result in results if not (strict or result.severity is Severity.ERROR)]:
            ET.SubElement(case, "system-out").text = "\n".join(
                line for result in warnings for line in _text(result, str)
            )
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failed)}
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True)
