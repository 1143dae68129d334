"""`crdgen lint`: report what the API server rejects in CRDs."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from crdgen.cli.command import Command, UsageError
from crdgen.cli.sources import KIND, files, name_of, objects
from crdgen.lint import Finding, Severity, lint
from crdgen.lint.output import as_json, sarif, text

_ABOUT: Final = """Report errors, which the API server rejects, and warnings, for fields that have no effect or a
surprising one.

FILE is a YAML or JSON file with one or more objects, a folder to search for CRDs, or - for standard input. Ignores
objects of other kinds.

Exit status: 0 if there are no errors, 1 if there are errors (with --strict, also warnings), 2 if a file cannot be read
or there is no CRD."""

_EXAMPLES: Final = """
  crdgen lint crds/                                   # all CRDs in the folder
  crdgen lint --strict widget.yaml                    # fail on warnings too
  kubectl get crd -o yaml | crdgen lint -             # all CRDs in a cluster
  crdgen lint --output sarif crds/ > findings.sarif   # for code scanning
"""

_OUTPUTS: Final[Mapping[str, Callable[[Mapping[str, Sequence[Finding]]], str]]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
}


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file, a folder, or - for standard input")
    parser.add_argument("--output", "-o", choices=list(_OUTPUTS), default="text", help="output format (default: text)")
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")


def _run(options: Namespace) -> int:
    found: dict[str, list[Finding]] = {}
    broken = False
    for file in (file for path in options.files for file in files(path)):
        try:
            found.update(_lint(file))
        except UsageError as error:
            sys.stderr.write(f"{error}\n")
            broken = True
    if not found and not broken:
        raise UsageError(f"{', '.join(options.files)}: no {KIND} found")
    sys.stdout.write(_OUTPUTS[options.output](found))
    if broken:
        return 2
    every = [finding for findings in found.values() for finding in findings]
    return int(any(options.strict or finding.severity is Severity.ERROR for finding in every))


def _lint(file: str) -> dict[str, list[Finding]]:
    """Return the findings in a file, if it contains a CRD. If it contains several, paths begin with the CRD's name."""
    manifests = [manifest for manifest in objects(file) if manifest.object.get("kind") == KIND]
    findings: list[Finding] = []
    for manifest in manifests:
        for key in manifest.duplicates:
            sys.stderr.write(
                f"{manifest.file}:{manifest.line}: warning: {key} is a duplicate key: the last value is used\n"
            )
        found_here = lint(manifest.object)
        if len(manifests) > 1:
            found_here = [replace(finding, path=f"{name_of(manifest)}: {finding.path}") for finding in found_here]
        findings += found_here
    return {manifests[0].file: findings} if manifests else {}


COMMAND: Final = Command(_ABOUT, _EXAMPLES, _arguments, _run)
