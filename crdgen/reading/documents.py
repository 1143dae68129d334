"""One document of a stream as plain values: YAML as go-yaml v2 reads it, JSON as encoding/json does."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import yaml

from crdgen.reading.scalars import Scalar, ScalarError, json_key, json_value, resolve
from crdgen.schema.look import as_read

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

#: Far above what a Kubernetes object needs (an inlined pod template has some twenty levels), and below what Python's
#: recursion bears. go-yaml and encoding/json stop at 10,000.
MAX_DEPTH: Final = 100
#: So many values may be in a document once its aliases are expanded; go-yaml has a bound as well.
_MOST_VALUES: Final = 400_000
_TOO_DEEP: Final = f"nested too deep: at most {MAX_DEPTH} levels are read, aliases included"
_MERGE: Final = "<<"

Path: TypeAlias = tuple[str | int, ...]


class DocumentError(ValueError):
    """A document that cannot be read: what is wrong, and the line and column in it, both counted from 0."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(slots=True)
class Document:
    """What was read.

    Attributes:
        value: None where the document says nothing.
        places: Line and column of the document, by the empty path, and of the items of its list `items`.
        end: The line after it; in JSON, the position.
        duplicates: The paths of keys that are there twice.
    """

    value: Any = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    end: int = 0
    duplicates: list[Path] = field(default_factory=list)


class _Anchored(NamedTuple):
    value: Any
    size: int
    height: int = 0


class _OpenCollection:
    """A mapping or a list that is being read."""

    def __init__(self, event: Any, count: int) -> None:
        self.value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.anchor: str | None = event.anchor
        self.key: str | None = None
        self.own: set[str] = set()
        self.height = 0
        self.count = count

    @property
    def step(self) -> str | int:
        return len(self.value) if isinstance(self.value, list) else self.key or ""


def load(text: bytes) -> Document:
    """Return the first document of a YAML text, which is all that go-yaml reads.

    Raises:
        DocumentError: The text is no YAML, or nothing that JSON can say.
    """
    reader = _DocumentBuilder()
    for event in _events(text):
        try:
            if reader.read(event):
                break
        except ScalarError as error:
            raise DocumentError(str(error), event.start_mark.line, event.start_mark.column) from error
    return reader.document


def _events(text: bytes) -> Iterator[Any]:
    try:
        loader: Any = _Loader(text)
        try:
            while (event := loader.get_event()) is not None:
                yield event
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(filter(None, (error.problem, error.context)))
        raise DocumentError(_explained(message, text), *((mark.line, mark.column) if mark else (0, 0))) from error
    except yaml.YAMLError as error:
        raise DocumentError(f"not YAML: {getattr(error, 'reason', error)}") from error


def _explained(problem: str, text: bytes) -> str:
    if "cannot start any token" in problem and b"\t" in text:
        return f"not YAML: {problem}: indent with spaces, tabs are not allowed"
    if "mapping values are not allowed" in problem:
        return f"not YAML: {problem}: check the indentation, and quote a value that contains `: `"
    return f"not YAML: {problem}"


class _DocumentBuilder:
    """Builds a document from its events, without recursion: a text may be nested as deeply as it is long."""

    def __init__(self) -> None:
        self.document = Document()
        self._open: list[_OpenCollection] = []
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0

    def read(self, event: Any) -> bool:
        """Take an event, and return whether the document ends with it."""
        if isinstance(event, yaml.DocumentEndEvent):
            self.document.end = event.end_mark.line if event.end_mark else 0
            return True
        if isinstance(event, yaml.CollectionEndEvent):
            done = self._open.pop()
            self._keep(done.anchor, _Anchored(done.value, self._count - done.count, done.height))
            self._add(done.value, done.height)
        elif isinstance(event, yaml.NodeEvent):
            self._begin(event)
        return False

    def _begin(self, event: Any) -> None:
        self._count += 1
        path = tuple(one.step for one in self._open) if len(self._open) <= 2 else (0, 0, 0)
        if not path or (path[0] == "items" and len(path) == 2):
            self.document.places[path] = (event.start_mark.line, event.start_mark.column)
        at_key = bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None
        if isinstance(event, yaml.CollectionStartEvent):
            if at_key:
                kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
                raise ScalarError(f"a key cannot be a {kind}: use a string (quote templates such as {{{{ name }}}})")
            if len(self._open) >= MAX_DEPTH:
                raise ScalarError(_TOO_DEEP)
            self._open.append(_OpenCollection(event, self._count - 1))
            return
        height, value = self._alias(str(event.anchor)) if isinstance(event, yaml.AliasEvent) else (0, _scalar(event))
        if isinstance(event, yaml.ScalarEvent):
            self._keep(event.anchor, _Anchored(value, 1))
        if at_key and _is_merge(event):
            self._open[-1].key = _MERGE
        elif at_key:
            self._key(value)
        else:
            self._add(value if isinstance(value, dict | list) else json_value(value), height)

    def _keep(self, anchor: str | None, anchored: _Anchored) -> None:
        if anchor is not None:
            self._anchors[anchor] = anchored

    def _alias(self, name: str) -> tuple[int, Any]:
        if name not in self._anchors:
            raise ScalarError(
                f"*{name} has no anchor: write &{name} before the value it stands for, which may not hold it"
            )
        found = self._anchors[name]
        self._count += found.size
        if self._count > _MOST_VALUES:
            raise ScalarError("aliases expand to far more than is written: write the values out")
        if len(self._open) + found.height > MAX_DEPTH:
            raise ScalarError(_TOO_DEEP)
        return found.height, deepcopy(found.value)

    def _key(self, value: Any) -> None:
        if isinstance(value, dict | list):
            raise ScalarError("a key cannot be a mapping or a list: use a string")
        mapping = self._open[-1]
        mapping.key = json_key(value)
        if mapping.key in mapping.own:
            self.document.duplicates.append(tuple(one.step for one in self._open))
        mapping.own.add(mapping.key)

    def _add(self, value: Any, height: int) -> None:
        if not self._open:
            self.document.value = value
            return
        parent = self._open[-1]
        parent.height = max(parent.height, height + 1)
        if isinstance(parent.value, list):
            parent.value.append(value)
            return
        if parent.key == _MERGE and _MERGE not in parent.own:
            # Later text wins: go-yaml lets a merge override the keys above it.
            for source in reversed(value) if isinstance(value, list) else (value,):
                if not isinstance(source, dict):
                    raise ScalarError("<< merges mappings: give it a mapping, an alias of one, or a list of those")
                parent.value.update(source)
        else:
            parent.value[parent.key] = value
        parent.key = None


def _scalar(event: Any) -> Scalar:
    text: str = event.value
    return text if event.tag is None and not event.implicit[0] else resolve(text, event.tag)


def _is_merge(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.value != _MERGE:
        return False
    return event.implicit[0] if event.tag is None else event.tag == "tag:yaml.org,2002:merge"


_SPACE: Final = re.compile(r"[ \t\r\n]*")


class _DuplicateKeys(dict[str, Any]):
    """An object in which `keys_twice` were written more than once."""

    keys_twice: tuple[str, ...] = ()


def next_json(text: str, start: int) -> Document | None:
    """Return the document of a JSON stream that begins at or after a position; None at the end of the text.

    Raises:
        DocumentError: What is there is no JSON; the line and column are of the text.
    """
    found = _SPACE.match(text, start)
    start = found.end() if found else start
    if start == len(text):
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
        document = Document(None, {(): _place(text, start)}, end)
        document.value = _clean(value, (), document.duplicates)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", *_place(text, error.pos)) from error
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP, *_place(text, start)) from error
    except ScalarError as error:
        raise DocumentError(str(error), *_place(text, start)) from error
    return document


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    repeated, seen = _DuplicateKeys(entries), set[str]()
    for key, _ in pairs:
        repeated.keys_twice += (key,) * (key in seen)
        seen.add(key)
    return repeated


def _clean(value: Any, path: Path, duplicates: list[Path]) -> Any:
    """Return the value as Go writes it, once it is known to be shallow enough; note keys that were written twice."""
    if len(path) > MAX_DEPTH:
        raise ScalarError(_TOO_DEEP)
    if isinstance(value, dict):
        duplicates.extend((*path, key) for key in getattr(value, "keys_twice", ()))
        return {as_read(key): _clean(item, (*path, as_read(key)), duplicates) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, (*path, index), duplicates) for index, item in enumerate(value)]
    return as_read(value) if isinstance(value, str) else json_value(value)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=lambda digits: int(digits) if len(digits) <= 400 else float(digits)
)
