"""What is rendered, as a tree with the choices of an installation still open in it.

Objects are plain dicts and lists in which a place may hold one of the words below. `resolve` closes them for one
installation; `template` writes them as a Helm template. So both say the same by construction, and there is one place
that knows what is installed.

- a value: `Given` (of the installation), `Item` (of what is gone through), `Joined` (text of several), `base64`, `File`
- a condition: a value that is not empty, `equal`, `has`, `begins`, `negated`, `all_of`, `any_of`
- a structure: `When` in the place of an entry of a dict or of items of a list; `Each` in the place of items of a
  list or of all entries of a dict
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
    """What words mean where they stand: the installation, and the item that is gone through."""

    installation: Installation
    key: str = ""
    item: str | int = ""


class Word:
    """A value or a condition that an installation decides."""

    def value(self, scope: Scope) -> Any:
        """Return what it is in an installation."""
        raise NotImplementedError

    def go(self) -> str:
        """Return it as an operand of a Go template's action."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Given(Word):
    """A field of the installation, or what a mapping among them says of a name."""

    field: str
    name: str = ""

    def value(self, scope: Scope) -> Any:
        """Return it as JSON would have it."""
        if self.name:
            return scope.installation.on(self.field, self.name)
        found = getattr(scope.installation, self.field)
        if isinstance(found, bytes):
            return found.decode()
        return str(found) if isinstance(found, StrEnum) else found

    def go(self) -> str:
        """Return the chart's value; a release brings its namespace."""
        if self.field == "namespace":
            return "$.Release.Namespace"
        path = f"$.Values.{to_camel(self.field)}"
        if self.name:
            return f"(index {path} {json.dumps(self.name)})"
        # Helm reads numbers as floats, and prints large ones as 1e+06.
        return f"(int {path})" if type(values(self.field)) is int else path


@dataclass(frozen=True, slots=True)
class Item(Word):
    """The item that an `Each` goes through, which may be a number; of a mapping, its value or its key."""

    key: bool = False
    number: bool = False

    def value(self, scope: Scope) -> str | int:
        """Return it."""
        return scope.key if self.key else scope.item

    def go(self) -> str:
        """Return the variable of the range."""
        if self.number:
            return "(int $item)"
        return "$key" if self.key else "$item"


@dataclass(frozen=True, slots=True)
class Joined(Word):
    """Text of several parts."""

    parts: tuple[str | Word, ...]

    def value(self, scope: Scope) -> str:
        """Return the text."""
        return "".join(part if isinstance(part, str) else str(part.value(scope)) for part in self.parts)

    def go(self) -> str:
        """Return a call of printf."""
        form = "".join(part.replace("%", "%%") if isinstance(part, str) else "%v" for part in self.parts)
        operands = " ".join(part.go() for part in self.parts if isinstance(part, Word))
        return f"(printf {json.dumps(form)} {operands})"


@dataclass(frozen=True, slots=True)
class File(Word):
    """A text that the chart carries as a file of its own, below `files/`."""

    name: str
    text: str

    def value(self, scope: Scope) -> str:
        """Return the text."""
        del scope
        return self.text

    def go(self) -> str:
        """Return a call that reads the file."""
        return f'($.Files.Get "files/{self.name}")'


#: The functions of Go templates and Sprig that are called, each as it is in Python.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "eq": eq,
    "has": lambda item, given: item in given,
    "hasPrefix": lambda prefix, text: str(text).startswith(prefix),
    "not": not_,
    "and": lambda *given: all(given),
    "or": lambda *given: any(given),
    "b64enc": lambda text: b64encode(str(text).encode()).decode(),
}


@dataclass(frozen=True, slots=True)
class Call(Word):
    """A call of a template function."""

    function: str
    operands: tuple[str | Word, ...]

    def value(self, scope: Scope) -> Any:
        """Return what the function gives."""
        given = (one.value(scope) if isinstance(one, Word) else one for one in self.operands)
        return _FUNCTIONS[self.function](*given)

    def go(self) -> str:
        """Return the call."""
        operands = (one.go() if isinstance(one, Word) else json.dumps(one) for one in self.operands)
        return f"({self.function} {' '.join(operands)})"


def equal(of: Word, to: str) -> Call:
    """Return whether a value is this one."""
    return Call("eq", (of, to))


def has(of: Word, item: str) -> Call:
    """Return whether a list has this item."""
    return Call("has", (item, of))


def begins(of: Word, using: str) -> Call:
    """Return whether a text begins with this one."""
    return Call("hasPrefix", (using, of))


def negated(of: Word) -> Call:
    """Return whether something does not hold, or is empty."""
    return Call("not", (of,))


def all_of(*tests: Word) -> Call:
    """Return whether everything holds."""
    return Call("and", tests)


def base64(of: Word) -> Call:
    """Return a text in base64."""
    return Call("b64enc", (of,))


@dataclass(frozen=True, slots=True)
class When:
    """An entry of a dict, or items of a list, that are there on a condition."""

    test: Word
    then: Any


@dataclass(frozen=True, slots=True)
class Each:
    """Items of a list, or entries of a dict (`{Item(key=True): …}`): one for each that a field has."""

    over: Given
    body: Any


def joined(*parts: str | Word) -> Joined:
    """Return the text of these parts."""
    return Joined(parts)


def any_of(tests: Iterable[Word]) -> Word:
    """Return the condition that one of these holds.

    Raises:
        ValueError: there is none.
    """
    found = tuple(dict.fromkeys(tests))
    if not found:
        raise ValueError("a condition of no conditions")
    return found[0] if len(found) == 1 else Call("or", found)


def resolve(node: Any, installation: Installation) -> Any:
    """Return a tree as plain objects, with the choices of an installation."""
    return _resolved(node, Scope(installation))


def _resolved(node: Any, scope: Scope) -> Any:
    if isinstance(node, Word):
        found = node.value(scope)
        return list(found) if isinstance(found, tuple) else found
    if isinstance(node, Mapping):
        return {
            key: _resolved(child.then if isinstance(child, When) else child, scope)
            for key, child in node.items()
            if not isinstance(child, When) or child.test.value(scope)
        }
    if isinstance(node, Each):  # in the place of a dict
        ((key, child),) = node.body.items()
        return {key.value(one): _resolved(child, one) for one in _scopes(node, scope)}
    if isinstance(node, list | tuple):
        return [one for child in node for one in _items(child, scope)]
    return node


def _items(child: Any, scope: Scope) -> list[Any]:
    """Return what a place in a list holds: nothing, one, or many."""
    if isinstance(child, When):
        if not child.test.value(scope):
            return []
        then = child.then if isinstance(child.then, list) else [child.then]
        return [one for inner in then for one in _items(inner, scope)]
    if isinstance(child, Each):
        body = child.body if isinstance(child.body, list) else [child.body]
        return [one for each in _scopes(child, scope) for inner in body for one in _items(inner, each)]
    return [_resolved(child, scope)]


def _scopes(each: Each, scope: Scope) -> list[Scope]:
    over = getattr(scope.installation, each.over.field)
    if isinstance(over, Mapping):
        return [scope._replace(key=key, item=over[key]) for key in sorted(over)]
    return [scope._replace(item=item) for item in over]
