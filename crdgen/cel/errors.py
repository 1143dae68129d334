"""What can be wrong with an expression, and what the CEL library says of it as a sentence for the rule's author."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from crdgen.cel.types import Type
from crdgen.escaping import RESERVED

_UNKNOWN_FIELD: Final = re.compile(r"undefined field '(.*?)' not found in struct '(.*?)'")
_OVERLOAD: Final = re.compile(r"found no matching overload for '(.*?)' applied to '\((.*)\)'", re.DOTALL)
_UNDECLARED: Final = re.compile(r"undeclared reference to '(.*?)'")
_OPERATOR: Final = re.compile(r"^_(\S+)_$|^([!-])_$")
_NAMED: Final = {"_[_]": "[ ]", "_?_:_": "? :", "@in": "in", "_?._": ".?", "_[?_]": "[? ]"}


class CompilationError(Exception):
    """The API server would not compile the expression; the sentences say why."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


class EvaluationError(Exception):
    """What an expression runs into when it is evaluated, in the library's words."""


class NotEvaluated(Exception):
    """The API server takes the expression, and the CEL library does not; the message says why."""


def failed(status: str) -> EvaluationError | NotEvaluated:
    """Return what the library's status of an evaluation means."""
    if "Iteration budget exceeded" in status:
        return NotEvaluated("takes more than 10,000 steps")
    return EvaluationError(re.sub(r"^[A-Z_]+: | \[[A-Z_]+\]$", "", status))


def sentence(error: str, column: int, objects: Mapping[str, Type]) -> str:
    """Return the error as a sentence; `column` counts from 1, and the messages are named by what they stand for."""
    if found := _UNKNOWN_FIELD.match(error):
        return _unknown_field(found[1], objects.get(found[2]))
    if found := _OVERLOAD.match(error):
        name = _NAMED.get(found[1]) or _OPERATOR.sub(r"\1\2", found[1])
        return f"at character {column}: {name} does not take ({_readable(found[2], objects)})"
    if found := _UNDECLARED.match(error):
        return f"at character {column}: {found[1]} is not known"
    return f"at character {column}: {_readable(error, objects)}"


def _unknown_field(name: str, kind: Type | None) -> str:
    if kind is None:
        return f"field {name} is not known"
    if not kind.fields:
        return f"{kind.path} has no field {name}: rules see none of its fields"
    # Reserved words are named as every API server knows them, escaped.
    names = sorted(kind.fields.keys() - RESERVED)
    close = get_close_matches(name, names, n=1)
    more = f"did you mean {close[0]}?" if close else f"it has {', '.join(names[:12])}"
    return f"{kind.path} has no field {name}: {more}"


def _readable(text: str, objects: Mapping[str, Type]) -> str:
    """Name objects by their paths."""
    return re.sub(
        r"schema\.T\d+", lambda found: f"object {objects[found[0]].path}" if found[0] in objects else found[0], text
    )
