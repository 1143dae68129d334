"""`crdgen test`: run the cases of YAML files."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from crdgen.cases import Suite, UnusableFile
from crdgen.cli.sources import UsageError, write_json

ABOUT: Final = """Run test cases of CRDs and admission policies: writes of objects, with the expected verdict.

PATH is a file of cases, or a directory to search for files *.cases.yaml. A file of cases:

  crds: [crds/widgets.yaml]
  policies: [policies/]                  # ValidatingAdmissionPolicies, optional
  file: samples/widget.yaml              # or object: the object that the cases change
  cases:
    - name: a small widget is accepted
      patch: {spec: {replicas: 1}}
    - name: replicas have a limit
      patch: {spec: {replicas: 100}}
      rejected: [{field: spec.replicas, words: at most 9}]
    - name: the size is immutable
      from: {spec: {size: 1}}            # an update of the object with these changes
      rejected: [{field: spec.size}]

Installed packages judge objects of their own kinds; those of jobgate need no CRD.

Exit status: 0 if all cases pass, 1 if one fails, 2 if a file cannot be used or there are no cases."""

EXAMPLES: Final = """
  crdgen test widgets.cases.yaml
  crdgen test . --coverage           # and list the rules and constraints that no case violates
"""


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files of cases, or directories")
    parser.add_argument("--coverage", action="store_true", help="list the rules and constraints that no case violates")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of files of cases, for editors")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    if options.schema:
        from crdgen.cases import CaseFile  # noqa: PLC0415 - only for this

        write_json({"$schema": "https://json-schema.org/draft/2020-12/schema"} | CaseFile.model_json_schema())
        return 0
    passed = failed = 0
    coverage: dict[str, dict[str, bool]] = {}
    for file in _files(options.paths):
        try:
            suite = Suite(file, coverage)
        except UnusableFile as error:
            raise UsageError(str(error)) from error
        for case in suite.cases:
            problems = suite.run(case)
            passed, failed = passed + (not problems), failed + bool(problems)
            for problem in problems:
                sys.stdout.write(f"{file}:{suite.line(case)}: {case.name}: {problem}\n")
    for judge, rules in coverage.items():
        missed = [rule for rule, hit in rules.items() if not hit]
        sys.stdout.write(f"{judge}: {len(rules) - len(missed)} of {len(rules)} rules and constraints are violated\n")
        sys.stdout.writelines(f"  never violated: {rule}\n" for rule in missed if options.coverage)
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return int(failed > 0)


def _files(paths: list[str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        files += sorted(path.rglob("*.cases.yaml")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{', '.join(paths) or 'no PATH'}: no files *.cases.yaml found")
    return files
