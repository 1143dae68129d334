r"""A pattern of Go as one of Python's `re`, which takes the same texts.

The two differ in what `$`, `\z`, `\s`, `\pL`, `[[:alpha:]]`, `\Q` and `\x{10FFFF}` mean, or lack one. Where Python
has no equal (scripts such as `\p{Greek}`) the pattern is unknown, and not to be held against anything.
"""

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from crdgen.re2.classes import PERL, POSIX, category
from crdgen.re2.parsing import parse
from crdgen.re2.tree import Anchor, Dot, Either, Literal, Named, Node, Range, Repeat, Set

_ANCHORS: Final = {
    Anchor.TEXT_BEGINS: r"\A",
    Anchor.TEXT_ENDS: r"\Z",
    Anchor.LINE_BEGINS: "(?m:^)",
    Anchor.LINE_ENDS: "(?m:$)",
    Anchor.WORD: r"(?a:\b)",
    # Python's own does not match the empty text.
    Anchor.NO_WORD: r"(?!(?a:\b))",
}


class UnknownPattern(ValueError):
    """A pattern that Go knows, and Python cannot say."""


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled.

    Raises:
        UnknownPattern: Python cannot say it.
        InvalidPattern: Go does not compile it; a ValueError, as the other.
    """
    try:
        return re.compile(_node(parse(pattern)))
    except (re.error, OverflowError, RecursionError) as error:
        raise UnknownPattern(str(error)) from None


def _node(node: Node) -> str:
    match node:
        case Literal(character, folded):
            return _folded(re.escape(character), folded)
        case Dot(all_):
            return "(?s:.)" if all_ else "[^\\n]"
        case Anchor():
            return _ANCHORS[node]
        case Set():
            return _set(node)
        case Repeat(part, least, most, greedy):
            times = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{_node(part)}){times}{'' if greedy else '?'}"
        case Either(branches):
            return f"(?:{'|'.join(''.join(map(_node, branch)) for branch in branches)})"


def _set(found: Set) -> str:
    """Return a class; or several, where Python's cannot hold what is not in a class with a name."""
    inside = "".join(_ranges(one) for one in found.members if not isinstance(one, Named) or not one.negated)
    outside = [_ranges(one) for one in found.members if isinstance(one, Named) and one.negated]
    if not outside:
        return _folded(f"[{'^' if found.negated else ''}{inside}]", found.folded)
    if len(outside) == 1 and not inside:
        return _folded(f"[{'' if found.negated else '^'}{outside[0]}]", found.folded)
    classes = "|".join([f"[{inside}]"] * bool(inside) + [f"[^{one}]" for one in outside])
    any_of_them = f"(?{'i' if found.folded else ''}:{classes})"
    return f"(?!{any_of_them})(?s:.)" if found.negated else any_of_them


def _folded(text: str, folded: bool) -> str:
    return f"(?i:{text})" if folded else text


def _ranges(member: Range | Named) -> str:
    """Return what a class holds, without its brackets; of a negated name, what it does not hold."""
    if not isinstance(member, Named):
        return _range(*member)
    if not member.unicode:
        return PERL.get(member.name) or POSIX[member.name]
    name = category(member.name)
    if name is None:
        raise UnknownPattern(f"Python does not know the script {member.name}")
    return _category(name)


def _range(low: int, high: int) -> str:
    return f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}"


@lru_cache(maxsize=64)
def _category(name: str) -> str:
    """Return the characters of a Unicode category, as ranges of a class."""
    holds = _WIDER.get(name) or (lambda code: unicodedata.category(chr(code)).startswith(name))
    found: list[list[int]] = []
    for code in filter(holds, range(sys.maxunicode + 1)):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(_range(low, high) for low, high in found)


_WIDER: Final[dict[str, Callable[[int], bool]]] = {
    "Any": lambda _: True,
    "ASCII": lambda code: code < 128,
    "Assigned": lambda code: unicodedata.category(chr(code)) != "Cn",
    "LC": lambda code: unicodedata.category(chr(code)) in {"Ll", "Lt", "Lu"},
}
