"""A file of cases with its CRDs, policies and objects."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeAlias

from crdgen.cases.coverage import constraints, violated_labels
from crdgen.cases.model import Case, CaseFile, ExpectedError, patched
from crdgen.cases.policies import BINDING, POLICY, described, in_namespace, judge_by_policy
from crdgen.cases.verdict import CaseVerdict, Request
from crdgen.evaluate import evaluate
from crdgen.lint import rejections
from crdgen.reading import UnreadableManifest, read
from crdgen.reading.entries import InvalidEntries, read_entries
from crdgen.schema.look import mapping, named, path_of, schema_of, without

#: Entry point of packages that judge objects of their kinds: a function of a `Request` that returns a `CaseVerdict`, or
#: None for an object of another kind.
JUDGES: Final = "crdgen.judges"
_CRD: Final = "CustomResourceDefinition"
_Judge: TypeAlias = Callable[[Request], CaseVerdict | None]


class UnusableFile(Exception):
    """A file of cases, or a file that it names, cannot be used. The message has a line for each fault."""


class Suite:
    """The cases of a file. `coverage` has the rules of each judge, and whether a case violated them.

    Several files may have one `coverage`.
    """

    def __init__(self, file: Path, coverage: dict[str, dict[str, bool]] | None = None) -> None:
        self.file = file
        self.coverage = {} if coverage is None else coverage
        try:
            self._content, self._lines = read_entries(file.read_bytes(), str(file), CaseFile)
        except (OSError, InvalidEntries) as error:
            reason = f"{file}: {error.strerror}" if isinstance(error, OSError) else str(error)
            raise UnusableFile(reason) from error
        self._crds = {
            (str(mapping(crd, "spec").get("group")), str(mapping(crd, "spec", "names").get("kind"))): crd
            for place, crd in self._objects("crds")
            if crd.get("kind") == _CRD and self._is_valid(place, crd)
        }
        self._policies = [each for _, each in self._objects("policies")]
        self._base = self._content.object or self._only("file")

    @property
    def cases(self) -> list[Case]:
        """The cases in the order of the file."""
        return self._content.cases

    def line(self, case: Case) -> int:
        """Return the line where a case begins."""
        return self._lines.at(["cases", self.cases.index(case)])

    def run(self, case: Case) -> list[str]:
        """Return why a case fails; empty if it passes."""
        try:
            request = self._request(case)
        except ValueError as error:
            return [str(error)]
        verdicts = list(self._verdicts(request))
        for verdict in verdicts:
            rules = self.coverage.setdefault(verdict.judge, {})
            rules.update({rule: hit or rules.get(rule, False) for rule, hit in verdict.rules.items()})
        if not verdicts:
            kind = f"{request.subject.get('apiVersion')} {request.subject.get('kind')}"
            return [f"nothing judges {kind}: name its CRD in `crds`, or a policy that applies in `policies`"]
        unchecked = [f"not decided: {sentence}" for verdict in verdicts for sentence in verdict.unchecked]
        errors = [error for verdict in verdicts for error in verdict.errors]
        warnings = [warning for verdict in verdicts for warning in verdict.warnings]
        missing = [
            f"no warning has the words {words!r}; warnings: {warnings or 'none'}"
            for words in case.warnings
            if not any(words in warning for warning in warnings)
        ]
        return [*unchecked, *_differences(case.rejected, errors), *missing]

    def _request(self, case: Case) -> Request:
        base = self._base if case.object is None else case.object
        old = None if case.stored is None else patched(base, case.stored)
        if case.delete:
            return Request(None, old or base, case.user, case.groups)
        return Request(patched(base, case.patch or {}), old, case.user, case.groups)

    def _verdicts(self, request: Request) -> Iterator[CaseVerdict]:
        group = str(request.subject.get("apiVersion")).rpartition("/")[0]
        crd = self._crds.get((group, str(request.subject.get("kind"))))
        if crd is None:
            yield from (verdict for judge in _installed() if (verdict := judge(request)) is not None)
        else:
            verdict, request = _judge_by_crd(crd, request)
            if request.object is not None:
                yield verdict
            if verdict.errors or verdict.unchecked:
                return  # the API server asks policies only about valid objects
        plurals = {key: mapping(each, "spec", "names").get("plural", "") for key, each in self._crds.items()}
        request, namespace = in_namespace(request, crd, self._content.namespace)
        params = [self._content.params] if isinstance(self._content.params, dict) else self._content.params
        given = {"request": dict(described(request, plurals)), "namespaceObject": namespace, "params": params}
        bindings = [each for each in self._policies if each.get("kind") == BINDING]
        for policy in self._policies:
            if policy.get("kind") == POLICY:
                by_policy = judge_by_policy(policy, bindings, request, given)
                if by_policy is not None:
                    yield by_policy

    def _objects(self, field: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects in the files that a field lists, with their place; of directories, those in all files."""
        for index, name in enumerate(getattr(self._content, field)):
            path = self.file.parent / name
            files = sorted(each for each in path.rglob("*") if each.suffix in {".yaml", ".yml", ".json"})
            for file in files if path.is_dir() else [path]:
                place = f"{self.file}:{self._lines.at([field, index])}: {field}[{index}]: {file}"
                yield from ((place, each) for each in self._read(file, field, index))

    def _is_valid(self, place: str, crd: Mapping[str, Any]) -> bool:
        """Return true, or raise if the API server rejects the CRD: nothing would be known of its objects."""
        for finding in rejections(crd):
            raise UnusableFile(f"{place}: the API server rejects the CRD: {finding.path}: {finding.problem}")
        return True

    def _only(self, field: str) -> dict[str, Any]:
        name = getattr(self._content, field)
        objects = [] if name is None else self._read(self.file.parent / name, field)
        if name is not None and len(objects) != 1:
            place = f"{self.file}:{self._lines.at([field])}"
            raise UnusableFile(f"{place}: {field}: {name} has {len(objects)} objects: it must have one")
        return objects[0] if objects else {}

    def _read(self, file: Path, *place: str | int) -> list[dict[str, Any]]:
        try:
            return [manifest.object for manifest in read(file.read_bytes(), str(file))]
        except (OSError, UnreadableManifest) as error:
            field = path_of(place).lstrip(".")
            reason = f"{file}: {error.strerror}" if isinstance(error, OSError) else str(error)
            raise UnusableFile(f"{self.file}:{self._lines.at(place)}: {field}: {reason}") from error


def _installed() -> Iterator[_Judge]:
    for entry in entry_points(group=JUDGES):
        judge: _Judge = entry.load()
        yield judge


def _judge_by_crd(crd: Mapping[str, Any], request: Request) -> tuple[CaseVerdict, Request]:
    """Return the verdict of a CRD, and the request with its objects as they are stored."""
    name = str(mapping(crd, "metadata").get("name"))
    version = str(request.subject.get("apiVersion")).rpartition("/")[2]
    try:
        old = request.old and evaluate(crd, request.old).object
        result = evaluate(crd, request.subject, old=request.old)
    except ValueError as error:
        return CaseVerdict(name, unchecked=(f"{name}: {error}",)), request
    if request.object is None:
        return CaseVerdict(name), replace(request, old=old)
    served = named(mapping(crd, "spec").get("versions"))[version]
    schema = schema_of(served)
    hit = {label for violation in result.violations for label in violated_labels(schema, violation)}
    verdict = CaseVerdict(
        f"{name} {version}",
        tuple((path_of(each.path).lstrip("."), each.message) for each in result.violations),
        tuple(f"unknown field {path!r}" for path in result.pruned),
        result.unchecked,
        {label: label in hit for label in constraints(_written(schema, served))},
    )
    return verdict, replace(request, object=result.object, old=old)


def _written(schema: Mapping[str, Any], served: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema without the status, if a write of the object does not change it."""
    if "status" not in mapping(served, "subresources"):
        return schema
    return {**schema, "properties": without(mapping(schema, "properties"), "status")}


def _differences(expected: list[ExpectedError] | None, errors: list[tuple[str, str]]) -> Iterator[str]:
    """Yield how the errors differ from the expected ones."""
    shown = [": ".join(filter(None, error)) for error in errors]
    if expected is None:
        yield from (f"rejected: {text}" for text in shown)
        return
    if not errors:
        yield "accepted, but must be rejected"
        return
    missing = [entry for entry in expected if not any(_fits(entry, error) for error in errors)]
    for entry in missing:
        words = f" with the words {entry.words!r}" if entry.words else ""
        yield f"no error of {entry.field or 'any field'}{words}; errors: {'; '.join(shown)}"
    if expected and not missing:
        pairs = zip(shown, errors, strict=True)
        yield from (f"rejected also: {text}" for text, error in pairs if not any(_fits(e, error) for e in expected))


def _fits(entry: ExpectedError, error: tuple[str, str]) -> bool:
    field, message = error
    return (entry.field is None or entry.field == field) and entry.words in message
