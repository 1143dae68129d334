"""Compiling expressions: Google's parser and type checker, told of Kubernetes' functions and types.

Imported only where the library is installed.
"""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from crdgen.cel.declarations import REPLACED, functions
from crdgen.cel.declared import declared
from crdgen.cel.descriptors import Descriptors
from crdgen.cel.literals import literal_faults
from crdgen.cel.sentences import sentence
from crdgen.cel.tree import Node, read
from crdgen.schema.walk import Schema
from crdgen.utf8 import as_read

#: How oldSelf is typed: as self, or as an optional value of it.
PLAIN: Final = "plain"
OPTIONAL: Final = "optional"

_FAULT: Final = re.compile(r"ERROR: [^:]*:(\d+):(\d+): (.*?)(?= \[[A-Z_]+\]$|\n|$)", re.MULTILINE)


class Refused(Exception):
    """The expression does not compile; the sentences say why."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


@dataclass(frozen=True)
class Compiled:
    """The tree of an expression, the CEL type of its result, and all that the library knows of it, serialized."""

    tree: Node
    returns: str
    serialized: bytes = field(repr=False)


def compile_(expression: str, schema: Schema, *, root: bool = False, old: str = PLAIN) -> Compiled:
    """Return the compiled expression, or raise Refused; `schema` is that of `self`.

    `root` says that self is a whole resource, whose type and name are seen though the schema does not list them.
    """
    environment = _environment(json.dumps(schema, sort_keys=True), root, old)
    try:
        compiled = environment.env.compile(as_read(expression))
    except RuntimeError as error:
        raise Refused(_sentences(str(error), environment.descriptors)) from None
    serialized = compiled.serialize()
    tree = read(serialized)
    if faults := literal_faults(tree):
        raise Refused(faults)
    return Compiled(tree, compiled.return_type().name(), serialized)


@dataclass(frozen=True)
class _Environment:
    env: Any
    descriptors: Descriptors


@lru_cache(maxsize=64)
def _environment(schema: str, root: bool, old: str) -> _Environment:
    kind = declared(json.loads(schema), root=root)
    if kind is None:
        raise Refused(["rules do not see values of this schema: its type is not known"])
    descriptors = Descriptors()
    reference = descriptors.reference(kind)
    before = {"type_name": "optional_type", "params": [reference]} if old == OPTIONAL else reference
    variables = [{"name": "self", **reference}, {"name": "oldSelf", **before}]
    # JSON is YAML, and made fifty times as fast.
    config = json.dumps({**_BASE, "functions": functions(), "variables": variables})
    env = cel.NewEnv(descriptors.pool(), config=cel.NewEnvConfigFromYaml(config))
    return _Environment(env, descriptors)


_BASE: Final[dict[str, Any]] = {
    "stdlib": {"exclude_functions": [{"name": name} for name in REPLACED]},
    "extensions": [{"name": name} for name in ("optional", "sets", "lists", "two-var-comprehensions")],
}


def _sentences(text: str, descriptors: Descriptors) -> list[str]:
    found = _FAULT.findall(text)
    if not found:
        return [text.rpartition(" [")[0] or text]
    # What follows from another fault is of the type `*error*`.
    own = [(int(column), fault) for _, column, fault in found if "*error*" not in fault]
    return list(dict.fromkeys(sentence(fault, column, descriptors.structures) for column, fault in own))
