"""`crdgen eval`: validate objects against their CRDs."""

import subprocess
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from shutil import which
from typing import Any, Final

from crdgen import cel
from crdgen.cli.sources import KIND, UsageError, finish, name_of, objects, parsed, read_tree, report_arguments, watched
from crdgen.evaluate import ErrorType, Evaluation, ResourceEvaluator, Violation
from crdgen.evaluate.rules import NOT_CHECKED
from crdgen.evaluate.stored import stored_object
from crdgen.lint import rejections
from crdgen.lint.checking import RULES
from crdgen.reading import Manifest, path_text
from crdgen.reporting import Judged, Report, Result, Severity, count, placed
from crdgen.resource.text import to_yaml
from crdgen.schema.look import mapping, missing, named, shown, steps_of

ABOUT: Final = """Report how the API server would handle custom resources: which fields it prunes, which defaults it
sets, which errors it returns. Does not check admission webhooks, quotas or authorization.

PATH is a YAML or JSON file with any number of objects, a directory, a glob, or - for standard input, such as the output
of `kustomize build` or `helm template`. CRDs are those in --crd, in the cluster, and in PATH. Objects without a CRD are
counted, and files that are no plain YAML are named. A comment `# crdgen: ignore[RULE]` accepts a finding of its line;
.crdgen.yaml or pyproject.toml accept findings by rule, path and field.

Exit status: 0 if all objects are accepted or there is nothing to judge, 1 if one is rejected (with --strict, also for
warnings), 2 if a file cannot be read or the API server rejects a CRD."""

EXAMPLES: Final = """
  crdgen eval widget.yaml --crd crds/widgets.yaml
  crdgen eval -R config/ --crd crds/                                   # all objects below config/
  crdgen eval -R . --strict --baseline accepted.json                   # CRDs and objects of one repository
  helm template chart/ | crdgen eval - --cluster                       # with the CRDs of the cluster
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
#: Groups of the API server itself without a dot, and those below `k8s.io`, where CRDs may have groups, too.
_CORE: Final = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
_BUILT_IN: Final = frozenset(
    f"{name}.k8s.io"
    for name in (
        *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
        *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver"),
        *("networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration"),
    )
)
#: Most unknown kinds that the summary names.
_NAMED: Final = 5


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    report_arguments(parser, "yaml")
    parser.add_argument(
        "--crd", metavar="PATH", action="append", default=[], help="CRDs: a file, directory or glob; repeatable"
    )
    parser.add_argument("--cluster", action="store_true", help="also use the CRDs of the cluster, read by kubectl")
    parser.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig of the cluster, for --cluster")
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig, for --cluster")
    parser.add_argument("--old", metavar="FILE", help="file with the stored objects, to evaluate updates")


def run(options: Namespace) -> int:
    """Run the command, and return the exit status."""
    tree = read_tree(options.paths, recursive=options.recursive)
    crds = read_tree(options.crd, recursive=True)
    given = [manifest for manifest in crds.manifests if manifest.object["kind"] == KIND]
    if options.crd and not given and not crds.failures:
        raise UsageError(f"{', '.join(options.crd)}: contains no {KIND}")
    if options.cluster or options.kubeconfig or options.context:
        given += _of_cluster(options.kubeconfig, options.context)
    own = [manifest for manifest in tree.manifests if manifest.object["kind"] == KIND]
    stored = [manifest.object for manifest in objects(options.old)] if options.old else None
    failures, notes = [*tree.failures, *crds.failures], [*tree.left_out, *crds.left_out]
    report = Report(
        "crdgen eval", "object", failures=failures, notes=notes, foreign=frozenset(rule.name for rule in RULES)
    )
    evaluation = _Evaluation([*given, *own], stored, report)
    for manifest in watched(tree.manifests, "objects evaluated"):
        evaluation.judge(manifest, with_object=options.output in {"json", "yaml"})
    evaluation.summarize(files_without_objects=tree.others)
    status = finish(report, options)
    if options.output == "yaml":
        print("---\n".join(to_yaml(item.entry["object"]) for item in report.items if item.entry), end="")  # noqa: T201
    return status


def _of_cluster(kubeconfig: str | None, context: str | None) -> list[Manifest]:
    """Return the CRDs of a cluster. `kubectl` reads the kubeconfig and authenticates."""
    program = which("kubectl")
    if program is None:
        raise UsageError("kubectl is not installed, which --cluster needs: specify files with --crd instead")
    flags = [f"--{name}={value}" for name, value in (("kubeconfig", kubeconfig), ("context", context)) if value]
    command = [program, "get", "customresourcedefinitions", "--output=json", *flags]
    answer = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if answer.returncode:
        # The lines before the last one are the log of client-go: the same problem, several times.
        lines = answer.stderr.decode(errors="replace").strip().splitlines() or [f"exit status {answer.returncode}"]
        raise UsageError(f"kubectl: {lines[-1]}")
    return parsed(answer.stdout, "the cluster")


class _Evaluation:
    """Evaluates objects, with the CRD of each kind."""

    def __init__(
        self, definitions: Sequence[Manifest], stored: Sequence[Mapping[str, Any]] | None, report: Report
    ) -> None:
        self._definitions: dict[tuple[Any, Any], list[Manifest]] = {}
        for manifest in definitions:
            spec = mapping(manifest.object, "spec")
            kind = spec.get("group"), mapping(spec, "names").get("kind")
            if isinstance(kind[0], str) and isinstance(kind[1], str):
                self._definitions.setdefault(kind, []).append(manifest)
        self._evaluators: dict[int, ResourceEvaluator | None] = {}
        self._stored = stored
        self._report = report
        self._built_in = 0
        self._unknown = Counter[str]()
        self._unchecked = Counter[str]()

    def judge(self, manifest: Manifest, *, with_object: bool) -> None:
        """Add the verdict on an object to the report, or count it."""
        object_ = manifest.object
        group, _, version = object_["apiVersion"].rpartition("/")
        definitions = self._definitions.get((group, object_["kind"]), [])
        if not definitions:
            if group in _CORE or group in _BUILT_IN:
                self._built_in += 1
            else:
                self._unknown[f"{object_['kind']}.{group}"] += 1
            return
        serving = [definition for definition in definitions if version in _served(definition)]
        if not serving:
            served = ", ".join(f"{group}/{name}" for name in _served(definitions[0])) or "none"
            problem = f"{definitions[0].file} serves no {object_['apiVersion']}, but {served}"
            self._add(manifest, [_result("unknown-version", "apiVersion", problem, ("apiVersion",))])
        elif evaluator := self._evaluator(serving):
            result = evaluator.evaluate(object_, old=self._old(object_))
            self._unchecked.update(result.unchecked)
            self._add(manifest, *_findings(object_, result), result if with_object else None)

    def _old(self, object_: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if self._stored is None:
            return None
        old = stored_object(object_, self._stored)
        if old is None:
            self._unchecked["evaluated as new: --old contains no object of this kind and name"] += 1
        return old

    def _add(
        self, manifest: Manifest, results: list[Result], details: Sequence[str] = (), result: Evaluation | None = None
    ) -> None:
        entry = _entry(manifest, result) if result else None
        self._report.items.append(Judged(manifest, "accepted", results, list(details), entry))

    def _evaluator(self, definitions: list[Manifest]) -> ResourceEvaluator | None:
        """Return the evaluator of the first CRD of several; None if the API server rejects the CRD."""
        definition = definitions[0]
        if id(definition) not in self._evaluators:
            self._report.notes += [
                f"{other.file}:{other.line}: differs from {definition.file}:{definition.line}, which is used instead"
                for other in definitions[1:]
                if other.object["spec"] != definition.object["spec"]
            ]
            errors = rejections(definition.object)
            self._report.failures += placed(
                definition,
                [
                    _result("rejected-crd", error.path, error.problem, steps_of(error.path), failure=True)
                    for error in errors
                ],
            )
            self._evaluators[id(definition)] = None if errors else ResourceEvaluator(definition.object)
        return self._evaluators[id(definition)]

    def summarize(self, files_without_objects: int) -> None:
        """Add to the report what was not judged."""
        report = self._report
        if self._built_in:
            report.others.append(f"{self._built_in:,} of built-in kinds")
        if self._unknown:
            kinds = [f"{kind} {number}" for kind, number in self._unknown.most_common(_NAMED)]
            more = ["…"] if len(self._unknown) > _NAMED else []
            report.others.append(f"{self._unknown.total():,} without CRD ({', '.join([*kinds, *more])})")
        if files_without_objects:
            report.others.append(f"{count(files_without_objects, 'file')} without objects")
        not_installed = [sentence for sentence in self._unchecked if sentence.endswith(cel.NOT_INSTALLED)]
        if not_installed:
            report.notes.append(f"note: {count(len(not_installed), 'rule')} not checked: {cel.NOT_INSTALLED}")
        report.notes += [
            f"note: {sentence} ({count(number, 'object')})"
            for sentence, number in self._unchecked.items()
            if sentence not in not_installed
        ]


def _served(manifest: Manifest) -> list[str]:
    versions = named(mapping(manifest.object, "spec").get("versions"))
    return [name for name, version in versions.items() if version.get("served")]


def _result(rule: str, path: str, problem: str, steps: tuple[str | int, ...], *, failure: bool = False) -> Result:
    return Result(rule, Severity.ERROR, path, problem, steps=steps, failure=failure)


def _findings(object_: Mapping[str, Any], evaluation: Evaluation) -> tuple[list[Result], list[str]]:
    """Return the findings in an object, and lines about what the API server changes."""
    dropped = dict(missing(object_, evaluation.object))
    # Nulls in metadata are no unknown fields: many programs write `creationTimestamp: null`.
    pruned = [
        path
        for path in evaluation.pruned
        if path in dropped and (dropped[path] is not None or not path.startswith("metadata."))
    ]
    results = [
        _result(_rule(violation), _path(violation.path), _problem(violation), violation.path)
        for violation in evaluation.violations
        if violation.message != NOT_CHECKED
    ]
    for path in pruned:
        problem = f"{shown(dropped.pop(path))} is pruned: the field is not declared"
        results.append(Result("unknown-field", Severity.WARNING, path, problem, steps=steps_of(path), of_key=True))
    details = [f"  - {path}: {_why_dropped(value)}" for path, value in dropped.items()]
    details += [
        f"  + {path}: {shown(value, 200)} is the default" for path, value in missing(evaluation.object, object_)
    ]
    return results, details


def _why_dropped(value: Any) -> str:
    return "null is removed" if value is None else f"{shown(value)} is ignored: only its subresource writes it"


def _rule(violation: Violation) -> str:
    """Return the reason as the name of a rule: `type-invalid`."""
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in violation.reason).lstrip("-")


def _problem(violation: Violation) -> str:
    """Return a cause as `kubectl` prints it: reason, value, message. As on the API server, objects are not shown."""
    is_shown = violation.reason is not ErrorType.REQUIRED and not isinstance(violation.value, dict | list)
    value = f"{shown(violation.value, 200)}: " if is_shown else ""
    return f"{_REASONS.get(violation.reason, 'Invalid value')}: {value}{violation.message}"


def _path(steps: tuple[str | int, ...]) -> str:
    return path_text(steps) or "<nil>"


def _entry(manifest: Manifest, result: Evaluation) -> dict[str, Any]:
    dropped = dict(missing(manifest.object, result.object))
    return {
        "file": manifest.file,
        "line": manifest.line,
        "name": name_of(manifest),
        "accepted": not result.violations,
        "pruned": {path: dropped.pop(path) for path in result.pruned if path in dropped},
        "left": dropped,
        "defaulted": dict(missing(result.object, manifest.object)),
        "causes": [
            {"field": _path(cause.path), "reason": str(cause.reason), "value": cause.value, "message": cause.message}
            for cause in result.violations
        ],
        "object": result.object,
    }
