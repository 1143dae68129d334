"""A finding with its place, and the report of a command."""

import json
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from crdgen.reading import Manifest, path_text
from crdgen.reading.documents import Document
from crdgen.schema.look import mapping
from crdgen.severity import Severity

#: Name of standard input in places.
STDIN: Final = "<stdin>"
#: The kind of CRDs.
CRD: Final = "CustomResourceDefinition"
#: Longest kind and name in texts: those of valid objects are no longer.
_LONGEST_NAME: Final = 253


class UsageError(Exception):
    """Unusable input. The message is one line: the place, the problem and the fix."""


class Result(Struct, frozen=True):
    """A finding.

    Attributes:
        rule: name of the rule.
        path: the field as in Kubernetes; `steps` are its exact steps.
        problem, fix: what is wrong, and what to do; the fix may be empty.
        of_key: whether its place is the key of the field, not the value.
        failure: whether something could not be judged.
        file: the file, or the file of a chart from which standard input was rendered; `stream` is what was read.
        line, column: in what was read, counted from 1; 0 if unknown.
        subject: kind and name of the object.
    """

    rule: str
    severity: Severity
    path: str
    problem: str
    fix: str = ""
    steps: tuple[str | int, ...] = ()
    of_key: bool = False
    failure: bool = False
    file: str = ""
    stream: str = ""
    line: int = 0
    column: int = 0
    subject: str = ""

    @property
    def place(self) -> str:
        """File, line and column."""
        place = ":".join([self.stream or self.file, *(str(number) for number in (self.line, self.column) if number)])
        return printable(place if not self.stream else f"{self.file} ({place})")

    @property
    def text(self) -> str:
        """The finding without its place: object, field, problem."""
        return printable(": ".join(filter(None, (self.subject, self.path, self.problem))))

    @property
    def entry(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "object": self.subject,
            "severity": str(self.severity),
            "rule": self.rule,
            "path": self.path,
            "problem": self.problem,
            "fix": self.fix,
        }


class Judged(Struct):
    """An object that was judged.

    Attributes:
        verdict: the verdict in a word, such as `accepted`.
        results: the findings in it; they get their places when the report is concluded.
        details: lines for people who look at a single object.
        entry: the object in JSON, to which its findings are added. Without it, they are listed themselves.
    """

    manifest: Manifest
    verdict: str
    results: list[Result]
    details: list[str] = []
    entry: dict[str, Any] | None = None

    @property
    def subject(self) -> str:
        """Kind and name of the object."""
        return printable(subject_of(self.manifest))


class Report(Struct):
    """What a command found.

    Attributes:
        tool: the command.
        noun: what it judges: `object` or `CRD`.
        items: what was judged.
        failures: what could not be judged, such as unreadable files.
        notes: lines for standard error.
        others: what was not judged, for the summary.
        foreign: rules of other commands with the same settings.
    """

    tool: str
    noun: str
    items: list[Judged] = []
    failures: list[Result] = []
    notes: list[str] = []
    others: list[str] = []
    foreign: frozenset[str] = frozenset()

    @property
    def results(self) -> list[Result]:
        """All findings."""
        return [*self.failures, *(result for item in self.items for result in item.results)]

    def locate(self) -> None:
        """Add the places to the findings in items. Each document is read once, since a List has many items."""
        for items in self.by_document():
            wanted = [(item, [*item.results, *map(_duplicate_key, item.manifest.duplicates)]) for item in items]
            paths = [(*item.manifest.path, *result.steps) for item, results in wanted for result in results]
            located = items[0].manifest.document.located(paths) if paths else None
            for item, results in wanted:
                item.results = _placed(item.manifest, results, located)

    def by_document(self) -> list[list[Judged]]:
        """Return the items by the document that contains them."""
        items: dict[int, list[Judged]] = {}
        for item in self.items:
            items.setdefault(id(item.manifest.document), []).append(item)
        return list(items.values())

    def status(self, *, strict: bool) -> int:
        """Return the exit status: 2 if something could not be judged, 1 for errors, with `strict` also for warnings."""
        if any(result.failure for result in self.results):
            return 2
        return int(any(strict or result.severity is Severity.ERROR for result in self.results))


def printable(text: str) -> str:
    """Return a text with escapes for characters that control a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def subject_of(manifest: Manifest) -> str:
    """Return kind and name of an object, or the prefix of its name; of a CRD only the name."""
    metadata = mapping(manifest.object, "metadata")
    name = metadata.get("name") or metadata.get("generateName") or "(no name)"
    kind = str(manifest.object["kind"])
    return " ".join(word[:_LONGEST_NAME] for word in ([] if kind == CRD else [kind]) + [str(name)])


def file_of(manifest: Manifest) -> str:
    """Return the file of an object, or the file of the chart from which standard input was rendered."""
    return (manifest.source if manifest.file == STDIN else "") or manifest.file


def placed(manifest: Manifest, results: Iterable[Result]) -> list[Result]:
    """Return the findings in an object with their places, in the order of the text."""
    return _placed(manifest, [*results, *map(_duplicate_key, manifest.duplicates)])


def _placed(manifest: Manifest, results: list[Result], document: Document | None = None) -> list[Result]:
    if not results:
        return results
    places = manifest.locate({result.steps for result in results}, document)
    file, subject = file_of(manifest), subject_of(manifest)
    stream = manifest.file if file != manifest.file else ""
    located = []
    for result in results:
        line, column = places[result.steps][result.of_key]
        located.append(replace(result, file=file, stream=stream, subject=subject, line=line, column=column))
    return sorted(located, key=lambda result: (result.line, result.column))


def _duplicate_key(path: tuple[str | int, ...]) -> Result:
    problem = "is a duplicate key: kubectl silently uses the last value"
    return Result("duplicate-key", Severity.WARNING, path_text(path), problem, steps=path, of_key=True)


def count(number: int, noun: str) -> str:
    """Return a number and a noun: `1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
