"""Manifests as `kubectl` reads them: which objects it would send for the text of a file.

`kubectl` takes a text that begins with a brace for JSON, and turns to YAML where that fails. It cuts YAML into
documents at lines that begin with `---`, skips those that say nothing, and expands lists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from crdgen.reading.documents import Document, DocumentError, Path, load, load_json

#: The longest step of a path that is shown in full, in characters.
_SHOWN: Final = 120
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
    """

    file: str
    index: int
    line: int
    object: dict[str, Any]
    duplicates: tuple[str, ...] = ()


def read(text: bytes, file: str) -> list[Manifest]:
    """Return the objects of a text, in the order of sending.

    Raises:
        UnreadableManifest: `kubectl` would not send all of them. Nothing else is raised for any bytes.
    """
    try:
        found = [one for document in _documents(text) for one in _manifests(document, file)]
    except DocumentError as error:
        raise UnreadableManifest(file, error.line + 1, error.column + 1, error.message) from error
    return [replace(manifest, index=index) for index, manifest in enumerate(found)]


def read_values(text: bytes, file: str) -> list[Any]:
    """Return the documents of a text that holds no objects of Kubernetes, without the empty ones.

    Raises:
        UnreadableManifest: the text is not valid, or has a key twice.
    """
    try:
        documents = _documents(text)
    except DocumentError as error:
        raise UnreadableManifest(file, error.line + 1, error.column + 1, error.message) from error
    for document in documents:
        if document.duplicates:
            line, column = document.places[()]
            problem = f"the key {_path(document.duplicates[0])} is there twice: remove one of them"
            raise UnreadableManifest(file, line + 1, column + 1, problem)
    return [document.value for document in documents if document.value is not None]


def read_value(text: bytes, file: str) -> Any:
    """Return the only document of a text that holds no objects of Kubernetes, such as settings; None if it is empty.

    Raises:
        UnreadableManifest: the text is not valid, has a key twice, or has several documents.
    """
    values = read_values(text, file)
    if len(values) > 1:
        raise UnreadableManifest(file, 1, 1, f"contains {len(values)} documents: must contain one")
    return values[0] if values else None


def _manifests(document: Document, file: str) -> Iterator[Manifest]:
    for path, found in _objects(document):
        line, column = document.places.get(path, document.places[()])
        if problem := _problem(path, found):
            raise DocumentError(problem, line, column)
        size = len(path)
        twice = tuple(_path(at[size:]) for at in document.duplicates if at[:size] == path)
        yield Manifest(file, 0, line + 1, found, twice)


def _documents(text: bytes) -> list[Document]:
    if not text.lstrip().startswith(b"{"):
        return list(_yaml(text))
    try:
        return list(load_json(text))
    except DocumentError as not_json:
        try:
            return list(_yaml(text))
        except DocumentError:
            raise not_json from None


def _yaml(text: bytes) -> Iterator[Document]:
    """Cut a text at lines that begin with `---`, and yield the document of each piece."""
    first_line, piece = 0, list[bytes]()
    for number, raw in enumerate(text.removesuffix(b"\n").split(b"\n")):
        whole = raw.removesuffix(b"\r")
        if whole.startswith(b"---"):
            after = whole[3:].decode("utf-8", "replace").lstrip()
            if after and not after.startswith("#"):
                raise DocumentError("only a comment may follow `---`: put the document on the next line", number, 3)
            if piece:
                yield load(b"\n".join(piece) + b"\n", first_line)
                first_line, piece = number + 1, []
                continue
        piece.append(whole)
    if piece:
        yield load(b"\n".join(piece) + b"\n", first_line)


def _objects(document: Document) -> list[tuple[Path, Any]]:
    """Return the objects of a document with their paths, its lists expanded; of a document that says nothing, none."""
    whole = document.value
    if whole is None:
        return []
    if not isinstance(whole, dict) or "items" not in whole:
        return [((), whole)]
    if not _word(whole, "kind"):
        problem = "the document has items but no kind: add it, such as `kind: List`"
        raise DocumentError(problem, *document.places[()])
    items = whole["items"]
    if items is not None and not isinstance(items, list):
        raise DocumentError("items must be a list, for an object with `items` is one", *document.places[()])
    return [(("items", index), _adopted(item, whole)) for index, item in enumerate(items or ())]


def _adopted(item: Any, parent: dict[str, Any]) -> Any:
    """Return an item with a kind, that of its list if it has none: a PodList of the API server holds Pods."""
    if not isinstance(item, dict) or _word(item, "kind") or _word(item, "apiVersion"):
        return item
    return {**item, "kind": _word(parent, "kind").removesuffix("List"), "apiVersion": _word(parent, "apiVersion")}


def _word(value: dict[str, Any], key: str) -> str:
    word = value.get(key)
    return word if isinstance(word, str) else ""


def _problem(path: Path, found: Any) -> str:
    """Return why a value is not an object that `kubectl` would send, or nothing."""
    name = _path(path) or "the document"
    if not isinstance(found, dict):
        place = f"{name}: " if path else ""
        return f"{place}not a Kubernetes object: must be a mapping with apiVersion, kind and metadata"
    if path and isinstance(found.get("items"), list):
        return "a list in a list, which kubectl does not expand: put its items into the outer list"
    for key, example in (("apiVersion", "batch.volcano.sh/v1alpha1"), ("kind", "Job")):
        if key not in found:
            return f"{name} has no {key}: add it, such as `{key}: {example}`"
        if not _word(found, key):
            return f"{key} of {name} must be a string that is not empty, such as {example}"
    return ""


def _path(path: Path) -> str:
    """A path as Kubernetes writes it: `spec.tasks[1].name`, `metadata.annotations[example.com/x]`."""
    steps = (step if isinstance(step, int) or len(step) <= _SHOWN else f"{step[:_SHOWN]}…" for step in path)
    parts = [f"[{step}]" if isinstance(step, int) or not _IDENTIFIER.fullmatch(step) else f".{step}" for step in steps]
    return "".join(parts).removeprefix(".")
