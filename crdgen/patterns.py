"""Regular expressions that the API server can compile: Go's RE2, without what cannot be matched in linear time.

https://github.com/google/re2/wiki/Syntax, as Go's regexp/syntax reads it.
"""

import re
from typing import Final

Problem = tuple[str, str]
"""What a pattern has that RE2 has not, and what may be written instead."""

# regexp/syntax: maxRepeat, the bound of a count, and of the product of counts inside each other.
_MOST_REPEATS: Final = 1000
_COUNT: Final = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_WITHOUT_LOWER: Final = re.compile(r"\{,[0-9]+\}")
_NAME: Final = re.compile(r"\(\?P?<[A-Za-z_][A-Za-z0-9_]*>")
_FLAGS: Final = re.compile(r"\(\?[imsU]*(-[imsU]+)?[:)]")
_HEX: Final = re.compile(r"\\x([0-9A-Fa-f]{2}|\{[0-9A-Fa-f]{1,6}\})")
_CLASS: Final = re.compile(r"\\[pP]([A-Z]|\{\^?[A-Za-z_]+\})")
_POSIX: Final = re.compile(r"\[:\^?[a-z]+:\]")
_IN_CLASS: Final = frozenset("aftnrvdDsSwW")
_OUTSIDE: Final = _IN_CLASS | frozenset("AbBzCQE")

_GROUPS: Final[tuple[tuple[str, str, str], ...]] = (
    ("(?=", "look-ahead", "write two patterns, or a rule"),
    ("(?!", "look-ahead", "write the excluded form as a rule"),
    ("(?<=", "look-behind", "match the whole text instead"),
    ("(?<!", "look-behind", "write the excluded form as a rule"),
    ("(?>", "an atomic group", "use `(?:…)`"),
    ("(?P=", "a back-reference", "write the part out, or a rule"),
    ("(?P>", "a recursive group", "write the part out"),
    ("(?(", "a condition", "write both forms with `|`"),
    ("(?#", "a comment", "leave it out"),
)
_ESCAPES: Final[dict[str, Problem]] = {
    "Z": ("`\\Z`", "use `$`, which in RE2 is the end of the text"),
    "G": ("`\\G`", "use `^`"),
    "k": ("a back-reference", "write the part out, or a rule"),
    "g": ("a back-reference", "write the part out, or a rule"),
    "u": ("`\\u`", "use `\\x{…}`"),
    "U": ("`\\U`", "use `\\x{…}`"),
    "N": ("`\\N`", "use the character itself"),
    "h": ("`\\h`", "use `[ \\t]`"),
    "R": ("`\\R`", "use `\\r?\\n`"),
}


def re2_problem(pattern: str) -> Problem | None:
    """Return the first thing that RE2 cannot compile, or reads otherwise than Python and Rust do; None where all is."""
    try:
        _Scanner(pattern).scan()
    except _FoundError as found:
        return found.problem
    return None


class _FoundError(Exception):
    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.problem = (what, fix)


class _Scanner:
    """Reads a pattern once, and keeps for each open group how often its costliest part repeats."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._groups = [1]
        # How often the last atom repeats in itself; 0 where there is none to repeat.
        self._atom = 0
        self._repeated = False

    def scan(self) -> None:
        """Raise `_FoundError` for the first problem."""
        while self._at < len(self._pattern):
            match self._pattern[self._at]:
                case "\\":
                    self._escape(_OUTSIDE)
                    self._is_atom()
                case "(":
                    self._open()
                case ")":
                    self._close()
                case "[":
                    self._class()
                    self._is_atom()
                case "*" | "+" | "?":
                    self._repeat(1, 1)
                case "{":
                    self._count()
                case "|" | "^":
                    self._at += 1
                    self._atom, self._repeated = (1 if self._pattern[self._at - 1] == "^" else 0), False
                case _:
                    self._at += 1
                    self._is_atom()
        if len(self._groups) > 1:
            raise _FoundError("a group that is not closed", "close it, or write `\\(`")

    def _is_atom(self) -> None:
        self._atom, self._repeated = 1, False

    def _escape(self, allowed: frozenset[str]) -> None:
        at = self._at
        char = self._pattern[at + 1 : at + 2]
        if char == "":
            raise _FoundError("a backslash at its end", "write `\\\\`")
        if char == "x":
            found = _HEX.match(self._pattern, at)
        elif char in "pP":
            found = _CLASS.match(self._pattern, at)
        elif char in "1234567":
            found = re.compile(r"\\[1-7][0-7]{1,2}").match(self._pattern, at)
            if not found:
                raise _FoundError("a back-reference", "write the part out, or a rule")
        else:
            if char == "Q" and char in allowed:
                end = self._pattern.find("\\E", at)
                self._at = len(self._pattern) if end < 0 else end + 2
                return
            if char in _ESCAPES:
                raise _FoundError(*_ESCAPES[char])
            if (char.isalnum() and char not in allowed and char != "0") or not char.isascii():
                raise _FoundError(f"the escape `\\{char}`", "use the character itself, or `\\x{…}`")
            self._at += 2
            return
        if not found:
            raise _FoundError(f"an escape `\\{char}` that it cannot read", "use `\\x{…}` or `\\p{…}`")
        self._at = found.end()

    def _open(self) -> None:
        rest = self._pattern[self._at : self._at + 4]
        for start, what, fix in _GROUPS:
            if rest.startswith(start):
                raise _FoundError(what, fix)
        if rest.startswith("(?"):
            found = _NAME.match(self._pattern, self._at) or _FLAGS.match(self._pattern, self._at)
            if not found:
                raise _FoundError(f"the group `{rest}`", "use `(?:…)`, and of the flags `i`, `m`, `s` and `U`")
            self._at = found.end()
            if found[0].endswith(")"):
                return
        else:
            self._at += 1
        self._groups.append(1)
        self._atom, self._repeated = 0, False

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise _FoundError("a closing bracket too many", "write `\\)`")
        self._at += 1
        inner = self._groups.pop()
        self._groups[-1] = max(self._groups[-1], inner)
        self._atom, self._repeated = inner, False

    def _class(self) -> None:
        self._at += 2 if self._pattern.startswith("[^", self._at) else 1
        first = True
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "]" and not first:
                self._at += 1
                return
            first = False
            if char == "\\":
                self._escape(_IN_CLASS)
            elif char == "[":
                posix = _POSIX.match(self._pattern, self._at)
                if not posix:
                    raise _FoundError("a class in a class", "write `\\[` for the bracket itself")
                self._at = posix.end()
            elif self._pattern.startswith(("&&", "~~", "--"), self._at):
                raise _FoundError("an operation on classes", "write the class out")
            else:
                self._at += 1
        raise _FoundError("a class that is not closed", "close it, or write `\\[`")

    def _count(self) -> None:
        found = _COUNT.match(self._pattern, self._at)
        if not found:
            if _WITHOUT_LOWER.match(self._pattern, self._at):
                raise _FoundError("a count without a lower bound", "write `{0,…}`")
            self._at += 1
            self._is_atom()
            return
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else least
        if max(least, most) > _MOST_REPEATS:
            raise _FoundError(f"a count above {_MOST_REPEATS}", "use `*` with minLength and maxLength")
        self._repeat(len(found[0]), max(least, most, 1))

    def _repeat(self, length: int, times: int) -> None:
        if self._repeated:
            raise _FoundError("a possessive or doubled repetition", "repeat once, or put a group around it")
        if self._atom == 0:
            raise _FoundError("a repetition of nothing", "escape it, or say what repeats")
        product = self._atom * times
        if product > _MOST_REPEATS:
            raise _FoundError(
                f"counts inside each other that make more than {_MOST_REPEATS}", "use `*` for one of them"
            )
        self._groups[-1] = max(self._groups[-1], product)
        self._at += length
        if self._pattern.startswith("?", self._at):
            self._at += 1
        self._atom, self._repeated = product, True
