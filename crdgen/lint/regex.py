r"""Go's regular expressions: whether a text is one.

The grammar is that of Go's regexp/syntax with the flags of `regexp.Compile`, known as RE2: no look-around, no
back-references, no possessive groups, at most 1,000 repetitions, `\z` and not `\Z`.
"""

import re
from typing import Final

from crdgen.lint.unicode_classes import CLASSES, canonical

_MOST_REPEATS: Final = 1000
# The height of Go's syntax tree; the text's own nesting comes close enough.
_MOST_NESTED: Final = 1000
_LAST_CHARACTER: Final = 0x10FFFF

_REPEAT: Final = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_NAME: Final = re.compile(r"\(\?P?<([^>]*)>")
_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_FLAGS: Final = re.compile(r"\(\?(?:[imsU]*|[imsU]*-[imsU]+)[:)]")
_UNICODE: Final = re.compile(r"\\[pP](?:\{([^}]*)\}|([^{]))", re.DOTALL)
_POSIX: Final = re.compile(r"\[:(.*?):\]", re.DOTALL)
_OCTAL: Final = re.compile(r"\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})")
_HEX: Final = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_CLASS_NAMES: Final = frozenset(
    (
        *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "word", "xdigit"),
    )
)
_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class InvalidPatternError(ValueError):
    """What Go has against a pattern."""


def problem(pattern: str) -> str | None:
    """Return why Go does not compile the pattern, or None where it does. Takes time linear in the pattern."""
    try:
        _Parser(pattern).parse()
    except InvalidPatternError as error:
        return str(error)
    return None


class _Parser:
    """One pass over the pattern. Kept for each group that is open: the repetitions within what was read last."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        # How often the last operand repeats what is in it, at most; None where there is nothing to repeat.
        self.last: int | None = None
        self.most = 1
        self.groups: list[int] = []

    def parse(self) -> None:
        repeated = False
        while self.at < len(self.text):
            character = self.text[self.at]
            # Go allows `a*?`, and neither `a**` nor `a*+`.
            repeat = self._repetition(character, repeated=repeated)
            if not repeat:
                self._operand(character)
            repeated = repeat
        if self.groups:
            raise InvalidPatternError("a parenthesis is not closed")

    def _operand(self, character: str) -> None:
        match character:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self.last = None
                self.at += 1
            case "[":
                self._class()
                self._read()
            case "\\":
                self._escape()
            case _:
                self.at += 1
                self._read()

    def _read(self, repeats: int = 1) -> None:
        """Note an operand that was read."""
        self.last = repeats
        self.most = max(self.most, repeats)

    def _repetition(self, character: str, *, repeated: bool) -> bool:
        """Read `*`, `+`, `?` or `{2,3}`; a brace that is no repetition is a character."""
        if character not in "*+?{":
            return False
        times = 1
        end = self.at + 1
        if character == "{":
            found = _REPEAT.match(self.text, self.at)
            if not found:
                return False
            times = _times(found)
            end = found.end()
        operator = self.text[self.at : end]
        if end < len(self.text) and self.text[end] == "?":
            end += 1
        if repeated:
            raise InvalidPatternError(f"{self.text[self.at : end]} repeats a repetition")
        if self.last is None:
            raise InvalidPatternError(f"{operator} has nothing to repeat")
        if times > 1 and times * self.last > _MOST_REPEATS:
            raise InvalidPatternError(f"{operator} repeats more than {_MOST_REPEATS} times, with what is in it")
        self._read(max(times, 1) * self.last if times else 1)
        self.at = end
        return True

    def _open(self) -> None:
        if self.text.startswith("(?", self.at):
            found = _NAME.match(self.text, self.at) or _FLAGS.match(self.text, self.at)
            if not found:
                raise InvalidPatternError(f"{self.text[self.at : self.at + 4]}… is Perl's: Go has no look-around")
            if found.re is _NAME:
                _check_name(found[1])
            self.at = found.end()
            if found.re is _FLAGS and found[0].endswith(")"):
                # Flags alone are no operand, and they do not part the operand before from a repetition.
                return
        else:
            self.at += 1
        self.groups.append(self.most)
        if len(self.groups) > _MOST_NESTED:
            raise InvalidPatternError(f"more than {_MOST_NESTED} parentheses within each other")
        self.most = 1
        self.last = None

    def _close(self) -> None:
        if not self.groups:
            raise InvalidPatternError("a parenthesis is closed that was not opened")
        self.at += 1
        inner, self.most = self.most, self.groups.pop()
        self._read(inner)

    def _escape(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "Q":
            end = self.text.find(r"\E", self.at + 2)
            literal = self.text[self.at + 2 : end if end >= 0 else len(self.text)]
            self.at = end + 2 if end >= 0 else len(self.text)
            if literal:
                self._read()
            return
        if following and following in "AbBz":
            self.at += 2
        elif not self._group():
            self._character()
        self._read()

    def _group(self) -> bool:
        r"""Read a class that is written as an escape: `\d`, `\pL`, `\p{Greek}`."""
        following = self.text[self.at + 1 : self.at + 2]
        if following and following in "dDsSwW":
            self.at += 2
            return True
        if following and following in "pP":
            found = _UNICODE.match(self.text, self.at)
            name = (found[1] if found[1] is not None else found[2]) if found else ""
            if not found or canonical(name.removeprefix("^")) not in CLASSES:
                raise InvalidPatternError(rf"\{following} wants the name of a Unicode category or script")
            self.at = found.end()
            return True
        return False

    def _character(self) -> int:
        """Read a character that is escaped, and return its number."""
        rest = self.text[self.at + 1 : self.at + 2]
        if not rest:
            raise InvalidPatternError("a backslash is the last character")
        if rest.isascii() and not rest.isalnum():
            self.at += 2
            return ord(rest)
        if rest in _CONTROLS:
            self.at += 2
            return _CONTROLS[rest]
        octal = _OCTAL.match(self.text, self.at)
        if octal:
            self.at = octal.end()
            return int(octal[0][1:], 8)
        hexadecimal = _HEX.match(self.text, self.at)
        number = int((hexadecimal[1] or hexadecimal[2])[-16:], 16) if hexadecimal else _LAST_CHARACTER + 1
        if not hexadecimal or number > _LAST_CHARACTER:
            raise InvalidPatternError(f"Go does not know \\{rest}")
        self.at = hexadecimal.end()
        return number

    def _class(self) -> None:
        """Read what is in brackets. The first may be `]`, and `-` may be anywhere."""
        self.at += 1
        if self.text.startswith("^", self.at):
            self.at += 1
        first = True
        while first or not self.text.startswith("]", self.at):
            first = False
            if self.at >= len(self.text):
                raise InvalidPatternError("a bracket is not closed")
            if self._named_class() or (self.text[self.at] == "\\" and self._group()):
                continue
            low = self._member()
            following = self.text[self.at : self.at + 2]
            if len(following) == 2 and following[0] == "-" and following[1] != "]":
                self.at += 1
                start = self.at
                if self._member() < low:
                    raise InvalidPatternError(f"a range ends before it begins: {self.text[start - 2 : self.at]}")
        self.at += 1

    def _named_class(self) -> bool:
        found = _POSIX.match(self.text, self.at)
        if not found:
            return False
        if found[1].removeprefix("^") not in _CLASS_NAMES:
            raise InvalidPatternError(f"there is no class {found[0]}")
        self.at = found.end()
        return True

    def _member(self) -> int:
        if self.at >= len(self.text):
            raise InvalidPatternError("a bracket is not closed")
        if self.text[self.at] == "\\":
            return self._character()
        self.at += 1
        return ord(self.text[self.at - 1])


def _check_name(name: str) -> None:
    if not _WORD.fullmatch(name):
        raise InvalidPatternError(f"<{name}> is no name of a group: letters, digits and _")


def _times(found: re.Match[str]) -> int:
    """Return how often `{2,3}` repeats at most, as Go counts it for the limit."""
    # Go reads no number of more than eight digits.
    least = int(found[1][:9])
    most = int(found[3][:9]) if found[3] else -1
    if max(least, most) > _MOST_REPEATS or (found[3] and most < least):
        raise InvalidPatternError(f"{found[0]}: Go repeats at most {_MOST_REPEATS} times, the smaller number first")
    if found[2] is None:
        return least
    return most if found[3] else least
