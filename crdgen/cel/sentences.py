"""What the CEL library finds wrong with an expression, as a sentence for who wrote the rule."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from crdgen.cel.declared import Structure
from crdgen.escaping import RESERVED

_UNKNOWN_FIELD: Final = re.compile(r"undefined field '(.*?)' not found in struct '(.*?)'")
_OVERLOAD: Final = re.compile(r"found no matching overload for '(.*?)' applied to '\((.*)\)'", re.DOTALL)
_UNDECLARED: Final = re.compile(r"undeclared reference to '(.*?)'")
_OPERATOR: Final = re.compile(r"^_(\S+)_$|^([!-])_$")
_NAMED: Final = {"_[_]": "[ ]", "_?_:_": "? :", "@in": "in", "_?._": ".?", "_[?_]": "[? ]"}


def sentence(fault: str, column: int, structures: Mapping[str, Structure]) -> str:
    """Return the fault as a sentence; `column` counts from 1, and the messages are named by what they stand for."""
    if found := _UNKNOWN_FIELD.match(fault):
        return _unknown_field(found[1], structures.get(found[2]))
    if found := _OVERLOAD.match(fault):
        name = _NAMED.get(found[1]) or _OPERATOR.sub(r"\1\2", found[1])
        return f"at character {column}: {name} does not take ({_readable(found[2], structures)})"
    if found := _UNDECLARED.match(fault):
        return f"at character {column}: {found[1]} is not known"
    return f"at character {column}: {_readable(fault, structures)}"


def _unknown_field(name: str, structure: Structure | None) -> str:
    if structure is None:
        return f"field {name} is not known"
    if not structure.fields:
        return f"{structure.path} has no field {name}: rules see none of its fields"
    # Reserved words are named as every API server knows them, escaped.
    names = sorted(structure.fields.keys() - RESERVED)
    close = get_close_matches(name, names, n=1)
    more = f"did you mean {close[0]}?" if close else f"it has {', '.join(names[:12])}"
    return f"{structure.path} has no field {name}: {more}"


def _readable(text: str, structures: Mapping[str, Structure]) -> str:
    """Name objects by their paths."""
    return re.sub(r"schema\.T\d+", lambda found: _object(found[0], structures), text)


def _object(name: str, structures: Mapping[str, Structure]) -> str:
    return f"object {structures[name].path}" if name in structures else name
