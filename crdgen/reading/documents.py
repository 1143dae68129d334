"""One document of a stream as plain values: YAML as go-yaml v2 reads it, JSON as encoding/json does."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

from crdgen.reading.scalars import ScalarError, json_key, json_value, resolve
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
        duplicates: The paths of keys that are there twice; in JSON, nobody looks for them.
    """

    value: Any = None
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    end: int = 0
    duplicates: list[Path] = field(default_factory=list)


def load(text: bytes) -> Document:
    """Return the first document of a YAML text, which is all that go-yaml reads.

    Raises:
        DocumentError: The text is no YAML, or nothing that JSON can say.
    """
    reader = _DocumentReader(_events(text))
    try:
        reader.read()
    except ScalarError as error:
        raise DocumentError(str(error), reader.event.start_mark.line, reader.event.start_mark.column) from error
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


class _DocumentReader:
    """Reads a document from its events; a text may be nested as deeply as it is long: recursion ends at `MAX_DEPTH`."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.document = Document()
        self.event: Any = None
        self._events = events
        self._anchors: dict[str, Any] = {}
        self._count = 0

    def read(self) -> None:
        """Read up to the end of the document."""
        while not isinstance(self._next(), yaml.DocumentEndEvent | yaml.StreamEndEvent):
            if isinstance(self.event, yaml.NodeEvent):
                self.document.value = self._value(())
        self.document.end = self.event.end_mark.line if self.event.end_mark else 0

    def _next(self) -> Any:
        self.event = next(self._events)
        return self.event

    def _value(self, path: Path) -> Any:
        """Return the value at a path, which begins with the current event."""
        event = self.event
        self._count += 1
        if not path or (path[0] == "items" and len(path) == 2):
            self.document.places[path] = (event.start_mark.line, event.start_mark.column)
        if not isinstance(event, yaml.CollectionStartEvent):
            found = self._scalar(len(path))
            return found if isinstance(found, dict | list) else json_value(found)
        if len(path) >= MAX_DEPTH:
            raise ScalarError(_TOO_DEEP)
        found = self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._list(path)
        # Only now: an alias may not stand for what it is in.
        self._anchors |= {event.anchor: found} if event.anchor is not None else {}
        return found

    def _list(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(self._next(), yaml.SequenceEndEvent):
            found.append(self._value((*path, len(found))))
        return found

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        own: set[str] = set()
        while not isinstance(self._next(), yaml.MappingEndEvent):
            self._count += 1
            if _is_merge(self.event):
                self._key(len(path) + 1)  # which may have an anchor
                self._next()
                _merge(found, self._value((*path, _MERGE)))
                continue
            key = self._key(len(path) + 1)
            if key in own:
                self.document.duplicates.append((*path, key))
            own.add(key)
            self._next()
            found[key] = self._value((*path, key))
        return found

    def _key(self, depth: int) -> str:
        if isinstance(self.event, yaml.CollectionStartEvent):
            kind = "mapping" if isinstance(self.event, yaml.MappingStartEvent) else "sequence"
            raise ScalarError(f"a key cannot be a {kind}: use a string (quote templates such as {{{{ name }}}})")
        key = self._scalar(depth)
        if isinstance(key, dict | list):
            raise ScalarError("a key cannot be a mapping or a list: use a string")
        return json_key(key)

    def _scalar(self, depth: int) -> Any:
        """Return what the current event says, a scalar or an alias."""
        event = self.event
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), depth)
        value = event.value if event.tag is None and not event.implicit[0] else resolve(event.value, event.tag)
        self._anchors |= {event.anchor: value} if event.anchor is not None else {}
        return value

    def _alias(self, name: str, depth: int) -> Any:
        if name not in self._anchors:
            raise ScalarError(
                f"*{name} has no anchor: write &{name} before the value it stands for, which may not hold it"
            )
        size, height = _measured(self._anchors[name])
        self._count += size
        if self._count > _MOST_VALUES:
            raise ScalarError("aliases expand to far more than is written: write the values out")
        if depth + height > MAX_DEPTH:
            raise ScalarError(_TOO_DEEP)
        return deepcopy(self._anchors[name])


def _measured(value: Any) -> tuple[int, int]:
    """Return how many keys and values there are in a value, itself included, and how deep it is."""
    if not isinstance(value, dict | list):
        return 1, 0
    below = [_measured(child) for child in (value.values() if isinstance(value, dict) else value)]
    keys = len(value) if isinstance(value, dict) else 0
    return 1 + keys + sum(size for size, _ in below), max((height + 1 for _, height in below), default=0)


def _merge(found: dict[str, Any], value: Any) -> None:
    """Merge a mapping, or several, into another. Later text wins: go-yaml lets a merge override the keys above it."""
    for source in reversed(value) if isinstance(value, list) else (value,):
        if not isinstance(source, dict):
            raise ScalarError("<< merges mappings: give it a mapping, an alias of one, or a list of those")
        found.update(source)


def _is_merge(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.value != _MERGE:
        return False
    return event.implicit[0] if event.tag is None else event.tag == "tag:yaml.org,2002:merge"


_SPACE: Final = re.compile(r"[ \t\r\n]*")


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
        document = Document(_clean(value, 0), {(): _place(text, start)}, end)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", *_place(text, error.pos)) from error
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP, *_place(text, start)) from error
    except ScalarError as error:
        raise DocumentError(str(error), *_place(text, start)) from error
    return document


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1


def _clean(value: Any, depth: int) -> Any:
    """Return the value as Go writes it, once it is known to be shallow enough."""
    if depth > MAX_DEPTH:
        raise ScalarError(_TOO_DEEP)
    if isinstance(value, dict):
        return {as_read(key): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    return as_read(value) if isinstance(value, str) else json_value(value)


_DECODER: Final = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= 400 else float(digits))
