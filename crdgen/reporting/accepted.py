"""Findings that are accepted: by a comment in their line, by the settings of the project, or by a baseline."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from crdgen.reading import UnreadableManifest, read_value
from crdgen.reporting.result import STDIN, Judged, Report, Result, UsageError, count, file_of
from crdgen.schema.look import fits, mapping
from crdgen.severity import Severity

#: File, object, rule, field and problem of a finding: what stays when lines are added above it.
Key: TypeAlias = tuple[str, ...]
_NAMES: Final = ("file", "object", "rule", "path", "problem")


class Ignore(Struct):
    """An entry of the settings. `*` in a pattern stands for any text; failures are accepted only by their rule."""

    where: str
    rule: str = "*"
    path: str = "*"
    field: str = "*"
    used: bool = False

    def matches(self, result: Result) -> bool:
        """Return whether the entry accepts a finding."""
        pairs = ((self.rule, result.rule), (self.path, _relative(result.file)), (self.field, result.path))
        return all(fits(*pair) for pair in pairs) and (not result.failure or self.rule == result.rule)


def accept(report: Report, program: str, baseline: str | None, *, write: bool) -> None:
    """Remove the accepted findings from a report, and note what is accepted and which entries accept nothing.

    Args:
        report: the report of a whole command.
        program: `crdgen` or `jobgate`: the word in comments, and the name of the settings.
        baseline: the file of the baseline, if there is one.
        write: whether to write all findings to the baseline.
    """
    reported = set(map(id, report.results))
    rejected = [item for item in report.items if _has_errors(item)]
    names = {*(file_of(item.manifest) for item in report.items), *(result.file for result in report.results)}
    files = set(map(_relative, names))
    for items in report.by_document():
        _apply_comments(items, program)
    ignores = _ignores(program)
    _keep(report, lambda result: not _ignored(ignores, result))
    report.notes += [
        f"{ignore.where}: accepts no finding: remove it"
        for ignore in ignores
        if not ignore.used
        and ignore.rule not in report.foreign
        and (any(fits(ignore.path, file) for file in files) or ("*" not in ignore.path and _is_gone(Path(ignore.path))))
    ]
    if baseline is not None:
        _compare(report, Path(baseline), files, write=write)
    for item in rejected:  # is rejected, although its errors are accepted
        item.verdict = item.verdict if _has_errors(item) else ""
    if accepted := reported - set(map(id, report.results)):
        report.others.append(f"{count(len(accepted), 'finding')} accepted")


def _relative(file: str) -> str:
    """Return the path of a file from the current directory; outside of it, the path as it is."""
    path = os.path.relpath(file)
    return os.path.normpath(file) if path.startswith("..") else path


def _is_gone(file: Path) -> bool:
    """Return whether a file is no longer in its directory. Templates of rendered charts are in none."""
    return file.name != STDIN and file.parent.is_dir() and not file.exists()


def _has_errors(item: Judged) -> bool:
    return any(result.severity is Severity.ERROR for result in item.results)


def _keep(report: Report, wanted: Callable[[Result], bool]) -> None:
    report.failures = list(filter(wanted, report.failures))
    for item in report.items:
        item.results = list(filter(wanted, item.results))


def _ignored(ignores: Iterable[Ignore], result: Result) -> bool:
    matching = [ignore for ignore in ignores if ignore.matches(result)]
    for ignore in matching:
        ignore.used = True
    return bool(matching)


def _apply_comments(items: Sequence[Judged], program: str) -> None:
    """Remove the findings that a comment `# crdgen: ignore[RULE]` in their line accepts, and add unused comments.

    The items are those of one document.
    """
    comments = dict(_comments(items[0], program))
    used = set[int]()

    def is_accepted(result: Result) -> bool:
        _, rules = comments.get(result.line, (0, ()))
        accepted = result.rule in rules or ("*" in rules and not result.failure)
        used.update({result.line} if accepted else ())
        return accepted

    for item in items:
        item.results = [result for result in item.results if not is_accepted(result)]
    unused = Result("unused-ignore", Severity.WARNING, "", "the comment accepts no finding", "remove it")
    for line in sorted(comments.keys() - used):
        item = next((item for item in reversed(items) if item.manifest.line <= line), items[0])
        read, file = item.manifest.file, file_of(item.manifest)
        stream = read if read != file else ""
        item.results.append(replace(unused, file=file, stream=stream, line=line, column=comments[line][0]))


def _comments(item: Judged, program: str) -> Iterator[tuple[int, tuple[int, list[str]]]]:
    """Yield line, column and rules of each comment in the document of an object."""
    text, first = item.manifest.document.text
    marker = f"{program}: ignore".encode()
    if marker not in text:
        return
    pattern = re.compile(rb"(?<!\S)#\s*" + marker + rb"(?:\[([^\]]*)\])?")
    for number, line in enumerate(text.split(b"\n"), first + 1):
        if match := pattern.search(line):
            rules = [rule.strip() for rule in (match[1] or b"*").decode("utf-8", "replace").split(",")]
            yield number, (match.start() + 1, rules)


def _ignores(program: str) -> list[Ignore]:
    """Return the entries of `.crdgen.yaml` or, without this file, of `[[tool.crdgen.ignore]]` in pyproject.toml."""
    file, project = Path(f".{program}.yaml"), Path("pyproject.toml")
    try:
        if file.is_file():
            settings = read_value(file.read_bytes(), str(file))
        elif project.is_file() and re.search(
            rb"(?m)^\W*tool(\W+%b\b|\W*$)" % program.encode(), text := project.read_bytes()
        ):
            import tomllib  # noqa: PLC0415 - few projects have such a table

            file, settings = project, mapping(tomllib.loads(text.decode()), "tool", program)
            settings = {"ignore": [], **settings}
        else:
            return []
    except (OSError, ValueError, UnreadableManifest) as error:
        raise UsageError(str(error) if str(file) in str(error) else f"{file}: {error}") from error
    entries = mapping(settings).get("ignore")
    if not isinstance(entries, list) or (file != project and set(settings) != {"ignore"}):
        raise UsageError(f"{file}: must have a list `ignore` of entries with rule, path or field, and nothing else")
    return [_ignore(f"{file}: ignore[{index}]", entry) for index, entry in enumerate(entries)]


def _ignore(where: str, entry: Any) -> Ignore:
    known = {"rule", "path", "field", "reason"}
    if not isinstance(entry, dict) or not {"rule", "path", "field"} & entry.keys() or entry.keys() - known:
        raise UsageError(f"{where}: must be a mapping with rule, path or field, and perhaps a reason")
    rule, path, field = (str(entry.get(name, "*")) for name in ("rule", "path", "field"))
    return Ignore(where, rule, path.removeprefix("./"), field)


def _compare(report: Report, file: Path, files: set[str], *, write: bool) -> None:
    """Remove the findings of the baseline, or write it, without failures.

    Entries of files that were not read are kept, unless the files are gone.
    """
    stored = Counter[Key]() if write and not file.exists() else _baseline(file)
    read = {os.path.relpath(name, file.parent) for name in files}
    mine = {key: number for key, number in stored.items() if key[0] in read or _is_gone(file.parent / key[0])}
    if write:
        reported = Counter(_key(result, file.parent) for result in report.results if not result.failure)
        _write(file, Counter({key: number for key, number in stored.items() if key not in mine}) + reported)
        _keep(report, lambda result: result.failure)
        return
    left = Counter(mine)

    def is_new(result: Result) -> bool:
        if result.failure:
            return True
        key = _key(result, file.parent)
        left[key] -= 1
        return left[key] < 0

    _keep(report, is_new)
    if gone := sum(number for number in left.values() if number > 0):
        report.notes.append(f"{file}: {count(gone, 'finding')} no longer there: run again with --write-baseline")


def _key(result: Result, folder: Path) -> Key:
    file = os.path.relpath(result.file, folder)
    return file, result.subject, result.rule, result.path, result.problem


def _baseline(file: Path) -> Counter[Key]:
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
        return Counter({tuple(str(entry[name]) for name in _NAMES): int(entry.get("count", 1)) for entry in entries})
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}: write it with --write-baseline") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{file}: is no baseline: write it with --write-baseline") from error


def _write(file: Path, counts: Counter[Key]) -> None:
    entries = [
        dict(zip(_NAMES, key, strict=True)) | ({"count": number} if number > 1 else {})
        for key, number in sorted(counts.items())
    ]
    try:
        file.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error
