"""Writes a tree as a Helm template: expressions become actions, all else is the YAML of `crdgen.to_yaml`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crdgen import to_yaml
from jobgate.installation.tree import Expression, ForEach, If

#: A text with this delimiter of Helm is written as a string in an action.
_ACTION = "{{"
_END = "{{- end }}"


def template(objects: Iterable[Any]) -> str:
    """Return objects, each possibly in an `If`, as one template."""
    return "".join(f"{line}\n" for node in objects for line in _document(node))


def _document(node: Any) -> Iterator[str]:
    if isinstance(node, If | ForEach):
        yield _opening(node)
        body = node.then if isinstance(node, If) else node.body
        for child in body if isinstance(body, list) else [body]:
            yield from _document(child)
        yield _END
    else:
        yield "---"
        yield from _lines(node, "")


def _lines(node: Any, margin: str) -> Iterator[str]:
    if not _is_open(node):
        yield from (margin + line for line in to_yaml(node).splitlines())
    elif isinstance(node, Mapping):
        for key, child in node.items():
            if isinstance(child, If):
                yield _opening(child)
                yield from _entry(_scalar(key), child.then, margin)
                yield _END
            else:
                yield from _entry(_scalar(key), child, margin)
    elif isinstance(node, ForEach):
        ((key, child),) = node.body.items()
        yield _opening(node)
        yield from _entry(_scalar(key), child, margin)
        yield _END
    else:
        for child in node:
            yield from _item(child, margin)


def _entry(key: str, child: Any, margin: str) -> Iterator[str]:
    if _is_block(child):
        yield f"{margin}{key}:"
        yield from _lines(child, margin + ("" if isinstance(child, list) else "  "))
    else:
        yield f"{margin}{key}: {_scalar(child)}"


def _item(child: Any, margin: str) -> Iterator[str]:
    if isinstance(child, If | ForEach):
        yield _opening(child)
        body = child.then if isinstance(child, If) else child.body
        for node in body if isinstance(body, list) else [body]:
            yield from _item(node, margin)
        yield _END
    elif _is_block(child):
        lines = list(_lines(child, margin + "  "))
        if lines[0].startswith(_ACTION):
            raise ValueError(f"the first entry of an item of a list must not depend on a condition: {lines[0]}")
        yield f"{margin}- {lines[0].lstrip(' ')}"
        yield from lines[1:]
    else:
        yield f"{margin}- {_scalar(child)}"


def _opening(node: If | ForEach) -> str:
    if isinstance(node, If):
        test = node.test.go
        return f"{{{{- if {test[1:-1] if test.startswith('(') else test} }}}}"
    variables = "$key, $item" if isinstance(node.over.default, dict) else "$item"
    return f"{{{{- range {variables} := {node.over.go} }}}}"


def _is_open(node: Any) -> bool:
    """Return whether a node contains an expression, or a text that Helm would interpret."""
    if isinstance(node, Expression | If | ForEach):
        return True
    if isinstance(node, Mapping):
        return any(_is_open(part) for entry in node.items() for part in entry)
    if isinstance(node, list | tuple):
        return any(_is_open(child) for child in node)
    return isinstance(node, str) and _ACTION in node


def _is_block(node: Any) -> bool:
    return isinstance(node, ForEach) or (isinstance(node, Mapping | list) and bool(node))


def _scalar(value: Any) -> str:
    if isinstance(value, Expression):
        go = value.go[1:-1] if value.go.startswith("(") else value.go
        if go.startswith("int "):
            return f"{{{{ {go} }}}}"
        return f"{{{{ {go} | {'toJson' if isinstance(value.default, tuple | bool | Mapping) else 'quote'} }}}}"
    if isinstance(value, str) and _ACTION in value:
        return f"{{{{ {json.dumps(value)} | quote }}}}"
    return to_yaml(value).removesuffix("\n")
