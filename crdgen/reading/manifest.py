"""Read manifests like `kubectl`: return the objects that it would send for the text of a file.

`kubectl` reads a text that begins with a brace as JSON or, if that fails, as YAML. It splits YAML into documents at
lines that begin with `---`, skips empty documents, and expands lists.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from crdgen.reading.documents import Document, DocumentError, Path, Place, load, load_json
from crdgen.schema.look import path_of

#: Longest step of a path in messages, in characters.
_LONGEST_STEP: Final = 120
#: Comment of `helm template` before each document.
_SOURCE: Final = re.compile(rb"(?:[ \t]*(?:#.*|---.*)?\n)*?# Source: (.+)")


class UnreadableManifest(Exception):
    """A text that `kubectl` could not send; line and column are counted from 1."""

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message


class Manifest(Struct, frozen=True):
    """An object that `kubectl` would send.

    Attributes:
        file: the name of the file, as given.
        index: the index of the object in the file, after lists are expanded.
        line: the line where the object begins, counted from 1.
        object: the object, as in the JSON of the request.
        duplicates: the paths of duplicate keys; `kubectl` silently uses the last value.
        document: the document that contains it.
        path: its path in the document.
    """

    file: str
    index: int
    line: int
    object: dict[str, Any]
    duplicates: tuple[Path, ...] = ()
    document: Document = field(default_factory=Document)
    path: Path = ()

    @property
    def source(self) -> str:
        """The file of the chart from which `helm template` rendered the object, or empty."""
        match = _SOURCE.match(self.document.text[0])
        return match[1].decode("utf-8", "replace").strip() if match else ""

    def locate(self, paths: Iterable[Path], located: Document | None = None) -> dict[Path, tuple[Place, Place]]:
        """Return the places of values and of their keys, as line and column counted from 1.

        The value of a missing key is at the nearest key above, and that of a block below its key at this key.
        Without `located`, the document with the places of all paths, the document is read again.
        """
        whole = {path: (*self.path, *path) for path in paths}
        document = located or self.document.located(whole.values())
        places = {path: document.place(at) for path, at in whole.items()}
        keys = {path: document.keys.get(at, places[path]) for path, at in whole.items()}
        return {path: (_from_1(places[path]), _from_1(keys[path])) for path in whole}


def _from_1(place: Place) -> Place:
    return place[0] + 1, place[1] + 1


def read(text: bytes, file: str, *, others: bool = False) -> list[Manifest]:
    """Return the objects of a text, in the order of sending.

    Args:
        text: the text, in YAML or JSON.
        file: the name of the file.
        others: whether to leave out documents that are not meant as objects, such as settings of programs.

    Raises:
        UnreadableManifest: `kubectl` would not send all of them. No other exception is raised, for any bytes.
    """
    try:
        documents = (document for document in _documents(text) if not (others and _is_other(document.value)))
        manifests = [manifest for document in documents for manifest in _manifests(document, file)]
    except DocumentError as error:
        raise UnreadableManifest(file, error.line + 1, error.column + 1, error.message) from error
    return [replace(manifest, index=index) for index, manifest in enumerate(manifests)]


def read_values(text: bytes, file: str) -> list[Any]:
    """Return the values of the documents of a text that contains no Kubernetes objects; omit empty documents.

    Raises:
        UnreadableManifest: the text is invalid, or has a duplicate key.
    """
    return [document.value for document in read_documents(text, file)]


def read_documents(text: bytes, file: str) -> list[Document]:
    """Return the documents of a text that contains no Kubernetes objects; see `read_values`."""
    try:
        documents = _documents(text)
    except DocumentError as error:
        raise UnreadableManifest(file, error.line + 1, error.column + 1, error.message) from error
    for document in documents:
        if document.duplicates:
            line, column = document.places[()]
            problem = f"the key {path_text(document.duplicates[0])} is there twice: remove one of them"
            raise UnreadableManifest(file, line + 1, column + 1, problem)
    return [document for document in documents if document.value is not None]


def read_value(text: bytes, file: str) -> Any:
    """Return the value of the only document of a text, such as settings; None if it is empty.

    Raises:
        UnreadableManifest: the text is invalid, has a duplicate key, or has several documents.
    """
    return read_document(text, file).value


def read_document(text: bytes, file: str) -> Document:
    """Return the only document of a text that contains no Kubernetes objects; see `read_value`."""
    documents = read_documents(text, file)
    if len(documents) > 1:
        raise UnreadableManifest(file, 1, 1, f"contains {len(documents)} documents: must contain one")
    return documents[0] if documents else Document(places={(): (0, 0)})


def _is_other(value: Any) -> bool:
    """Return whether a document is no object: it lacks apiVersion or kind, and is not one that only forgot one."""
    if not isinstance(value, dict):
        return True
    typed = {"apiVersion", "kind"} & value.keys()
    return len(typed) < 2 and not (typed and "metadata" in value)


def _manifests(document: Document, file: str) -> Iterator[Manifest]:
    for path, value in _objects(document):
        line, column = document.places.get(path, document.places[()])
        if problem := _problem(path, value):
            raise DocumentError(problem, line, column)
        size = len(path)
        duplicates = tuple(key[size:] for key in document.duplicates if key[:size] == path)
        yield Manifest(file, 0, line + 1, value, duplicates, document, path)


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
    """Split a text at lines that begin with `---`, and yield the document of each piece."""
    first_line, piece = 0, list[bytes]()
    for number, raw in enumerate(text.removesuffix(b"\n").split(b"\n")):
        line = raw.removesuffix(b"\r")
        if line.startswith(b"---"):
            after = line[3:].decode("utf-8", "replace").lstrip()
            if after and not after.startswith("#"):
                raise DocumentError("only a comment may follow `---`: put the document on the next line", number, 3)
            if piece:
                yield load(b"\n".join(piece) + b"\n", first_line)
                first_line, piece = number + 1, []
                continue
        piece.append(line)
    if piece:
        yield load(b"\n".join(piece) + b"\n", first_line)


def _objects(document: Document) -> list[tuple[Path, Any]]:
    """Return the objects of a document with their paths; lists are expanded, and empty documents have none."""
    value = document.value
    if value is None:
        return []
    if not isinstance(value, dict) or "items" not in value:
        return [((), value)]
    if not _string(value, "kind"):
        problem = "the document has items but no kind: add it, such as `kind: List`"
        raise DocumentError(problem, *document.places[()])
    items = value["items"]
    if items is not None and not isinstance(items, list):
        raise DocumentError("items must be a list, for an object with `items` is one", *document.places[()])
    return [(("items", index), _with_type(item, value)) for index, item in enumerate(items or ())]


def _with_type(item: Any, parent: dict[str, Any]) -> Any:
    """Return an item with the type from its list, if it has none: the items of a PodList are Pods."""
    if not isinstance(item, dict) or _string(item, "kind") or _string(item, "apiVersion"):
        return item
    return {**item, "kind": _string(parent, "kind").removesuffix("List"), "apiVersion": _string(parent, "apiVersion")}


def _string(mapping_: dict[str, Any], key: str) -> str:
    value = mapping_.get(key)
    return value if isinstance(value, str) else ""


def _problem(path: Path, value: Any) -> str:
    """Return why a value is not an object that `kubectl` would send, or nothing."""
    name = path_text(path) or "the document"
    if not isinstance(value, dict):
        prefix = f"{name}: " if path else ""
        return f"{prefix}not a Kubernetes object: must be a mapping with apiVersion, kind and metadata"
    if path and isinstance(value.get("items"), list):
        return "a list in a list, which kubectl does not expand: put its items into the outer list"
    for key, example in (("apiVersion", "batch.volcano.sh/v1alpha1"), ("kind", "Job")):
        if key not in value:
            return f"{name} has no {key}: add it, such as `{key}: {example}`"
        if not _string(value, key):
            return f"{key} of {name} must be a string that is not empty, such as {example}"
    return ""


def path_text(path: Iterable[str | int]) -> str:
    """Return a path as in Kubernetes, with long steps truncated."""
    steps = (
        step[:_LONGEST_STEP] + "…" * (len(step) > _LONGEST_STEP) if isinstance(step, str) else step for step in path
    )
    return path_of(steps).removeprefix(".")
