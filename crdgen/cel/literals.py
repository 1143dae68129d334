"""Literals that Kubernetes refuses when a rule is made: bad times, durations and patterns, lists of mixed types.

From cel-go (cel/validator.go).
"""

from collections.abc import Iterable

from crdgen import re2
from crdgen.cel.times import Fault, duration, timestamp
from crdgen.cel.tree import Call, Constant, ListOf, MapOf, Message, Node, walk


def literal_faults(tree: Node) -> list[str]:
    """Return what is wrong with the literals of the expression, one sentence each."""
    # What `format` fills in may be of any types.
    free = {id(node.arguments[0]) for node in walk(tree) if isinstance(node, Call) and node.function == "format"}
    return [fault for node in walk(tree) if id(node) not in free for fault in _faults(node)]


def _faults(node: Node) -> list[str]:  # noqa: PLR0911 - one for each kind of literal
    match node:
        case Call(None, "timestamp", (Constant(str(text)),)) if not _reads(timestamp, text):
            return [f"{text!r} is no time such as 2006-01-02T15:04:05Z"]
        case Call(None, "duration", (Constant(str(text)),)) if not _reads(duration, text):
            return [f"{text!r} is no duration such as 1h30m"]
        case Call(_, "matches", (*_, Constant(str(text)))) if problem := re2.problem(text):
            return [f"{text!r} is no pattern of RE2: it has {problem.what}"]
        case Call(target, "find" | "findAll", (Constant(str(text)), *_)) if target and (problem := re2.problem(text)):
            return [f"{text!r} is no pattern of RE2: it has {problem.what}"]
        case ListOf(elements, _):
            return _mixed("list", elements)
        case MapOf(entries):
            return [
                *_mixed("map's keys", [key for key, _, _ in entries]),
                *_mixed("map", [value for _, value, _ in entries]),
            ]
        case Message(name):
            return [f"{name} cannot be made in a rule"]
        case _:
            return []


def _mixed(what: str, nodes: Iterable[Node]) -> list[str]:
    kinds = {type(node.value).__name__ for node in nodes if isinstance(node, Constant)}
    return [f"the values of a {what} must have one type, not {' and '.join(sorted(kinds))}"] if len(kinds) > 1 else []


def _reads(read: object, text: str) -> bool:
    try:
        read(text)  # type: ignore[operator]
    except Fault:
        return False
    return True
