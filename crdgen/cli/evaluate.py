"""`crdgen eval`: validate objects against a CRD."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from crdgen.cli.sources import UsageError, name_of, objects, one_definition, output_argument, write_json
from crdgen.evaluate import ErrorType, Evaluation, Violation, evaluate
from crdgen.lint import LintSeverity, lint
from crdgen.reading import Manifest
from crdgen.resource.text import to_yaml
from crdgen.schema.look import mapping, missing, path_of, shown

ABOUT: Final = """Report how the API server would handle objects: which fields it prunes, which defaults it sets, which
errors it returns.

Ignores objects of other kinds. Does not check admission webhooks, quotas or authorization.

Exit status: 0 if all objects are accepted, 1 if one is rejected, 2 if a file cannot be read or has no object of the
kind."""

EXAMPLES: Final = """
  crdgen eval widget.yaml --crd crds/widgets.yaml
  crdgen eval widget.yaml --crd crds/widgets.yaml --old stored.yaml    # as an update of the stored object
  crdgen eval widget.yaml --crd crds/widgets.yaml --output yaml        # the object as stored
"""

_REASONS: Final = {
    ErrorType.REQUIRED: "Required value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.DUPLICATE: "Duplicate value",
}


class _Verdict(NamedTuple):
    """The result for an object, with the fields that are pruned, otherwise dropped, and defaulted, by path."""

    manifest: Manifest
    name: str
    result: Evaluation
    pruned: dict[str, Any]
    dropped: dict[str, Any]
    defaulted: dict[str, Any]

    @property
    def place(self) -> str:
        return f"{self.manifest.file}:{self.manifest.line}"


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", metavar="FILE", help="file with the objects, or - for standard input")
    parser.add_argument("--crd", metavar="FILE", required=True, help="file with the CRD")
    parser.add_argument("--old", metavar="FILE", help="file with the stored objects, to evaluate updates")
    output_argument(parser, "json", "yaml")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    definition = _definition(options.crd)
    old_manifests = objects(options.old) if options.old else []
    stored = {_key(manifest.object): manifest.object for manifest in old_manifests}
    manifests = [manifest for manifest in objects(options.file) if _is_of(definition, manifest.object)]
    if not manifests:
        kind = f"{mapping(definition, 'spec').get('group')} {mapping(definition, 'spec', 'names').get('kind')}"
        raise UsageError(f"{options.file}: contains no {kind}, the kind that {options.crd} defines")
    verdicts = [_verdict(definition, manifest, stored.get(_key(manifest.object))) for manifest in manifests]
    if options.output == "json":
        write_json([_entry(verdict) for verdict in verdicts])
    else:
        sys.stdout.write(
            _yaml(verdicts)
            if options.output == "yaml"
            else "".join(f"{line}\n" for verdict in verdicts for line in _lines(verdict))
        )
    return int(any(verdict.result.violations for verdict in verdicts))


def _definition(file: str) -> dict[str, Any]:
    """Return the CRD, if the API server accepts it."""
    definition = one_definition(file).object
    for finding in lint(definition):
        if finding.severity is LintSeverity.ERROR:
            raise UsageError(
                f"{file}: the API server rejects the CRD: {finding.path}: {finding.problem} (see crdgen lint)"
            )
    return definition


def _is_of(definition: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    group, kind = mapping(definition, "spec").get("group"), mapping(definition, "spec", "names").get("kind")
    return document.get("kind") == kind and str(document.get("apiVersion")).partition("/")[0] == group


def _verdict(definition: Mapping[str, Any], manifest: Manifest, old: Any) -> _Verdict:
    try:
        result = evaluate(definition, manifest.object, old=old)
    except ValueError as error:
        raise UsageError(f"{manifest.file}:{manifest.line}: {error}") from error
    for sentence in result.unchecked:
        sys.stderr.write(f"{manifest.file}:{manifest.line}: note: {sentence}\n")
    dropped = dict(missing(manifest.object, result.object))
    pruned = {path: dropped.pop(path) for path in result.pruned if path in dropped}
    defaulted = dict(missing(result.object, manifest.object))
    return _Verdict(manifest, name_of(manifest), result, pruned, dropped, defaulted)


def _key(document: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    metadata = mapping(document, "metadata")
    return document.get("kind"), metadata.get("namespace"), metadata.get("name")


def _lines(verdict: _Verdict) -> Iterator[str]:
    kind = verdict.manifest.object.get("kind")
    word = "rejected" if verdict.result.violations else "accepted"
    yield f"{verdict.place}: {kind} {verdict.name}: {word}"
    for path, value in verdict.pruned.items():
        yield f"  - {path}: {shown(value, 200)} is pruned: the field is not declared"
    for path, value in verdict.dropped.items():
        why = "null is removed" if value is None else f"{shown(value, 200)} is ignored: only its subresource writes it"
        yield f"  - {path}: {why}"
    for path, value in verdict.defaulted.items():
        yield f"  + {path}: {shown(value, 200)} is the default"
    causes = [_cause(violation) for violation in verdict.result.violations]
    if len(causes) == 1:
        yield f'The {kind} "{verdict.name}" is invalid: {causes[0]}'
    elif causes:
        yield f'The {kind} "{verdict.name}" is invalid:'
        yield from (f"* {cause}" for cause in causes)


def _cause(violation: Violation) -> str:
    """Return a cause as `kubectl` prints it: path, reason, value, message."""
    value = "" if violation.reason is ErrorType.REQUIRED else f"{shown(violation.value, 200)}: "
    return f"{_path(violation.path)}: {_REASONS.get(violation.reason, 'Invalid value')}: {value}{violation.message}"


def _path(steps: tuple[str | int, ...]) -> str:
    return path_of(steps).lstrip(".") or "<nil>"


def _entry(verdict: _Verdict) -> dict[str, Any]:
    return {
        "file": verdict.manifest.file,
        "line": verdict.manifest.line,
        "name": verdict.name,
        "accepted": not verdict.result.violations,
        "pruned": verdict.pruned,
        "left": verdict.dropped,
        "defaulted": verdict.defaulted,
        "causes": [
            {"field": _path(cause.path), "reason": str(cause.reason), "value": cause.value, "message": cause.message}
            for cause in verdict.result.violations
        ],
        "object": verdict.result.object,
    }


def _yaml(verdicts: list[_Verdict]) -> str:
    for verdict in verdicts:
        for violation in verdict.result.violations:
            sys.stderr.write(f"{verdict.place}: {_cause(violation)}\n")
    return "---\n".join(to_yaml(verdict.result.object) for verdict in verdicts)
