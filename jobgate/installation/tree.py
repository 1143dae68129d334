"""Trees: objects of an installation whose settings are still open.

Objects are plain dicts and lists in which an `Expression`, an `If` or a `ForEach` can replace a value.
`resolve` evaluates them for one installation; `template` writes them as a Helm template. So manifests and chart have
the same content, and there is one place that decides what is installed.

- values: `Setting` of the installation, `LoopItem`, `joined` text, `base64`, `ChartFile`
- conditions: a value that is not empty, `equal`, `has`, `begins`, `negated`, `all_of`, `any_of`
- structure: `If` for an entry of a dict or items of a list; `ForEach` for items of a list or all entries of a dict
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import eq, not_
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from jobgate.installation.installation import Installation, values


class Scope(NamedTuple):
    """What expressions refer to: the installation, and key and item of the loop."""

    installation: Installation
    key: str = ""
    item: str | int = ""


class Expression:
    """A value or condition that depends on the installation."""

    def value(self, scope: Scope) -> Any:
        """Return the value in an installation."""
        raise NotImplementedError

    def go(self) -> str:
        """Return the expression as an operand in a Go template."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Setting(Expression):
    """A setting of the installation; with a name, whether a mapping of names (`kinds`, `plugins`) enables it."""

    field: str
    name: str = ""

    def value(self, scope: Scope) -> Any:
        """Return the setting as JSON has it."""
        if self.name:
            return scope.installation.on(self.field, self.name)
        found = getattr(scope.installation, self.field)
        if isinstance(found, bytes):
            return found.decode()
        return str(found) if isinstance(found, StrEnum) else found

    def go(self) -> str:
        """Return the chart's value; the namespace is that of the release."""
        if self.field == "namespace":
            return "$.Release.Namespace"
        path = f"$.Values.{to_camel(self.field)}"
        if self.name:
            return f"(index {path} {json.dumps(self.name)})"
        # Helm reads numbers as floats, and prints large ones as 1e+06.
        return f"(int {path})" if type(values(self.field)) is int else path


@dataclass(frozen=True, slots=True)
class LoopItem(Expression):
    """The item of the innermost `ForEach`, which can be a number; of a mapping, the value or the key."""

    key: bool = False
    number: bool = False

    def value(self, scope: Scope) -> str | int:
        """Return the item."""
        return scope.key if self.key else scope.item

    def go(self) -> str:
        """Return the variable of the range."""
        if self.number:
            return "(int $item)"
        return "$key" if self.key else "$item"


@dataclass(frozen=True, slots=True)
class ChartFile(Expression):
    """A text that the chart has as a file below `files/`."""

    name: str
    text: str

    def value(self, scope: Scope) -> str:
        """Return the text."""
        del scope
        return self.text

    def go(self) -> str:
        """Return a call that reads the file."""
        return f'($.Files.Get "files/{self.name}")'


#: Functions of Go templates and Sprig, with their meaning in Python.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "eq": eq,
    "has": lambda item, values: item in values,
    "hasPrefix": lambda prefix, text: str(text).startswith(prefix),
    "not": not_,
    "and": lambda *values: all(values),
    "or": lambda *values: any(values),
    "b64enc": lambda text: b64encode(str(text).encode()).decode(),
    "printf": lambda form, *values: form.replace("%v", "%s") % values,
}


@dataclass(frozen=True, slots=True)
class FunctionCall(Expression):
    """A call of a template function."""

    function: str
    operands: tuple[str | Expression, ...]

    def value(self, scope: Scope) -> Any:
        """Return the result of the function."""
        operands = (one.value(scope) if isinstance(one, Expression) else one for one in self.operands)
        return _FUNCTIONS[self.function](*operands)

    def go(self) -> str:
        """Return the call."""
        operands = (one.go() if isinstance(one, Expression) else json.dumps(one) for one in self.operands)
        return f"({self.function} {' '.join(operands)})"


def equal(of: Expression, to: str) -> FunctionCall:
    """Return whether a value equals a text."""
    return FunctionCall("eq", (of, to))


def has(of: Expression, item: str) -> FunctionCall:
    """Return whether a list has an item."""
    return FunctionCall("has", (item, of))


def begins(of: Expression, using: str) -> FunctionCall:
    """Return whether a text begins with a prefix."""
    return FunctionCall("hasPrefix", (using, of))


def negated(of: Expression) -> FunctionCall:
    """Return whether a condition is false, or a value is empty."""
    return FunctionCall("not", (of,))


def all_of(*tests: Expression) -> FunctionCall:
    """Return whether all conditions are true."""
    return FunctionCall("and", tests)


def any_of(tests: Iterable[Expression]) -> Expression:
    """Return whether one of the conditions is true."""
    found = tuple(dict.fromkeys(tests))
    if not found:
        raise ValueError("a condition of no conditions")
    return found[0] if len(found) == 1 else FunctionCall("or", found)


def base64(of: Expression) -> FunctionCall:
    """Return a text in base64."""
    return FunctionCall("b64enc", (of,))


def joined(*parts: str | Expression) -> FunctionCall:
    """Return the concatenation of texts and values."""
    form = "".join(part.replace("%", "%%") if isinstance(part, str) else "%v" for part in parts)
    return FunctionCall("printf", (form, *(part for part in parts if isinstance(part, Expression))))


@dataclass(frozen=True, slots=True)
class If:
    """An entry of a dict, or items of a list, on a condition."""

    test: Expression
    then: Any


@dataclass(frozen=True, slots=True)
class ForEach:
    """Items of a list, or entries of a dict (`{LoopItem(key=True): …}`): one for each item of a setting."""

    over: Setting
    body: Any


def resolve(node: Any, installation: Installation) -> Any:
    """Return a tree as plain objects of one installation."""
    return _resolved(node, Scope(installation))


def _resolved(node: Any, scope: Scope) -> Any:
    if isinstance(node, Expression):
        found = node.value(scope)
        return list(found) if isinstance(found, tuple) else found
    if isinstance(node, Mapping):
        return {
            key: _resolved(child.then if isinstance(child, If) else child, scope)
            for key, child in node.items()
            if not isinstance(child, If) or child.test.value(scope)
        }
    if isinstance(node, ForEach):  # instead of a dict
        ((key, child),) = node.body.items()
        return {key.value(one): _resolved(child, one) for one in _scopes(node, scope)}
    if isinstance(node, list | tuple):
        return [one for child in node for one in _items(child, scope)]
    return node


def _items(child: Any, scope: Scope) -> list[Any]:
    """Return the items of a list that a child stands for: none, one, or many."""
    if isinstance(child, If):
        if not child.test.value(scope):
            return []
        then = child.then if isinstance(child.then, list) else [child.then]
        return [one for inner in then for one in _items(inner, scope)]
    if isinstance(child, ForEach):
        body = child.body if isinstance(child.body, list) else [child.body]
        return [one for each in _scopes(child, scope) for inner in body for one in _items(inner, each)]
    return [_resolved(child, scope)]


def _scopes(each: ForEach, scope: Scope) -> list[Scope]:
    over = getattr(scope.installation, each.over.field)
    if isinstance(over, Mapping):
        return [scope._replace(key=key, item=over[key]) for key in sorted(over)]
    return [scope._replace(item=item) for item in over]
