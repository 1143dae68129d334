"""Reads the files of commands for jobs, and prints verdicts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from crdgen.cli.sources import UsageError, content, in_folder, parsed
from crdgen.reading import Manifest, UnreadableManifest, path_text, read_values
from crdgen.reporting.result import printable, subject_of
from crdgen.schema.look import mapping

#: Opened at the first output: it may be the input, too.
OUTPUT_FILE = click.option(
    "--output-file",
    type=click.File("w", encoding="utf-8", lazy=True),
    default="-",
    metavar="FILE",
    help="Output file; standard output if not set.",
)
#: Group of prerequisites, and prefix of our names.
OURS = b"jobgate.dev"
#: Words of OpenPAI in texts, which other texts may have, too.
_OPENPAI = (
    b"taskRoles",
    b"plugin",
    b"template_variables",
    b"reference_prerequisites",
    b"marketplace:",
    b"microsoft.pai",
)
_COLOURS = {"allowed": "green", "error": "red", "warning": "yellow", "+": "green", "-": "red", "~": "yellow"}


def paint(text: str, word: str = "") -> str:
    """Return a text in the colour of a word, by default its own, if a person reads it."""
    is_read = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return click.style(text, fg=_COLOURS[word or text]) if is_read else text


def _files(path: str) -> Sequence[str]:
    """Return the file, or the files in a directory, not in its subdirectories, as `kubectl apply -f` reads them."""
    if path == "-" or not Path(path).is_dir():
        return [path]
    return in_folder(Path(path), recursive=False)


def _objects(file: str) -> list[Manifest] | None:
    """Return the objects in a file; None if it is empty. A List, as `kubectl get` prints it, may have no objects."""
    text, name = content(file), "<stdin>" if file == "-" else file
    try:
        return parsed(text, name) or ([] if read_values(text, name) else None)
    except (UsageError, UnreadableManifest) as error:
        raise UsageError(advice(text, file) or str(error)) from None


def advice(text: bytes, file: str) -> str:
    """Return the command that imports a file of OpenPAI, or the lines of a prerequisite that lack quotes, or nothing.

    The importer, which takes long to load, decides only on texts with a word of OpenPAI.
    """
    if not any(word in text for word in _OPENPAI) and OURS not in text:
        return ""
    from jobgate.importing.document import looks_like_openpai, unquoted

    written, name = text.decode(errors="replace"), "<stdin>" if file == "-" else file
    if looks_like_openpai(written):
        return f"{name}: is an OpenPAI file; run: jobgate import openpai {file}"
    return "\n".join(unquoted(written, name)) if OURS + b"/" in text else ""


def name_of(document: Mapping[str, Any]) -> str:
    """Return the name of an object, or its generateName."""
    metadata = mapping(document, "metadata")
    return str(metadata.get("name") or metadata.get("generateName") or "")


def reading_warnings(manifest: Manifest) -> Iterator[str]:
    """Yield what kubectl ignores in the text of an object without a warning."""
    for path in manifest.duplicates:
        yield f"{printable(path_text(path))}: duplicate key; kubectl silently uses the last one"


def read_files(files: Iterable[str]) -> tuple[list[Manifest], bool]:
    """Return the objects in files, directories and standard input (`-`), and whether a file is unreadable or empty.

    These are reported on standard error.
    """
    manifests: list[Manifest] = []
    faults: list[str] = []
    for path in files:
        before, empty = len(faults), True
        try:
            for file in _files(path):
                try:
                    objects = _objects(file)
                    empty = empty and objects is None
                    manifests += objects or ()
                except UsageError as error:
                    faults.append(str(error))
        except OSError as error:
            faults.append(f"{path}: {error.strerror or error}")
        if empty and before == len(faults):
            faults.append(f"{'<stdin>' if path == '-' else path}: contains no object")
    if faults:
        click.echo("\n".join(faults), err=True)
    return manifests, bool(faults)


def warn(manifests: Iterable[Manifest]) -> None:
    """Report what kubectl ignores in the texts of objects, on standard error."""
    for manifest in manifests:
        for warning in reading_warnings(manifest):
            click.echo(f"{manifest.file}:{manifest.line}: {click.style('warning', fg='yellow')}: {warning}", err=True)


def finish(context: click.Context, what: str, *, broken: bool, done: bool, denied: bool) -> None:
    """End a command: with status 2 if a file is broken or nothing was done, with 1 if an object is denied.

    `what` completes the message "nothing was …": `reviewed: no object is of a known kind`.
    """
    if not done and not broken:
        click.echo(f"nothing was {what}", err=True)
    context.exit(2 if broken or not done else denied)


def title(manifest: Manifest) -> str:
    """Return the place, kind and name of an object."""
    return f"{manifest.file}:{manifest.line}: {printable(subject_of(manifest))}"


def bullets(status: Mapping[str, Any]) -> Iterator[str]:
    """Yield the causes in the Status of a denied object, a line each."""
    for cause in status["details"]["causes"]:
        yield f"  * {cause['field']}: {cause['message']}" if cause["field"] else f"  * {cause['message']}"
