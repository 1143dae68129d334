r"""A pattern read as Go's regexp/syntax reads it.

Takes time linear in the pattern, and no stack: patterns of strangers are read with it.
"""

import re
from typing import Final, NamedTuple

from crdgen.re2.classes import POSIX, is_unicode_class
from crdgen.re2.faults import ESCAPES, GROUPS, InvalidPattern, Problem
from crdgen.re2.tree import Anchor, Dot, Either, Literal, Named, Node, Range, Repeat, Set

#: Go's maxRepeat: the bound of a count, and of the product of counts inside each other.
_MOST_REPEATS: Final = 1000
#: Go's maxHeight, of its syntax tree; the text's own nesting comes close enough.
_MOST_NESTED: Final = 1000
_LAST_CHARACTER: Final = 0x10FFFF

_COUNT: Final = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_WITHOUT_LEAST: Final = re.compile(r"\{,[0-9]+\}")
_NAME: Final = re.compile(r"\(\?P?<([^>]*)>")
_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_UNICODE: Final = re.compile(r"\\[pP](?:\{([^}]*)\}|([^{]))", re.DOTALL)
_POSIX: Final = re.compile(r"\[:(\^?)(.*?):\]", re.DOTALL)
_OCTAL: Final = re.compile(r"\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})")
_HEX: Final = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANCHORS: Final = {"A": Anchor.TEXT_BEGINS, "z": Anchor.TEXT_ENDS, "b": Anchor.WORD, "B": Anchor.NO_WORD}


def problem(pattern: str) -> Problem | None:
    """Return why Go does not compile the pattern, or None where it does."""
    try:
        parse(pattern)
    except InvalidPattern as error:
        return error.problem
    return None


def strangeness(pattern: str) -> Problem | None:
    """Return the first thing that Go takes, and Python or Rust read otherwise, so that its author means something else.

    None too where Go does not compile the pattern.
    """
    parser = _Parser(pattern)
    try:
        parser.parse()
    except InvalidPattern:
        return None
    return parser.strange


def parse(pattern: str) -> Either:
    """Return the pattern's tree; raise `InvalidPattern` where Go does not compile it."""
    return _Parser(pattern).parse()


class _Flags(NamedTuple):
    """What is in force at a place of the pattern."""

    folded: bool = False
    lines: bool = False
    dot_all: bool = False
    lazy: bool = False


_LETTERS: Final = {"i": "folded", "m": "lines", "s": "dot_all", "U": "lazy"}


class _Group:
    """A group that is open.

    Attributes:
        flags: what was in force before it.
        branches: what is before each `|`.
        sequence: what is after the last one.
        times: how often a part of it repeats what is in that, at most.
        last: how often its last part does; None where there is nothing to repeat.
    """

    def __init__(self, flags: _Flags) -> None:
        self.flags = flags
        self.branches: list[tuple[Node, ...]] = []
        self.sequence: list[Node] = []
        self.times = 1
        self.last: int | None = None

    def add(self, part: Node, times: int = 1) -> None:
        self.sequence.append(part)
        self.last = times
        self.times = max(self.times, times)

    def part(self) -> None:
        """Begin another branch."""
        self.branches.append(tuple(self.sequence))
        self.sequence = []
        self.last = None

    def whole(self) -> Either:
        return Either((*self.branches, tuple(self.sequence)))


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.flags = _Flags()
        self.open = [_Group(self.flags)]
        self.strange: Problem | None = None
        # Beyond it no class of POSIX ends: what looks like the beginning of one is not looked at to the pattern's end.
        self.last_posix = pattern.rfind(":]")

    def parse(self) -> Either:
        repeated = False
        while self.at < len(self.text):
            character = self.text[self.at]
            # Go allows `a*?`, and neither `a**` nor `a*+`.
            repeat = self._repetition(character, repeated=repeated)
            if not repeat:
                self._operand(character)
            repeated = repeat
        if len(self.open) > 1:
            raise InvalidPattern("a group that is not closed", "close it, or write `\\(`")
        return self.open[0].whole()

    def _operand(self, character: str) -> None:
        group = self.open[-1]
        match character:
            case "(":
                self._begin()
            case ")":
                self._end()
            case "|":
                group.part()
                self.at += 1
            case "[":
                group.add(self._set())
            case "\\":
                self._escape(group)
            case _:
                if _WITHOUT_LEAST.match(self.text, self.at):
                    self._note("a count without a lower bound", "write `{0,…}`")
                self.at += 1
                group.add(self._plain(character))

    def _plain(self, character: str) -> Node:
        match character:
            case "^":
                return Anchor.LINE_BEGINS if self.flags.lines else Anchor.TEXT_BEGINS
            case "$":
                return Anchor.LINE_ENDS if self.flags.lines else Anchor.TEXT_ENDS
            case ".":
                return Dot(self.flags.dot_all)
            case _:
                return Literal(character, self.flags.folded)

    def _repetition(self, character: str, *, repeated: bool) -> bool:
        """Read `*`, `+`, `?` or `{2,3}`; a brace that is no repetition is a character."""
        if character not in "*+?{":
            return False
        count = _COUNT.match(self.text, self.at) if character == "{" else None
        if character == "{" and not count:
            return False
        least, most = _bounds(count) if count else _SIGNS[character]
        end = count.end() if count else self.at + 1
        asked = self.text.startswith("?", end)
        group = self.open[-1]
        if repeated:
            raise InvalidPattern("a possessive or doubled repetition", "repeat once, or put a group around it")
        if group.last is None:
            raise InvalidPattern("a repetition of nothing", "escape it, or say what repeats")
        times = (least if most is None else most) if count else 1
        if times > 1 and times * group.last > _MOST_REPEATS:
            what = f"counts inside each other that make more than {_MOST_REPEATS}"
            raise InvalidPattern(what, "use `*` for one of them")
        inner = times * group.last if times else 1
        group.add(Repeat(group.sequence.pop(), least, most, greedy=asked is self.flags.lazy), inner)
        self.at = end + asked
        return True

    def _begin(self) -> None:
        for start, what, fix in GROUPS:
            if self.text.startswith(start, self.at):
                raise InvalidPattern(what, fix)
        before = self.flags
        if self.text.startswith("(?", self.at):
            found = _NAME.match(self.text, self.at) or _FLAGS.match(self.text, self.at)
            if not found:
                start = self.text[self.at : self.at + 4]
                raise InvalidPattern(f"the group `{start}`", "use `(?:…)`, and of the flags `i`, `m`, `s` and `U`")
            self.at = found.end()
            if found.re is _NAME:
                _check_name(found[1])
            else:
                self.flags = _changed(self.flags, found[1], found[2] or "")
                if found[3] == ")":
                    # Flags alone are no operand, and they do not part the operand before from a repetition.
                    return
        else:
            self.at += 1
        if len(self.open) > _MOST_NESTED:
            raise InvalidPattern(f"more than {_MOST_NESTED} groups within each other", "nest fewer")
        self.open.append(_Group(before))

    def _end(self) -> None:
        if len(self.open) == 1:
            raise InvalidPattern("a closing bracket too many", "write `\\)`")
        self.at += 1
        group = self.open.pop()
        self.flags = group.flags
        self.open[-1].add(group.whole(), group.times)

    def _escape(self, group: _Group) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "Q":
            end = self.text.find(r"\E", self.at + 2)
            quoted = self.text[self.at + 2 : end if end >= 0 else len(self.text)]
            self.at = end + 2 if end >= 0 else len(self.text)
            for character in quoted:
                group.add(Literal(character, self.flags.folded))
        elif following in _ANCHORS:
            self.at += 2
            group.add(_ANCHORS[following])
        elif named := self._named():
            group.add(Set((named,), folded=self.flags.folded))
        else:
            group.add(Literal(chr(self._character()), self.flags.folded))

    def _named(self) -> Named | None:
        r"""Read a class that is written as an escape: `\d`, `\pL`, `\p{Greek}`."""
        following = self.text[self.at + 1 : self.at + 2]
        if following and following in "dDsSwW":
            self.at += 2
            return Named(following.lower(), negated=following.isupper())
        if following and following in "pP":
            found = _UNICODE.match(self.text, self.at)
            name = (found[1] if found[1] is not None else found[2]) if found else ""
            plain = name.removeprefix("^")
            if not found or not is_unicode_class(plain):
                what = f"a `\\{following}` without the name of a Unicode category or script"
                raise InvalidPattern(what, "name one, as in `\\p{Greek}` or `\\pL`")
            self.at = found.end()
            return Named(plain, unicode=True, negated=(following == "P") is not name.startswith("^"))
        return None

    def _character(self) -> int:
        """Read a character that is escaped, and return its number."""
        following = self.text[self.at + 1 : self.at + 2]
        if following.isascii() and following and not following.isalnum():
            self.at += 2
            return ord(following)
        if following in _CONTROLS:
            self.at += 2
            return _CONTROLS[following]
        octal = _OCTAL.match(self.text, self.at)
        if octal:
            self.at = octal.end()
            return int(octal[0][1:], 8)
        hexadecimal = _HEX.match(self.text, self.at)
        # Of a number of any length its last digits tell whether it is one of a character, unless there are others.
        digits = (hexadecimal[1] or hexadecimal[2]).lstrip("0") if hexadecimal else ""
        number = int(digits[:8] or "0", 16)
        if hexadecimal and number <= _LAST_CHARACTER:
            self.at = hexadecimal.end()
            return number
        if following and following in "123456789":
            raise InvalidPattern("a back-reference", "write the part out, or a rule")
        if following in ESCAPES:
            raise InvalidPattern(*ESCAPES[following])
        raise InvalidPattern(f"the escape `\\{following}`", "use the character itself, or `\\x{…}`")

    def _set(self) -> Set:
        """Read what is in brackets. The first may be `]`, and `-` may be anywhere."""
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        members: list[Range | Named] = []
        while not members or not self.text.startswith("]", self.at):
            named = self._posix() or (self._named() if self.text.startswith("\\", self.at) else None)
            members.append(named or self._range())
        self.at += 1
        return Set(tuple(members), negated, self.flags.folded)

    def _range(self) -> Range:
        start = self.at
        low = self._member()
        following = self.text[self.at : self.at + 2]
        if len(following) < 2 or following[0] != "-" or following[1] == "]":
            return low, low
        self._note_operation()
        self.at += 1
        high = self._member()
        if high < low:
            what = f"a range that ends before it begins, `{self.text[start : self.at]}`"
            raise InvalidPattern(what, "write the smaller one first, and a `-` of its own as `\\-`")
        return low, high

    def _posix(self) -> Named | None:
        found = _POSIX.match(self.text, self.at) if self.at < self.last_posix else None
        if not found:
            return None
        if found[2] not in POSIX:
            raise InvalidPattern(f"a class `{found[0]}`, which is not there", f"use one of {', '.join(sorted(POSIX))}")
        self.at = found.end()
        return Named(found[2], negated=bool(found[1]))

    def _member(self) -> int:
        if self.at >= len(self.text):
            raise InvalidPattern("a class that is not closed", "close it, or write `\\[`")
        if self.text[self.at] == "\\":
            return self._character()
        if self.text[self.at] == "[":
            self._note("a class in a class", "write `\\[` for the bracket itself")
        self._note_operation()
        self.at += 1
        return ord(self.text[self.at - 1])

    def _note_operation(self) -> None:
        if self.text.startswith(("&&", "~~", "--"), self.at):
            self._note("an operation on classes", "write the class out")

    def _note(self, what: str, fix: str) -> None:
        self.strange = self.strange or Problem(what, fix)


_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _changed(flags: _Flags, on: str, off: str) -> _Flags:
    said = {_LETTERS[letter]: True for letter in on} | {_LETTERS[letter]: False for letter in off}
    return flags._replace(**said)


def _check_name(name: str) -> None:
    if not _WORD.fullmatch(name):
        raise InvalidPattern(f"`<{name}>`, which is no name of a group", "use letters, digits and _")


def _bounds(count: re.Match[str]) -> tuple[int, int | None]:
    """Return how often `{2,3}` repeats, at least and at most."""
    # Go reads no number of more than eight digits.
    least = int(count[1][:9])
    most = int(count[3][:9]) if count[3] else None if count[2] else least
    if max(least, most or 0) > _MOST_REPEATS:
        raise InvalidPattern(f"a count above {_MOST_REPEATS}", "use `*` with minLength and maxLength")
    if most is not None and most < least:
        raise InvalidPattern(f"a count that ends before it begins, `{count[0]}`", "write the smaller number first")
    return least, most
