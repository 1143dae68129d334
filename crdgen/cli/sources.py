"""Read objects from files, directories and standard input like `kubectl`, and write files and JSON."""

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from glob import glob, has_magic
from os.path import normpath
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from msgspec import Struct

from crdgen.reading import Manifest, UnreadableManifest, read
from crdgen.reading.documents import has_action
from crdgen.reporting import Report, Result, Severity, UsageError, conclude
from crdgen.reporting.formats import FORMATS
from crdgen.reporting.result import CRD as KIND
from crdgen.reporting.result import STDIN
from crdgen.schema.look import mapping

__all__ = ["KIND", "UsageError"]

Item = TypeVar("Item")


VERSION: Final = "apiextensions.k8s.io/v1"
#: Limit of a file in bytes, enough for thousands of objects. Parsed, it needs many times the memory.
LARGEST: Final = 64 << 20
SUFFIXES: Final = (".yaml", ".yml", ".json")
#: Seconds between two lines of progress.
_PROGRESS_PERIOD: Final = 0.1
_QUOTED: Final = re.compile(rb"\"[^\"]*\"|'[^']*'|(?<!\S)#.*")
_TEMPLATE: Final = "; if this is a Helm template, render it first: helm template CHART"


def objects(file: str) -> list[Manifest]:
    """Return the objects in a file, or from standard input for `-`."""
    return parsed(content(file), "<stdin>" if file == "-" else file)


def content(file: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`."""
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{file}: {reason}") from error
    if len(text) > LARGEST:
        raise UsageError(f"{file}: has more than {LARGEST >> 20} MiB: split it")
    return text


def parsed(text: bytes, file: str) -> list[Manifest]:
    """Return the objects in a text; errors name the file."""
    try:
        return read(text, file)
    except UnreadableManifest as error:
        raise UsageError(f"{error}{_TEMPLATE if b'{{' in text else ''}") from error


def definitions(path: str, *, some: bool = True) -> list[Manifest]:
    """Return the CRDs in a file, below a directory, or from standard input; with `some`, there must be at least one."""
    manifests = [manifest for file in files(path) for manifest in objects(file) if manifest.object.get("kind") == KIND]
    if some and not manifests:
        raise UsageError(f"{path}: contains no {KIND}")
    return manifests


def require_v1(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the CRDs, or raise if a CRD has another version than v1, which is compared and documented."""
    for manifest in manifests:
        if (version := manifest.object.get("apiVersion")) != VERSION:
            raise UsageError(f"{manifest.file}:{manifest.line}: apiVersion is {version}: must be {VERSION}")
    return list(manifests)


def files(path: str) -> list[str]:
    """Return the file itself, or the files below a directory that mention CRDs, since not all YAML files are manifests.

    The list includes files that cannot be read, so that they are reported.
    """
    folder = Path(path)
    try:
        if path == "-" or not folder.is_dir():
            return [path]
        return [file for file in in_folder(folder, recursive=True) if _mentions_definitions(Path(file))]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def in_folder(folder: Path, *, recursive: bool) -> list[str]:
    """Return the YAML and JSON files of a directory, and broken symbolic links, so that they are reported.

    Does not descend into hidden directories, such as `.git`.

    Raises:
        OSError: a directory cannot be read; glob() would take it for empty.
    """
    files = []
    for entry in sorted(folder.iterdir()):
        if entry.suffix in SUFFIXES and (entry.is_file() or not entry.exists()):
            files.append(str(entry))
        elif recursive and not entry.name.startswith(".") and entry.is_dir() and not entry.is_symlink():
            files += in_folder(entry, recursive=True)
    return files


def name_of(manifest: Manifest) -> str:
    """Return the name of an object, or its file and line if it has none."""
    name = mapping(manifest.object, "metadata").get("name")
    return name if isinstance(name, str) and name else f"{manifest.file}:{manifest.line}"


def _mentions_definitions(file: Path) -> bool:
    try:
        return KIND.encode() in file.read_bytes()
    except OSError:
        return True


def write(file: Path, text: str) -> None:
    """Write a file, and create its directories."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error


class Tree(Struct):
    """The objects in files.

    Attributes:
        manifests: the objects.
        failures: what could not be read, although it may have objects.
        left_out: lines about files that are no plain YAML, such as templates.
        others: how many files have no object.
    """

    manifests: list[Manifest] = []
    failures: list[Result] = []
    left_out: list[str] = []
    others: int = 0


def read_tree(
    paths: Iterable[str], *, recursive: bool = False, advice: Callable[[bytes, str], str] = lambda *_: ""
) -> Tree:
    """Read the objects in files, in directories (with `recursive`, also below them), from globs and standard input.

    `advice` returns lines, each a place and what is known of a text without objects, or nothing.
    """
    tree = Tree()
    for file in watched(list(_expand(paths, tree.failures, recursive=recursive)), "files read"):
        name = STDIN if file == "-" else file
        before = len(tree.manifests), len(tree.failures), len(tree.left_out)
        text = b""
        try:
            text = content(file)
            if b"{{" in text and _is_of_chart(Path(file)):
                tree.left_out.append(f"{name}: left out: a template of a Helm chart; render it with helm template")
            else:
                tree.manifests += read(text, name, others=True)
        except UsageError as error:
            tree.failures.append(_unreadable(name, str(error).removeprefix(f"{file}: ")))
        except UnreadableManifest as error:
            if _is_template(text, error.line):
                tree.left_out.append(f"{error}: left out: a template? render it first, as with helm template")
            elif b"apiVersion" in text:
                tree.failures.append(_unreadable(name, error.message, error.line, error.column))
            else:
                tree.left_out.append(f"{error}: left out: mentions no apiVersion")
        if before[0] == len(tree.manifests) and (problem := advice(text, file)):
            tree.failures[before[1] :] = [
                _unreadable(place, text) for place, _, text in (line.partition(": ") for line in problem.splitlines())
            ]
            del tree.left_out[before[2] :]
        tree.others += before == (len(tree.manifests), len(tree.failures), len(tree.left_out))
    return tree


def _unreadable(file: str, problem: str, line: int = 0, column: int = 0) -> Result:
    return Result("unreadable", Severity.ERROR, "", problem, failure=True, file=file, line=line, column=column)


def _is_template(text: bytes, line: int) -> bool:
    """Return whether `{{` is in the line of an error, outside of quotes, or before it, outside of scalars."""
    *before, last = text.split(b"\n")[:line]
    return b"{{" in _QUOTED.sub(_without_closed, last) or has_action(b"\n".join(before))


def _without_closed(quoted: re.Match[bytes]) -> bytes:
    """Return nothing for a quoted text. A quote that ends within `{{` belongs to the template, and is returned."""
    return b"" if quoted[0].rfind(b"{{") <= quoted[0].rfind(b"}}") else quoted[0]


def _is_of_chart(file: Path) -> bool:
    """Return whether Helm renders the file: it is below `templates`, beside Chart.yaml."""
    return any(folder.name == "templates" and (folder.parent / "Chart.yaml").exists() for folder in file.parents)


def _expand(paths: Iterable[str], failures: list[Result], *, recursive: bool) -> Iterator[str]:
    """Yield each file once; unreadable directories, and patterns that match nothing, are failures."""
    seen = set()
    for path in paths:
        try:
            is_pattern = has_magic(path) and not Path(path).exists()
            matches = glob(path, recursive=True) if is_pattern else [path]  # noqa: PTH207 - may be absolute
            if not matches:
                failures.append(_unreadable(path, "matches no file"))
            for match in sorted(matches):
                is_folder = match != "-" and Path(match).is_dir()
                for file in in_folder(Path(match), recursive=recursive) if is_folder else [match]:
                    if (name := normpath(file)) not in seen:
                        seen.add(name)
                        yield file
        except (OSError, ValueError) as error:
            failures.append(_unreadable(path, getattr(error, "strerror", None) or str(error)))


def watched(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield the items. If that takes more than a second, show the progress on a terminal."""
    began = shown_at = monotonic()
    for number, item in enumerate(items):
        if sys.stderr.isatty() and (now := monotonic()) - began > 1 and now - shown_at > _PROGRESS_PERIOD:
            shown_at = now
            sys.stderr.write(f"\r{number:,} of {len(items):,} {what} ")
            sys.stderr.flush()
        yield item
    if shown_at != began:
        sys.stderr.write("\r\x1b[K")


def write_json(entries: Any) -> None:
    """Print entries as indented JSON."""
    sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")


def output_argument(parser: ArgumentParser, *formats: str) -> None:
    """Add the flag for the output format, text by default."""
    parser.add_argument(
        "--output", "-o", choices=["text", *formats], default="text", help="output format (default: text)"
    )


def report_arguments(parser: ArgumentParser, *formats: str) -> None:
    """Add the arguments of commands that judge many objects."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file, a directory, a glob, or - for standard input")
    parser.add_argument("--recursive", "-R", action="store_true", help="also read the directories below directories")
    output_argument(parser, *(name for name in FORMATS if name != "text"), *formats)
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")
    parser.add_argument("--quiet", "-q", action="store_true", help="print findings only")
    parser.add_argument("--baseline", metavar="FILE", help="file with findings that are accepted")
    parser.add_argument("--write-baseline", action="store_true", help="write all findings to the file of --baseline")


def finish(report: Report, options: Namespace) -> int:
    """Print the report of a command with `report_arguments`, and return its exit status."""
    if options.write_baseline and options.baseline is None:
        raise UsageError("--write-baseline needs the file: --baseline FILE")
    return conclude(
        report,
        output=options.output,
        strict=options.strict,
        quiet=options.quiet,
        brief=options.recursive,
        baseline=options.baseline,
        write_baseline=options.write_baseline,
    )
