"""Manifests as `kubectl` reads them: which objects it would send for the text of a file.

`kubectl` takes a text that begins with a brace for JSON, and turns to YAML where that fails. It cuts YAML into
documents at lines that begin with `---`, skips those that say nothing, and expands lists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from crdgen.reading.documents import Document, DocumentError, Path, load, next_json

#: How far kubectl looks for the brace that makes a stream JSON.
_PEEK: Final = 4096
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


class UnreadableManifest(Exception):
    """A text that `kubectl` could not send: where (counted from 1), what is wrong, what would be right."""

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message


@dataclass(frozen=True)
class Manifest:
    """One object that `kubectl` would send.

    Attributes:
        file: the name of the file, as given.
        index: which object of the file, counted from 0 after lists are expanded.
        line: where the object begins, counted from 1.
        object: the object, as the JSON in the request says it.
        duplicates: the paths of keys that were written twice; `kubectl` silently takes the last.
        ignored: the line of text after the object that `kubectl` silently does not read; None when all is read.
    """

    file: str
    index: int
    line: int
    object: dict[str, Any]
    duplicates: tuple[str, ...] = ()
    ignored: int | None = None


def read(text: bytes, file: str) -> list[Manifest]:
    """Return the objects of a text, in the order of sending.

    Raises:
        Unreadable: `kubectl` would not send all of them. Nothing else is raised for any bytes.
    """
    try:
        objects = [one for document, ignored in _documents(text) for one in _manifests(document, ignored, file)]
    except DocumentError as error:
        raise UnreadableManifest(file, error.line + 1, error.column + 1, error.message) from error
    return [replace(manifest, index=index) for index, manifest in enumerate(objects)]


def _documents(text: bytes) -> Iterator[tuple[Document, int | None]]:
    """Yield the documents of a stream that say something, each with the line from which on text is not read."""
    if not text[:_PEEK].decode("utf-8", "replace").lstrip().startswith("{"):
        yield from _yaml(text, 0)
        return
    stream = text.decode("utf-8", "replace")
    position = count = 0
    while True:
        try:
            document = next_json(stream, position)
        except DocumentError as not_json:
            # After two JSON documents kubectl is sure that the rest is JSON too.
            if count > 1:
                raise
            rest = stream[position:].lstrip()
            try:
                documents = list(_yaml(rest.encode(), stream.count("\n", 0, len(stream) - len(rest))))
            except DocumentError:
                raise not_json from None
            yield from documents
            return
        if document is None:
            return
        count, position = count + 1, document.end
        if document.value is not None:
            yield document, None


def _yaml(text: bytes, line: int) -> Iterator[tuple[Document, int | None]]:
    for first_line, chunk in _chunks(text, line):
        try:
            document = load(chunk)
        except DocumentError as error:
            raise DocumentError(error.message, first_line + error.line, error.column) from error
        if document.value is None:
            continue
        document.places = {path: (first_line + row, column) for path, (row, column) in document.places.items()}
        ignored = _ignored(chunk, document.end)
        yield document, None if ignored is None else first_line + ignored


def _chunks(text: bytes, line: int) -> Iterator[tuple[int, bytes]]:
    """Cut a text at lines that begin with `---`; yield each piece with its first line."""
    first_line, piece = line, list[bytes]()
    for number, raw in enumerate(text.removesuffix(b"\n").split(b"\n"), line):
        whole = raw.removesuffix(b"\r")
        if whole.startswith(b"---"):
            after = whole[3:].decode("utf-8", "replace").lstrip()
            if after and not after.startswith("#"):
                raise DocumentError("only a comment may follow `---`: put the document on the next line", number, 3)
            if piece:
                yield first_line, b"\n".join(piece) + b"\n"
                first_line, piece = number + 1, []
                continue
        piece.append(whole)
    if piece:
        yield first_line, b"\n".join(piece) + b"\n"


def _ignored(chunk: bytes, end: int) -> int | None:
    """Return the first line with words after the end of the document, for go-yaml reads one document and stops."""
    for number, line in enumerate(chunk.split(b"\n")[end:], end):
        word = line.strip().removeprefix(b"...").strip()
        if word and not word.startswith(b"#"):
            return number
    return None


@dataclass(frozen=True, slots=True)
class _ManifestObject:
    """A value where an object should be."""

    path: Path
    value: Any
    line: int
    column: int

    def broken(self, message: str) -> DocumentError:
        return DocumentError(message, self.line, self.column)


def _manifests(document: Document, ignored: int | None, file: str) -> Iterator[Manifest]:
    objects = _objects(document)
    for found in objects:
        _check(found)
        size = len(found.path)
        twice = tuple(_path(path[size:]) for path in document.duplicates if path[:size] == found.path)
        yield Manifest(file, 0, found.line + 1, found.value, twice, None if ignored is None else ignored + 1)


def _objects(document: Document) -> list[_ManifestObject]:
    """Return the objects of a document, its lists expanded."""
    whole = _ManifestObject((), document.value, *document.places[()])
    items = whole.value.get("items", whole) if isinstance(whole.value, dict) else whole
    if items is whole:
        return [whole]
    if not _word(whole.value, "kind"):
        raise whole.broken("the document has items but no kind: add it, such as `kind: List`")
    if items is not None and not isinstance(items, list):
        raise whole.broken("items must be a list, for an object with `items` is one")
    objects = []
    for index, item in enumerate(items or ()):
        path = ("items", index)
        found = _ManifestObject(
            path, _adopted(item, whole.value), *document.places.get(path, (whole.line, whole.column))
        )
        if isinstance(item, dict) and isinstance(item.get("items"), list):
            raise found.broken("a list in a list, which kubectl does not expand: put its items into the outer list")
        objects.append(found)
    return objects


def _adopted(item: Any, parent: dict[str, Any]) -> Any:
    """An item without a kind and a version has those of its list: a PodList holds Pods."""
    item = {} if item is None else item
    if not isinstance(item, dict) or _word(item, "kind") or _word(item, "apiVersion"):
        return item
    return {**item, "kind": _word(parent, "kind").removesuffix("List"), "apiVersion": _word(parent, "apiVersion")}


def _word(value: dict[str, Any], key: str) -> str:
    word = value.get(key)
    return word if isinstance(word, str) else ""


def _check(found: _ManifestObject) -> None:
    name = _path(found.path) or "the document"
    if not isinstance(found.value, dict):
        place = f"{_path(found.path)}: " if found.path else ""
        raise found.broken(f"{place}not a Kubernetes object: must be a mapping with apiVersion, kind and metadata")
    for key, example in (("apiVersion", "batch.volcano.sh/v1alpha1"), ("kind", "Job")):
        if key not in found.value:
            raise found.broken(f"{name} has no {key}: add it, such as `{key}: {example}`")
        if not _word(found.value, key):
            raise found.broken(f"{key} of {name} must be a string that is not empty, such as {example}")


def _path(path: Path) -> str:
    """A path as Kubernetes writes it: `spec.tasks[1].name`, `metadata.annotations[example.com/x]`."""
    parts = [f"[{step}]" if isinstance(step, int) or not _IDENTIFIER.fullmatch(step) else f".{step}" for step in path]
    return "".join(parts).removeprefix(".")
