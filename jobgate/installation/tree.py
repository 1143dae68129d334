"""Trees: objects of an installation whose settings are still open.

Objects are plain dicts and lists in which an `Expression`, an `If` or a `ForEach` can replace a value.
`resolve` evaluates them for one installation; `template` writes them as a Helm template. So manifests and chart have
the same content, and there is one place that decides what is installed.

- values: `setting` of the installation, `ITEM`, `KEY`, `joined` text, `base64`, `to_json`, `chart_file`
- conditions: a value that is not empty, `equal`, `has`, `begins`, `negated`, `all_of`, `any_of`
- structure: `If` for an entry of a dict or items of a list; `ForEach` for items of a list or all entries of a dict
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from operator import add, eq, floordiv, mul, not_
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from jobgate.installation.installation import Installation, values


class Scope(NamedTuple):
    """What expressions refer to: the installation, and key and item of the loop."""

    installation: Installation
    key: str = ""
    item: Any = ""


@dataclass(frozen=True, slots=True)
class Expression:
    """A value or condition that depends on the installation.

    Attributes:
        go: the expression as an operand in a Go template.
        value: returns its value in an installation.
        default: of a setting, its default value.
    """

    go: str
    value: Callable[[Scope], Any] = field(compare=False)
    default: Any = field(default=None, compare=False)

    def __add__(self, other: Expression | int) -> Expression:
        return _call("add", self, other)

    def __mul__(self, other: Expression | int) -> Expression:
        return _call("mul", self, other)

    def __floordiv__(self, other: int) -> Expression:
        return _call("div", self, other)


def setting(name: str, entry: str = "") -> Expression:
    """Return a setting; with an entry, whether a mapping of names (`kinds`, `plugins`) enables it."""
    path = f"$.Values.{to_camel(name)}"
    if entry:
        return Expression(f"(index {path} {json.dumps(entry)})", lambda scope: scope.installation.on(name, entry))

    def value(scope: Scope) -> Any:
        value = getattr(scope.installation, name)
        if isinstance(value, bytes):
            return value.decode()
        return str(value) if isinstance(value, StrEnum) else value

    default = values(name)
    if name == "namespace":
        path = "$.Release.Namespace"
    elif type(default) is int:
        path = f"(int {path})"  # Helm reads numbers as floats, and prints large ones as 1e+06
    return Expression(path, value, default)


def entry(name: str, key: str, default: dict[str, Any] | list[Any] | tuple[Any, ...] | int) -> Expression:
    """Return the entry of a setting that is a mapping of objects, lists or numbers."""
    go = f"(index $.Values.{to_camel(name)} {json.dumps(key)})"
    go = f"(int {go})" if type(default) is int else go
    return Expression(go, lambda scope: getattr(scope.installation, name).get(key, default), default)


def entry_or(name: str, key: str, otherwise: str) -> Expression:
    """Return the entry of a setting that is a mapping of texts, or else another setting."""
    fallback = setting(otherwise)
    go = f"(default {fallback.go} (index $.Values.{to_camel(name)} {json.dumps(key)}))"
    return Expression(go, lambda scope: getattr(scope.installation, name).get(key) or fallback.value(scope))


def added_to(entries: Mapping[str, str | Expression], further: Expression) -> Expression:
    """Return entries with those of a setting, which replace none."""
    written = " ".join(_operand(part) for pair in entries.items() for part in pair)

    def value(scope: Scope) -> Any:
        return {**further.value(scope), **_resolved(entries, scope)}

    return Expression(f"(merge (dict {written}) {further.go})", value, {})


#: The item of the innermost `ForEach`; the value if it is over a mapping.
ITEM = Expression("$item", lambda scope: scope.item)
#: The same, as an object.
OBJECT = Expression("$item", lambda scope: scope.item, {})
#: The same, as a number.
NUMBER = Expression("(int $item)", lambda scope: scope.item)
#: The key of the innermost `ForEach` over a mapping.
KEY = Expression("$key", lambda scope: scope.key)


def chart_file(name: str, text: str) -> Expression:
    """Return a text that is a file of the chart, below `files/`."""
    return Expression(f'($.Files.Get "files/{name}")', lambda _: text)


#: Functions of Go templates and Sprig, with their meaning in Python.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": add,
    "mul": mul,
    "div": floordiv,
    "eq": eq,
    "has": lambda item, values: item in values,
    "hasPrefix": lambda prefix, text: str(text).startswith(prefix),
    "not": not_,
    "ternary": lambda then, otherwise, test: then if test else otherwise,
    "and": lambda *values: all(values),
    "or": lambda *values: any(values),
    "b64enc": lambda text: b64encode(str(text).encode()).decode(),
    "printf": lambda form, *values: form.replace("%v", "%s") % values,
    "toJson": lambda value: json.dumps(value, sort_keys=True, separators=(",", ":")),
}


def _operand(operand: str | int | Expression) -> str:
    """Return an operand as it is written in a template."""
    return operand.go if isinstance(operand, Expression) else json.dumps(operand)


def _call(function: str, *operands: str | int | Expression) -> Expression:
    """Return a call of a template function."""
    written = " ".join(map(_operand, operands))

    def value(scope: Scope) -> Any:
        return _FUNCTIONS[function](
            *(operand.value(scope) if isinstance(operand, Expression) else operand for operand in operands)
        )

    return Expression(f"({function} {written})", value)


def has(of: Expression, item: str) -> Expression:
    """Return whether a list has an item."""
    return _call("has", item, of)


def filled(of: Expression, outer: str, inner: str, computed: Expression) -> Expression:
    """Return an object in which an empty text at `outer.inner` is replaced."""
    field = f'"{outer}" "{inner}"'
    given = f"(default (dict) {of.go})"  # Helm removes what is null
    with_it = f'(merge (dict "{outer}" (dict "{inner}" {computed.go})) {given})'
    go = f'(ternary {with_it} {given} (eq "" (toString (dig {field} "given" {given}))))'

    def value(scope: Scope) -> Any:
        given = of.value(scope)
        empty = given.get(outer, {}).get(inner, "given") == ""
        return {**given, outer: {**given[outer], inner: computed.value(scope)}} if empty else given

    return Expression(go, value, {})


def begins(of: Expression, using: str) -> Expression:
    """Return whether a text begins with a prefix."""
    return _call("hasPrefix", using, of)


#: Whether a value equals a text.
equal = partial(_call, "eq")
#: Whether a condition is false, or a value is empty.
negated = partial(_call, "not")
#: Whether all conditions are true.
all_of = partial(_call, "and")


def either(test: Expression, then: Expression | str | int, otherwise: str | int) -> Expression:
    """Return a value on a condition, and a text or number otherwise."""
    return _call("ternary", then, otherwise, test)


#: A text in base64.
base64 = partial(_call, "b64enc")
#: A value as JSON.
to_json = partial(_call, "toJson")


def any_of(tests: Iterable[Expression]) -> Expression:
    """Return whether any of the conditions is true. At least one condition is required."""
    first, *rest = dict.fromkeys(tests)
    return _call("or", first, *rest) if rest else first


def joined(*parts: str | Expression) -> Expression:
    """Return the concatenation of texts and values."""
    form = "".join(part.replace("%", "%%") if isinstance(part, str) else "%v" for part in parts)
    return _call("printf", form, *(part for part in parts if isinstance(part, Expression)))


@dataclass(frozen=True, slots=True)
class If:
    """An entry of a dict, or items of a list, on a condition."""

    test: Expression
    then: Any


@dataclass(frozen=True, slots=True)
class ForEach:
    """Items of a list, or entries of a dict (`{KEY: …}`), for each item of a setting."""

    over: Expression
    body: Any


def resolve(node: Any, installation: Installation) -> Any:
    """Return a tree as plain objects of one installation."""
    return _resolved(node, Scope(installation))


def _resolved(node: Any, scope: Scope) -> Any:
    if isinstance(node, Expression):
        value = node.value(scope)
        return list(value) if isinstance(value, tuple) else value
    if isinstance(node, Mapping):
        return {
            key: _resolved(child.then if isinstance(child, If) else child, scope)
            for key, child in node.items()
            if not isinstance(child, If) or child.test.value(scope)
        }
    if isinstance(node, ForEach):  # instead of a dict
        ((key, child),) = node.body.items()
        return {key.value(inner): _resolved(child, inner) for inner in _scopes(node, scope)}
    if isinstance(node, list | tuple):
        return [inner for child in node for inner in _items(child, scope)]
    return node


def _items(child: Any, scope: Scope) -> list[Any]:
    """Return the items of a list that a child yields: none, one, or many."""
    if isinstance(child, If):
        if not child.test.value(scope):
            return []
        then = child.then if isinstance(child.then, list) else [child.then]
        return [item for inner in then for item in _items(inner, scope)]
    if isinstance(child, ForEach):
        body = child.body if isinstance(child.body, list) else [child.body]
        return [item for each in _scopes(child, scope) for inner in body for item in _items(inner, each)]
    return [_resolved(child, scope)]


def _scopes(each: ForEach, scope: Scope) -> list[Scope]:
    over = each.over.value(scope)
    if isinstance(over, Mapping):
        return [scope._replace(key=key, item=over[key]) for key in sorted(over)]
    return [scope._replace(item=item) for item in over]
