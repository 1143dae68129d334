"""`crdgen lint`: report what the API server rejects in CRDs."""

from argparse import ArgumentParser, Namespace
from typing import Final

from crdgen.cli.sources import KIND, finish, read_tree, report_arguments, watched
from crdgen.lint import lint
from crdgen.reading import Manifest
from crdgen.reporting import Judged, Report, Result, count
from crdgen.schema.look import mapping, steps_of

ABOUT: Final = """Report errors, which the API server rejects, and warnings, for fields that have no effect or a
surprising one.

PATH is a YAML or JSON file with any number of objects, a directory, a glob, or - for standard input. Ignores objects of
other kinds, and names files that are no plain YAML. A comment `# crdgen: ignore[RULE]` accepts a finding of its line.

Exit status: 0 if there are no errors or nothing to lint, 1 if there are errors (with --strict, also warnings), 2 if a
file cannot be read."""

EXAMPLES: Final = """
  crdgen lint -R config/                              # all CRDs below the directory
  crdgen lint --strict widget.yaml                    # fail on warnings too
  kubectl get crd -o yaml | crdgen lint -             # all CRDs in a cluster
  crdgen lint --output sarif crds/ > findings.sarif   # for code scanning
  crdgen lint -R . --baseline accepted.json --write-baseline
"""
#: Rules of `crdgen eval`, for which the same settings may have entries.
_RULES_OF_EVAL: Final = frozenset(
    (
        *("required", "invalid", "type-invalid", "not-supported", "too-long", "too-many", "duplicate", "forbidden"),
        *("unknown-version", "unknown-field", "rejected-crd"),
    )
)
#: Fields of the spec that each CRD has. Patches of kustomize have none of them.
_IN_EACH: Final = frozenset(("group", "names", "scope"))


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    report_arguments(parser)


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    tree = read_tree(options.paths, recursive=options.recursive)
    definitions = [manifest for manifest in tree.manifests if manifest.object["kind"] == KIND]
    whole, patches = list[Manifest](), list[Manifest]()
    for each in definitions:
        (whole if _IN_EACH & mapping(each.object, "spec").keys() else patches).append(each)
    notes = [f"{each.file}:{each.line}: left out: has no group, names and scope; a patch of a CRD?" for each in patches]
    report = Report(
        "crdgen lint", "CRD", failures=tree.failures, notes=[*tree.left_out, *notes], foreign=_RULES_OF_EVAL
    )
    report.items = [_judged(each) for each in watched(whole, "CRDs linted")]
    if others := len(tree.manifests) - len(definitions):
        report.others.append(f"{count(others, 'object')} of other kinds")
    return finish(report, options)


def _judged(manifest: Manifest) -> Judged:
    results = [
        Result(
            finding.rule,
            finding.severity,
            finding.path,
            finding.problem,
            finding.fix,
            steps_of(finding.path),
        )
        for finding in lint(manifest.object)
    ]
    return Judged(manifest, "", results)
