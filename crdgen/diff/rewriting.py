"""Trees of rules in which parts are replaced."""

from collections.abc import Callable
from dataclasses import replace

from crdgen.cel.tree import Call, Comprehension, Constant, ListOf, MapOf, Node, Select, walk


def rewritten(node: Node, rule: Callable[[Node], Node]) -> Node:
    """Return the tree with each node replaced by what the rule makes of it, the innermost first."""

    def below(child: Node) -> Node:
        return rewritten(child, rule)

    match node:
        case Select():
            node = replace(node, operand=below(node.operand))
        case Call():
            target = None if node.target is None else below(node.target)
            node = replace(node, target=target, arguments=tuple(map(below, node.arguments)))
        case ListOf():
            node = replace(node, elements=tuple(map(below, node.elements)))
        case MapOf():
            node = replace(node, entries=tuple((below(key), below(value), maybe) for key, value, maybe in node.entries))
        case Comprehension():
            node = replace(
                node,
                range=below(node.range),
                initial=below(node.initial),
                condition=below(node.condition),
                step=below(node.step),
                result=below(node.result),
            )
        case _:
            pass
    return rule(node)


def spelled(node: Node) -> str:
    """Return text that is the same for the same expressions only; in Python, 1 and true are equal."""
    return f"{node} {[type(part.value).__name__ for part in walk(node) if isinstance(part, Constant)]}"
