"""What is rendered, as a tree with the choices of an installation still open in it.

Objects are plain dicts and lists in which a place may hold one of the words below. `resolve` closes them for one
installation; `template` writes them as a Helm template. So both say the same by construction, and there is one place
that knows what is installed.

- a value: `Given` (of the installation), `Item` (of what is gone through), `Joined` (text of several), `Base64`, `File`
- a condition: a value that is not empty, `Equal`, `Begins`, `Not`, `AllOf`, `AnyOf`
- a structure: `When` in the place of an entry of a dict or of items of a list; `Each` in the place of items of a
  list or of all entries of a dict
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel

from jobgate.render.installation import Installation, values


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
class Base64(Word):
    """A text in base64."""

    of: Word

    def value(self, scope: Scope) -> str:
        """Return the encoded text."""
        return b64encode(str(self.of.value(scope)).encode()).decode()

    def go(self) -> str:
        """Return a call of the encoder."""
        return f"(b64enc {self.of.go()})"


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


@dataclass(frozen=True, slots=True)
class Equal(Word):
    """Whether a value is this one."""

    of: Word
    to: str

    def value(self, scope: Scope) -> bool:
        """Compare."""
        return bool(self.of.value(scope) == self.to)

    def go(self) -> str:
        """Return a comparison."""
        return f"(eq {self.of.go()} {json.dumps(self.to)})"


@dataclass(frozen=True, slots=True)
class Has(Word):
    """Whether a list has this item."""

    of: Word
    item: str

    def value(self, scope: Scope) -> bool:
        """Look for it."""
        return self.item in self.of.value(scope)

    def go(self) -> str:
        """Return a search."""
        return f"(has {json.dumps(self.item)} {self.of.go()})"


@dataclass(frozen=True, slots=True)
class Begins(Word):
    """Whether a text begins with this one."""

    of: Word
    using: str

    def value(self, scope: Scope) -> bool:
        """Compare."""
        return str(self.of.value(scope)).startswith(self.using)

    def go(self) -> str:
        """Return a comparison."""
        return f"(hasPrefix {json.dumps(self.using)} {self.of.go()})"


@dataclass(frozen=True, slots=True)
class Not(Word):
    """Whether something does not hold, or is empty."""

    of: Word

    def value(self, scope: Scope) -> bool:
        """Negate."""
        return not self.of.value(scope)

    def go(self) -> str:
        """Return a negation."""
        return f"(not {self.of.go()})"


@dataclass(frozen=True, slots=True)
class AllOf(Word):
    """Whether everything holds."""

    of: tuple[Word, ...]

    def value(self, scope: Scope) -> bool:
        """Try one after the other."""
        return all(one.value(scope) for one in self.of)

    def go(self) -> str:
        """Return a conjunction."""
        return f"(and {' '.join(one.go() for one in self.of)})"


@dataclass(frozen=True, slots=True)
class AnyOf(Word):
    """Whether something holds."""

    of: tuple[Word, ...]

    def value(self, scope: Scope) -> bool:
        """Try one after the other."""
        return any(one.value(scope) for one in self.of)

    def go(self) -> str:
        """Return a disjunction."""
        return f"(or {' '.join(one.go() for one in self.of)})"


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
    return found[0] if len(found) == 1 else AnyOf(found)


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
