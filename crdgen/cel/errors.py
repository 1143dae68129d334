"""Errors of expressions, and the CEL library's errors as sentences for authors of rules."""

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
_SHOWN_AS: Final = {"_[_]": "[ ]", "_?_:_": "? :", "@in": "in", "_?._": ".?", "_[?_]": "[? ]"}


class CompilationError(Exception):
    """The API server would not compile the expression; the sentences say why."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


class EvaluationError(Exception):
    """The evaluation of an expression failed; the message is the library's."""


class NotEvaluated(Exception):
    """The API server supports the expression, but the CEL library does not; the message says why."""


def evaluation_error(status: str) -> EvaluationError | NotEvaluated:
    """Return the error for the library's status of an evaluation."""
    if "Iteration budget exceeded" in status:
        return NotEvaluated("takes more than 10,000 steps")
    return EvaluationError(re.sub(r"^[A-Z_]+: | \[[A-Z_]+\]$", "", status))


def sentence(error: str, column: int, objects: Mapping[str, Type]) -> str:
    """Return the error as a sentence. `column` counts from 1; `objects` has the types that messages stand for."""
    if match := _UNKNOWN_FIELD.match(error):
        return _unknown_field(match[1], objects.get(match[2]))
    if match := _OVERLOAD.match(error):
        name = _SHOWN_AS.get(match[1]) or _OPERATOR.sub(r"\1\2", match[1])
        return f"at character {column}: {name} does not take ({_readable(match[2], objects)})"
    if match := _UNDECLARED.match(error):
        return f"at character {column}: {match[1]} is not known"
    return f"at character {column}: {_readable(error, objects)}"


def _unknown_field(name: str, kind: Type | None) -> str:
    if kind is None:
        return f"field {name} is not known"
    if not kind.fields:
        return f"{kind.path} has no field {name}: rules see none of its fields"
    # Every API server knows the escaped form of reserved words.
    names = sorted(kind.fields.keys() - RESERVED)
    close = get_close_matches(name, names, n=1)
    more = f"did you mean {close[0]}?" if close else f"it has {', '.join(names[:12])}"
    return f"{kind.path} has no field {name}: {more}"


def _readable(text: str, objects: Mapping[str, Type]) -> str:
    """Replace names of messages by the paths of their objects."""
    return re.sub(
        r"schema\.T\d+", lambda match: f"object {objects[match[0]].path}" if match[0] in objects else match[0], text
    )
