"""One YAML document as plain values, with the merges, aliases and limits of go-yaml v2."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from crdgen.reading.yaml_scalars import MERGE, Scalar, Untrue, json_key, json_number, resolve

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

# Far above what a Kubernetes object needs (an inlined pod template has some twenty levels), and below what
# Python's recursion bears. go-yaml and encoding/json stop at 10000.
MAX_DEPTH = 100
# go-yaml's bounds on what aliases may add: 99 % of the work in a small document, falling to 10 % in a large one.
_SMALL, _LARGE = 400_000, 4_000_000

_TOO_DEEP = f"nested too deep: at most {MAX_DEPTH} levels are read, aliases and merges included"

_ESCAPED_SOLIDUS = re.compile(r"(?<!\\)(?:\\\\)*\\/")

Path = tuple[str | int, ...]


class Broken(ValueError):
    """A document that cannot be read: what is wrong, and the line and column in it, both counted from 0."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


@dataclass(slots=True)
class Node:
    """A node of the document's tree; `children` of a mapping are its keys and values in turn."""

    kind: str
    line: int
    column: int
    tag: str | None = None
    text: str = ""
    implicit: bool = False
    children: "list[Node]" = field(default_factory=list)
    target: "Node | None" = None

    def broken(self, message: str) -> Broken:
        """The error that something is wrong with this node."""
        return Broken(message, self.line, self.column)


@dataclass(slots=True)
class Document:
    """What was read: the value, where each item of a list begins, and which keys were written twice."""

    value: Any
    root: Node | None
    end: int
    duplicates: list[Path]


def load(text: bytes) -> Document:
    """Reads the first document of a text, which is all that go-yaml reads.

    Raises:
        Broken: the text is no YAML, or nothing that JSON can say.
    """
    root, end = _compose(text)
    if root is None:
        return Document(None, None, end, [])
    reader = _Reader()
    try:
        return Document(reader.value(root, ()), root, end, reader.duplicates)
    except RecursionError as error:
        raise root.broken(_TOO_DEEP) from error


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
        raise Broken(_explained(message, text), *((mark.line, mark.column) if mark else (0, 0))) from error
    except yaml.YAMLError as error:
        raise Broken(f"not YAML: {getattr(error, 'reason', error)}") from error


def _refuse_escaped_solidus(event: Any, source: str) -> None:
    """Newer libyaml reads the escape of JSON that go-yaml does not know. An empty source is known to have none."""
    if source and event.style == '"' and _ESCAPED_SOLIDUS.search(source, event.start_mark.index, event.end_mark.index):
        mark = event.start_mark
        raise Broken(r"not YAML: unknown escape \/ in a quoted string: write /", mark.line, mark.column)


def _explained(problem: str, text: bytes) -> str:
    if "cannot start any token" in problem and b"\t" in text:
        return f"not YAML: {problem}: indent with spaces, tabs are not allowed"
    if "mapping values are not allowed" in problem:
        return f"not YAML: {problem}: check the indentation, and quote a value that contains `: `"
    return f"not YAML: {problem}"


def _compose(text: bytes) -> tuple[Node | None, int]:
    """The tree of the first document, and the line after it."""
    top = Node("document", 0, 0)
    open_nodes = [top]
    anchors: dict[str, Node] = {}
    source = text.decode("utf-8-sig", "replace") if b"\\/" in text else ""
    for event in _events(text):
        if isinstance(event, yaml.DocumentEndEvent):
            return top.children[0], event.end_mark.line if event.end_mark else 0
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        if isinstance(event, yaml.ScalarEvent):
            _refuse_escaped_solidus(event, source)
        node = _node(event, anchors)
        open_nodes[-1].children.append(node)
        if node.kind in {"mapping", "sequence"}:
            if len(open_nodes) > MAX_DEPTH:
                raise node.broken(_TOO_DEEP)
            open_nodes.append(node)
    return None, 0


def _node(event: Any, anchors: dict[str, Node]) -> Node:
    line, column = event.start_mark.line, event.start_mark.column
    if isinstance(event, yaml.AliasEvent):
        node = Node("alias", line, column, text=event.anchor or "", target=anchors.get(event.anchor or ""))
        if node.target is None:
            raise node.broken(f"*{event.anchor} has no anchor: write &{event.anchor} before the value it stands for")
        return node
    if isinstance(event, yaml.ScalarEvent):
        node = Node("scalar", line, column, event.tag, event.value, event.implicit[0])
    else:
        node = Node("mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence", line, column, event.tag)
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node


class _Reader:
    """Turns nodes into values. It counts its steps as go-yaml does, so that both give up at the same alias."""

    def __init__(self) -> None:
        self.duplicates: list[Path] = []
        self._steps = self._alias_steps = self._alias_depth = 0
        self._open_aliases: set[int] = set()

    def value(self, node: Node, path: Path) -> Any:
        if node.kind == "alias":
            return self._through(node, lambda target: self.value(target, path))
        self._count(node)
        if len(path) > MAX_DEPTH:
            raise node.broken(_TOO_DEEP)
        if node.kind == "sequence":
            return [self.value(child, (*path, index)) for index, child in enumerate(node.children)]
        if node.kind == "mapping":
            entries: dict[str, Any] = {}
            self._fill(node, entries, path)
            return entries
        try:
            found = _scalar(node)
            return json_number(found) if isinstance(found, int | float) and not isinstance(found, bool) else found
        except Untrue as error:
            raise node.broken(str(error)) from error

    def _fill(self, node: Node, entries: dict[str, Any], path: Path) -> None:
        own: set[str] = set()
        for key_node, value_node in zip(node.children[::2], node.children[1::2], strict=True):
            if key_node.kind == "scalar" and key_node.text == "<<" and (key_node.implicit or key_node.tag == MERGE):
                self._merge(value_node, entries, path)
                continue
            key = self._key(key_node)
            if key in own:
                self.duplicates.append((*path, key))
            own.add(key)
            entries[key] = self.value(value_node, (*path, key))

    def _merge(self, node: Node, entries: dict[str, Any], path: Path) -> None:
        """Puts in what `<<` names. Later text wins: go-yaml lets a merge override the keys above it."""
        for source in reversed(node.children) if node.kind == "sequence" else (node,):
            target = source.target if source.kind == "alias" else source
            if target is None or target.kind != "mapping":
                raise source.broken("<< merges mappings: give it a mapping, an alias of one, or a list of those")
            if source.kind == "alias":
                self._through(source, lambda mapping: self._merge_mapping(mapping, entries, path))
            else:
                self._merge_mapping(source, entries, path)

    def _merge_mapping(self, node: Node, entries: dict[str, Any], path: Path) -> None:
        self._count(node)
        self._fill(node, entries, path)

    def _key(self, node: Node) -> str:
        if node.kind == "alias":
            return str(self._through(node, self._key))
        self._count(node)
        if node.kind != "scalar":
            raise node.broken(f"a key cannot be a {node.kind}: use a string (quote templates such as {{{{ name }}}})")
        try:
            return json_key(_scalar(node))
        except Untrue as error:
            raise node.broken(str(error)) from error

    def _through(self, node: Node, read: Callable[[Node], Any]) -> Any:
        self._count(node)
        if id(node) in self._open_aliases:
            raise node.broken(f"*{node.text} contains itself")
        if self._alias_depth >= MAX_DEPTH:
            raise node.broken(_TOO_DEEP)
        self._open_aliases.add(id(node))
        self._alias_depth += 1
        try:
            return read(node.target or node)
        finally:
            self._alias_depth -= 1
            self._open_aliases.discard(id(node))

    def _count(self, node: Node) -> None:
        self._steps += 1
        self._alias_steps += self._alias_depth > 0
        if self._alias_steps <= 100 or self._steps <= 1000:
            return
        beyond = min(max(self._steps - _SMALL, 0), _LARGE - _SMALL) / (_LARGE - _SMALL)
        if self._alias_steps / self._steps > 0.99 - 0.89 * beyond:
            raise node.broken("aliases expand to far more than is written: write the values out")


def _scalar(node: Node) -> Scalar:
    if node.tag is None and not node.implicit:
        return node.text
    return resolve(node.text, node.tag)[1]
