"""Manifests as `kubectl` reads them: which objects it would send for the text of a file.

`kubectl` takes a text that begins with a brace for JSON, and turns to YAML where that fails. It cuts YAML into
documents at lines that begin with `---`, skips those that say nothing, and expands lists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from crdgen.reading import json_stream, yaml_nodes
from crdgen.reading.yaml_nodes import MAX_DEPTH, Broken, Node, Path

# How far kubectl looks for the brace that makes a stream JSON.
_PEEK = 4096
# What Go takes for white space.
_GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACE = re.compile(f"[{_GO_SPACE}]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


class Unreadable(Exception):
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


@dataclass(frozen=True, slots=True)
class _Document:
    value: Any
    line: int
    column: int = 0
    duplicates: tuple[Path, ...] = ()
    ignored: int | None = None
    root: Node | None = None


def read(text: bytes, file: str) -> list[Manifest]:
    """The objects of a text, in the order of sending.

    Raises:
        Unreadable: `kubectl` would not send all of them. Nothing else is raised for any bytes.
    """
    try:
        objects = [manifest for document in _documents(text) for manifest in _manifests(document, file)]
    except Broken as error:
        raise Unreadable(file, error.line + 1, error.column + 1, error.message) from error
    return [replace(manifest, index=index) for index, manifest in enumerate(objects)]


def _documents(text: bytes) -> Iterator[_Document]:
    """The documents of a stream. JSON goes first if it looks like it; lines and columns are counted from 0."""
    start = text[:_PEEK].decode("utf-8", "surrogateescape")
    if not start[_space_end(start) :].startswith("{"):
        yield from _yaml_documents(text, 0)
        return
    stream = text.decode("utf-8", "surrogateescape")
    position = count = line = line_start = 0
    while True:
        try:
            document = json_stream.next_value(stream, position)
        except json_stream.Unsendable:
            raise
        except Broken as error:
            # After two JSON documents kubectl is sure that the rest is JSON too.
            rest = _rest_for_yaml(stream, position)
            if count > 1 or rest is None:
                raise
            yield from _yaml_after_json(stream, rest, error)
            return
        if document is None:
            return
        count, position = count + 1, document.end
        if document.value is None:
            continue
        line += stream.count("\n", line_start, document.start)
        line_start = max(line_start, stream.rfind("\n", line_start, document.start) + 1)
        yield _Document(document.value, line, document.start - line_start, tuple(document.duplicates))


def _yaml_after_json(stream: str, start: int, not_json: Broken) -> Iterator[_Document]:
    """What is no JSON is read as YAML; if it is not that either, the error that is further on helps more."""
    line = stream.count("\n", 0, start)
    first = True
    try:
        for document in _yaml_documents(stream[start:].encode("utf-8", "surrogateescape"), line):
            first = False
            yield document
    except Broken as not_yaml:
        if first and (not_json.line, not_json.column) >= (not_yaml.line, not_yaml.column):
            raise not_json from not_yaml
        raise


def _rest_for_yaml(stream: str, start: int) -> int | None:
    """Where YAML begins after JSON: at the next word or line. None if kubectl, which wants four bytes, sees none."""
    while len(stream[start : start + 4].encode("utf-8", "surrogateescape")) >= 4:
        if not _SPACE.fullmatch(stream[start]):
            return start
        start += 1
        if stream[start - 1] == "\n":
            return start
    return None


def _space_end(text: str) -> int:
    match = _SPACE.match(text)
    return match.end() if match else 0


def _yaml_documents(text: bytes, line: int) -> Iterator[_Document]:
    for first_line, chunk in _chunks(text, line):
        try:
            document = yaml_nodes.load(chunk)
        except Broken as error:
            raise Broken(error.message, first_line + error.line, error.column) from error
        if document.value is None or document.root is None:
            continue
        root = document.root
        ignored = _ignored(chunk, document.end)
        yield _Document(
            document.value,
            first_line + root.line,
            root.column,
            tuple(document.duplicates),
            None if ignored is None else first_line + ignored,
            root,
        )


def _chunks(text: bytes, line: int) -> Iterator[tuple[int, bytes]]:
    """Cuts a text at lines that begin with `---`; gives each piece with its first line."""
    first_line, piece = line, list[bytes]()
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, line):
        whole = raw.removesuffix(b"\r")
        if whole.startswith(b"---"):
            after = whole[3:].decode("utf-8", "replace")
            after = after[_space_end(after) :]
            if after and not after.startswith("#"):
                raise Broken("only a comment may follow `---`: put the document on the next line", number, 3)
            if piece:
                yield first_line, b"\n".join(piece) + b"\n"
                first_line, piece = number + 1, []
                continue
        piece.append(whole)
    if piece:
        yield first_line, b"\n".join(piece) + b"\n"


def _ignored(chunk: bytes, end: int) -> int | None:
    """The first line with words after the end of the document, for go-yaml reads one document and stops."""
    for number, line in enumerate(chunk.split(b"\n")[end:], end):
        word = line.strip().removeprefix(b"...").strip()
        if word and not word.startswith(b"#"):
            return number
    return None


def _manifests(document: _Document, file: str) -> Iterator[Manifest]:
    objects = _objects(document)
    duplicates: dict[Path, list[str]] = {found.path: [] for found in objects}
    for twice in document.duplicates:
        owner = next((twice[:length] for length in range(len(twice), -1, -1) if twice[:length] in duplicates), None)
        if owner is not None:
            duplicates[owner].append(_path(twice[len(owner) :]))
    ignored = None if document.ignored is None else document.ignored + 1
    for found in objects:
        _check(found)
        yield Manifest(file, 0, found.line + 1, found.value, tuple(duplicates[found.path]), ignored)


@dataclass(frozen=True, slots=True)
class _Object:
    """A value where an object should be. `node` is None where none is known (JSON, merged keys)."""

    path: Path
    value: Any
    line: int
    column: int
    node: Node | None

    def broken(self, message: str) -> Broken:
        return Broken(message, self.line, self.column)


def _objects(document: _Document) -> list[_Object]:
    """The objects of a document, level by level as kubectl expands lists."""
    queue = [_Object((), document.value, document.line, document.column, document.root)]
    offset = document.line - document.root.line if document.root else 0
    flat: list[_Object] = []
    for found in queue:
        if not _is_list(found.value, found.path):
            flat.append(found)
            continue
        if found.path:
            raise found.broken("a list in a list, which kubectl does not expand: put its items into the outer list")
        if not _word(found.value, "kind"):
            raise found.broken("the document has items but no kind: add it, such as `kind: List`")
        items = found.value["items"]
        if items is not None and not isinstance(items, list):
            raise found.broken(f"{_path((*found.path, 'items'))} must be a list, for an object with `items` is one")
        nodes = _item_nodes(found.node)
        for index, item in enumerate(items or ()):
            node = nodes[index] if index < len(nodes) else None
            line, column = (node.line + offset, node.column) if node else (found.line, found.column)
            queue.append(_Object((*found.path, "items", index), _adopted(item, found.value), line, column, node))
    return flat


def _item_nodes(node: Node | None) -> list[Node]:
    """The nodes of a list's items: none if they are not written in the list itself."""
    if node is None or node.kind != "mapping":
        return []
    pairs = zip(node.children[::2], node.children[1::2], strict=True)
    items = [value for key, value in pairs if key.text == "items"]
    return items[-1].children if items else []


def _is_list(value: Any, path: Path) -> bool:
    """Whatever its kind, a document with `items` is a list; within a list, only if they are one."""
    if not isinstance(value, dict) or "items" not in value:
        return False
    return not path or isinstance(value["items"], list)


def _adopted(item: Any, parent: dict[str, Any]) -> Any:
    """An item without a kind and a version has those of its list: a PodList holds Pods."""
    if item is None:
        item = {}
    if not isinstance(item, dict) or _word(item, "kind") or _word(item, "apiVersion"):
        return item
    kind = _word(parent, "kind").removesuffix("List")
    return {**item, "kind": kind, "apiVersion": _word(parent, "apiVersion")}


def _word(value: dict[str, Any], key: str) -> str:
    word = value.get(key)
    return word if isinstance(word, str) else ""


def _check(found: _Object) -> None:
    name = _path(found.path) or "the document"
    if not isinstance(found.value, dict):
        raise found.broken(f"{name} is no object: a manifest is a mapping with apiVersion, kind and metadata")
    for key, example in (("apiVersion", "batch.volcano.sh/v1alpha1"), ("kind", "Job")):
        if key not in found.value:
            raise found.broken(f"{name} has no {key}: add it, such as `{key}: {example}`")
        if not _word(found.value, key):
            raise found.broken(f"{key} of {name} must be a string that is not empty, such as {example}")


def _path(path: Path) -> str:
    """A path as Kubernetes writes it: `spec.tasks[1].name`, `metadata.annotations[example.com/x]`."""
    parts = [f"[{step}]" if isinstance(step, int) or not _IDENTIFIER.fullmatch(step) else f".{step}" for step in path]
    return "".join(parts).removeprefix(".")


__all__ = ["MAX_DEPTH", "Manifest", "Unreadable", "read"]
