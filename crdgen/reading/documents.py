"""Read the documents of a text as plain values: YAML like go-yaml v2, JSON like encoding/json."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypeAlias

import yaml
from msgspec import Struct

from crdgen.reading.scalars import ScalarError, json_key, json_value, resolve
from crdgen.schema.look import as_read

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

#: Limit of nesting: far more than a Kubernetes object needs (an inlined pod template has some twenty levels), and less
#: than Python's recursion limit. go-yaml and encoding/json stop at 10,000.
MAX_DEPTH: Final = 100
#: Limit of values that the aliases of a document stand for; go-yaml also has a limit. A string counts as another value
#: for each `_CHARACTERS_PER_VALUE`, so aliases stand for at most 13 MB of text.
_VALUES_LIMIT: Final = 400_000
_CHARACTERS_PER_VALUE: Final = 32
#: Limit of reported duplicates per document: their paths may be far longer than the text.
_DUPLICATES_LIMIT: Final = 100
#: Limit of directives: libyaml compares each with all others, and Kubernetes needs none.
_DIRECTIVES_LIMIT: Final = 100
_TOO_DEEP: Final = f"nested too deep: at most {MAX_DEPTH} levels are read, aliases included"
_HINTS: Final = {
    "cannot start any token": "indent with spaces, not tabs, and quote a value that begins with @, % or a backtick",
    "scanning an alias": "quote a value that begins with *",
    "scanning an anchor": "quote a value that begins with &",
    "expected <document start>": "put `---` before another document",
    "mapping values are not allowed": "check the indentation, and quote a value that contains `: `",
}
_MERGE: Final = "<<"

Path: TypeAlias = tuple[str | int, ...]
#: Line and column, counted from 0.
Place: TypeAlias = tuple[int, int]


class DocumentError(ValueError):
    """A document that cannot be read, with the line and column of the error, counted from 0."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class Document(Struct):
    """A document.

    Attributes:
        value: The value; None if the document is empty.
        places: Line and column of the document, by the empty path, and of the items in `items`.
        keys: Line and column of keys that were asked for.
        duplicates: The paths of the first hundred duplicate keys; JSON is not checked for them.
        text: The text, and the line of the file where it begins.
    """

    value: Any = None
    places: dict[Path, Place] = {}
    keys: dict[Path, Place] = {}
    duplicates: list[Path] = []
    text: tuple[bytes, int] = (b"", 0)

    def located(self, paths: Iterable[Path]) -> "Document":
        """Return the document with the places of paths.

        Reads the text again: to remember all places at once would take far more memory than the values.
        """
        try:
            wanted = {path[:length] for path in paths for length in range(len(path) + 1)}
            # Of duplicate keys the last one counts, so all must be read.
            return load(*self.text, wanted, whole=bool(self.duplicates))
        except DocumentError:  # JSON that is not YAML
            return self

    def place(self, path: Path) -> Place:
        """Return the place of a value; of its key for a block, and of the nearest key above for a missing value."""
        while path and path not in self.places:
            path = path[:-1]
            if path in self.keys:
                return self.keys[path]
        return self.places.get(path, (self.text[1], 0))


def load(text: bytes, line: int, wanted: Collection[Path] = (), *, whole: bool = True) -> Document:
    """Return the only document of a YAML text, which starts at a line, with the places of the wanted paths.

    If it need not be whole, it is read until all of them are found.

    Raises:
        DocumentError: The text is not YAML, or has values that JSON does not have.
    """
    if text.count(b"\n%") > _DIRECTIVES_LIMIT:
        raise DocumentError(f"more than {_DIRECTIVES_LIMIT} lines begin with %, as directives do: indent them", line, 0)
    reader = _DocumentReader(text, line, wanted, whole=whole)
    try:
        return reader.read()
    except _AllFound:
        return reader.document
    except ScalarError as error:
        raise _error(str(error), reader.event.start_mark, line) from error
    except yaml.MarkedYAMLError as error:
        raise _error(_explain(error), error.problem_mark or error.context_mark, line) from error
    except yaml.YAMLError as error:
        raise _error(f"not YAML: {getattr(error, 'reason', error)}", None, line) from error


def _error(message: str, mark: yaml.Mark | None, line: int) -> DocumentError:
    return DocumentError(message, line + mark.line, mark.column) if mark else DocumentError(message, line, 0)


def _explain(error: yaml.MarkedYAMLError) -> str:
    problem = " ".join(filter(None, (error.problem, error.context)))
    return f"not YAML: {problem}{''.join(f': {hint}' for words, hint in _HINTS.items() if words in problem)}"


def has_action(content: bytes) -> bool:
    """Return whether a text has the `{{` of a Go template outside of scalars and comments, before it is no YAML."""
    text, opened = content.decode("utf-8", "replace"), -2
    try:
        for token in yaml.scan(text, Loader=_Loader):
            if isinstance(token, yaml.FlowMappingStartToken):
                if token.start_mark.index == opened + 1:
                    return True
                opened = token.start_mark.index
    except yaml.YAMLError as error:
        # The tokens of a key that has no end are not returned.
        mark = getattr(error, "context_mark", None)
        return mark is not None and text.split("\n")[mark.line].startswith("{{", mark.column)
    return False


class _AllFound(Exception):
    """All places are found."""


class _DocumentReader:
    """Reads a document from its events; recursion stops at `MAX_DEPTH`, since hostile text may be nested deeply."""

    def __init__(self, text: bytes, line: int, wanted: Collection[Path], *, whole: bool) -> None:
        self.event: Any = None
        self.document = Document(text=(text, line))
        self._line = line
        self._wanted = wanted
        self._missing = None if whole else set(wanted)
        #: Without anchors, no value is needed to find places.
        self._skips = not whole and b"&" not in text
        # `yaml.parse` asks for each event twice, which takes a tenth of the time of a read.
        self._get = _Loader(text).get_event
        self._anchors: dict[str, Any] = {}
        self._copied = 0

    def read(self) -> Document:
        """Return the document; the text must end after it."""
        while not isinstance(self._next(), yaml.StreamEndEvent):
            if isinstance(self.event, yaml.NodeEvent):
                if self.document.places:
                    raise ScalarError("kubectl does not read text after the end of a document: put `---` before it")
                self.document.value = self._value(())
        return self.document

    def _next(self) -> Any:
        event = self.event = self._get()
        return event

    def _place(self) -> Place:
        return self._line + self.event.start_mark.line, self.event.start_mark.column

    def _value(self, path: Path) -> Any:
        """Return the value that starts with the current event."""
        event = self.event
        if not path or (path[0] == "items" and len(path) == 2) or path in self._wanted:
            is_block = isinstance(event, yaml.CollectionStartEvent) and not event.flow_style
            key = self.document.keys.get(path) if is_block else None
            self.document.places[path] = key or self._place()
            if self._missing is not None:
                self._missing.discard(path)
                if not self._missing:
                    raise _AllFound
        if not isinstance(event, yaml.CollectionStartEvent):
            value = self._scalar(len(path))
            return value if isinstance(value, dict | list) else json_value(value)
        if len(path) >= MAX_DEPTH:
            raise ScalarError(_TOO_DEEP)
        if self._skips and path not in self._wanted:
            return self._skip()
        value = self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._list(path)
        # Only now, because a value must not contain an alias of itself.
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _skip(self) -> None:
        depth = 1
        while depth:
            event = self._next()
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)

    def _list(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(self._next(), yaml.SequenceEndEvent):
            items.append(self._value((*path, len(items))))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        own_keys: set[str] = set()
        while not isinstance(self._next(), yaml.MappingEndEvent):
            if _is_merge(self.event):
                self._key(len(path) + 1)  # which may have an anchor
                self._next()
                _merge(entries, self._value((*path, _MERGE)))
                continue
            place = self._place()
            key = self._key(len(path) + 1)
            at = (*path, key)
            if at in self._wanted:
                self.document.keys[at] = place
            if key in own_keys and len(self.document.duplicates) < _DUPLICATES_LIMIT:
                self.document.duplicates.append(at)
            own_keys.add(key)
            self._next()
            entries[key] = self._value(at)
        return entries

    def _key(self, depth: int) -> str:
        key = {} if isinstance(self.event, yaml.CollectionStartEvent) else self._scalar(depth)
        if isinstance(key, dict | list):
            raise ScalarError("a key cannot be a mapping or a list: use a string (quote templates: {{ name }})")
        return json_key(key)

    def _scalar(self, depth: int) -> Any:
        """Return the value of the current event, a scalar or an alias."""
        event = self.event
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self._anchors:
                return self._copy(self._anchors[event.anchor], depth)
            name = event.anchor
            fix = f"quote the text, or write &{name} before its value, which may not hold the alias"
            raise ScalarError(f"*{name} has no anchor: {fix}")
        value = event.value if event.tag is None and not event.implicit[0] else resolve(event.value, event.tag)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _copy(self, value: Any, depth: int) -> Any:
        """Return a copy of the value of an alias."""
        self._copied += 1 + (len(value) // _CHARACTERS_PER_VALUE if isinstance(value, str) else 0)
        if self._copied > _VALUES_LIMIT:
            raise ScalarError("aliases expand to far more than is written: write the values out")
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH:
            raise ScalarError(_TOO_DEEP)
        if isinstance(value, list):
            return [self._copy(item, depth + 1) for item in value]
        self._copied += sum(len(key) // _CHARACTERS_PER_VALUE for key in value)
        return {key: self._copy(item, depth + 1) for key, item in value.items()}


def _merge(target: dict[str, Any], value: Any) -> None:
    """Merge a mapping, or a list of mappings, into another. In go-yaml, a merge overrides the keys above it."""
    for source in reversed(value) if isinstance(value, list) else (value,):
        if not isinstance(source, dict):
            raise ScalarError("<< merges mappings: give it a mapping, an alias of one, or a list of those")
        target.update(source)


def _is_merge(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.value == _MERGE and event.tag is None and event.implicit[0]


_START: Final = re.compile(r"[^ \t\r\n]")
_DECODER: Final = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= 400 else float(digits))


def load_json(text: bytes) -> Iterator[Document]:
    """Yield the documents of a stream of JSON.

    Raises:
        DocumentError: The text is not JSON.
    """
    stream = text.decode("utf-8", "replace")
    start = end = row = first = 0
    while match := _START.search(stream, end):
        # Counted from the previous document: a stream may have as many documents as characters.
        if lines := stream.count("\n", start, match.start()):
            row, first = row + lines, stream.rfind("\n", start, match.start()) + 1
        start = match.start()
        try:
            value, end = _DECODER.raw_decode(stream, start)
            document = Document(_clean(value, 0), {(): (row, start - first)}, text=(stream[first:end].encode(), row))
        except json.JSONDecodeError as error:
            problem = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            raise DocumentError(problem, *_place(stream, error.pos)) from error
        except RecursionError as error:
            raise DocumentError(_TOO_DEEP, *_place(stream, start)) from error
        except ScalarError as error:
            raise DocumentError(str(error), *_place(stream, start)) from error
        yield document


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position), position - text.rfind("\n", 0, position) - 1


def _clean(value: Any, depth: int) -> Any:
    """Return the value as Go writes it, or raise if it is nested too deep."""
    if depth > MAX_DEPTH:
        raise ScalarError(_TOO_DEEP)
    if isinstance(value, dict):
        return {as_read(key): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    return as_read(value) if isinstance(value, str) else json_value(value)
