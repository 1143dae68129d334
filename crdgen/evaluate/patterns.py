r"""Patterns of Go's RE2 (https://github.com/google/re2/wiki/Syntax) as Python's `re` reads them.

The two differ in what `$`, `\z`, `\s`, `\pL`, `[[:alpha:]]`, `\Q` and `\x{10FFFF}` mean, or lack one. Where
Python has no equal (scripts such as `\p{Greek}`) the pattern is unknown, and not held against anything. Python looks
back, RE2 does not: a pattern that Python alone takes is refused.
"""

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Final


class UnknownPattern(ValueError):
    """A pattern that RE2 may know, and Python cannot say."""


_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PERL: Final = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}
_CATEGORY: Final = re.compile(r"[CLMNPSZ][a-z]?")
_ALWAYS_ESCAPABLE: Final = frozenset("!\"#%&',-/:;<=>@_`~.+*?()|[]{}^$\\ ")
#: RE2 refuses more repetitions than these.
_REPEATS: Final = 1000


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled; raise UnknownPattern where Python cannot say it, ValueError where RE2 refuses it."""
    text = _Translator(pattern).translate()
    try:
        return re.compile(text, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


class _Translator:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.multiline = False
        self.outer: list[bool] = []

    def translate(self) -> str:
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            match char:
                case "\\":
                    self.out.append(self._escape(inside=False))
                case "[":
                    self.out.append(self._set())
                case "(":
                    self._group()
                case ")":
                    self.multiline = self.outer.pop() if self.outer else False
                    self._copy(1)
                case "$":
                    self.out.append("(?m:$)" if self.multiline else "\\Z")
                    self.at += 1
                case "^":
                    self.out.append("(?m:^)" if self.multiline else "^")
                    self.at += 1
                case "*" | "+" | "?":
                    self._repeat(char)
                case "{":
                    self._counted()
                case _:
                    self._copy(1)
        return "".join(self.out)

    def _copy(self, length: int) -> None:
        self.out.append(self.pattern[self.at : self.at + length])
        self.at += length

    def _repeat(self, operator: str) -> None:
        self._copy(len(operator))
        if self.pattern.startswith("?", self.at):
            self._copy(1)
        if self.pattern.startswith(("*", "+", "?"), self.at):
            raise ValueError(f"invalid nested repetition operator at {self.at}")

    def _counted(self) -> None:
        found = re.compile(r"\{(\d+)(?:,(\d*))?\}").match(self.pattern, self.at)
        if found is None:
            self.out.append("\\{")
            self.at += 1
            return
        if any(int(bound) > _REPEATS for bound in found.groups() if bound):
            raise ValueError(f"invalid repeat count: {found[0]}")
        self._repeat(found[0])

    def _group(self) -> None:
        self.outer.append(self.multiline)
        named = re.compile(r"\(\?P?<(\w+)>").match(self.pattern, self.at)
        if named:
            self.out.append(f"(?P<{named[1]}>" if not named[1][0].isdigit() else "(")
            self.at = named.end()
            return
        flags = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])").match(self.pattern, self.at)
        if flags:
            self._flags(flags)
        elif self.pattern.startswith("(?", self.at):
            raise ValueError(f"RE2 has no {self.pattern[self.at : self.at + 4]!r}")
        else:
            self._copy(1)

    def _flags(self, found: re.Match[str]) -> None:
        on, off = found[1] or "", found[2] or ""
        if "U" in on:
            raise UnknownPattern("ungreedy patterns")
        self.multiline = ("m" in on) or (self.multiline and "m" not in off)
        on, off = on.replace("m", ""), off.replace("m", "").replace("U", "")
        self.at = found.end()
        if found[3] == ":":
            self.out.append(f"(?{on}-{off}:" if off else f"(?{on}:")
            return
        # Flags up to the group's end; Python has them at the beginning of a pattern alone.
        now = self.multiline
        self.outer.pop()
        self.multiline = now
        if on or off:
            rest = _Translator(self._rest())
            rest.multiline = now
            self.out.append(f"(?{on}-{off}:" if off else f"(?{on}:")
            self.out.append(f"{rest.translate()})")

    def _rest(self) -> str:
        """Take what is left of the group in which the flags stand."""
        depth, start, at = 0, self.at, self.at
        while at < len(self.pattern):
            char = self.pattern[at]
            if char == "\\":
                at += 1
            elif char == "[":
                inner = _Translator(self.pattern)
                inner.at = at
                inner._set()
                at = inner.at - 1
            elif char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    break
                depth -= 1
            at += 1
        self.at = at
        return self.pattern[start:at]

    def _escape(self, *, inside: bool) -> str:  # noqa: C901, PLR0911 - one for each kind of escape
        """Translate what a backslash begins."""
        char = self.pattern[self.at + 1 : self.at + 2]
        start = self.at
        self.at += 2
        if char in _PERL:
            return _PERL[char] if inside else f"[{_PERL[char]}]"
        if char in ("D", "S", "W"):
            if inside:
                return "".join(_complement(_PERL[char.lower()]))
            return f"[^{_PERL[char.lower()]}]"
        if char in ("p", "P"):
            return self._property(negated=char == "P", inside=inside)
        if char == "x":
            return self._hexadecimal()
        if char in "afnrtv" and char:
            return f"\\{char}"
        if char == "Q" and not inside:
            end = self.pattern.find("\\E", self.at)
            quoted = self.pattern[self.at :] if end < 0 else self.pattern[self.at : end]
            self.at = len(self.pattern) if end < 0 else end + 2
            return re.escape(quoted)
        if char in "AbB" and char and not inside:
            return f"\\{char}"
        if char == "z" and not inside:
            return "\\Z"
        if char.isdigit() and char in "01234567" and not inside:
            return self._octal(char)
        if char in _ALWAYS_ESCAPABLE and char:
            return f"\\{char}"
        raise ValueError(f"invalid escape sequence: {self.pattern[start : start + 2]!r}")

    def _octal(self, first: str) -> str:
        digits = re.compile(r"[0-7]{0,2}").match(self.pattern, self.at)
        more = digits[0] if digits else ""
        if first != "0" and not more:
            raise ValueError("RE2 has no back-references")
        self.at += len(more)
        return f"\\x{int(first + more, 8):02x}"

    def _hexadecimal(self) -> str:
        found = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.pattern, self.at)
        if not found or int(found[1] or found[2], 16) > sys.maxunicode:
            raise ValueError("invalid escape sequence: \\x")
        self.at = found.end()
        return f"\\U{int(found[1] or found[2], 16):08x}"

    def _property(self, *, negated: bool, inside: bool) -> str:
        found = re.compile(r"\{(\^?)(\w+)\}|(\w)").match(self.pattern, self.at)
        if not found:
            raise ValueError("invalid character class range: \\p")
        self.at = found.end()
        name = found[2] or found[3]
        negated ^= bool(found[1])
        if name == "Any":
            ranges = f"\\x00-\\U{sys.maxunicode:08x}"
        elif _CATEGORY.fullmatch(name):
            ranges = category(name)
        else:
            raise UnknownPattern(f"the script {name}")
        if not inside:
            return f"[{'^' if negated else ''}{ranges}]"
        return _complement(ranges) if negated else ranges

    def _set(self) -> str:
        """Translate a class in brackets."""
        self.at += 1
        parts = ["["]
        if self.pattern.startswith("^", self.at):
            parts.append("^")
            self.at += 1
        first = True
        while True:
            if self.at >= len(self.pattern):
                raise ValueError("missing closing ]")
            char = self.pattern[self.at]
            if char == "]" and not first:
                self.at += 1
                return "".join([*parts, "]"])
            first = False
            named = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
            if named:
                if named[2] not in _CLASSES:
                    raise ValueError(f"invalid character class range: {named[0]}")
                self.at = named.end()
                parts.append(_complement(_CLASSES[named[2]]) if named[1] else _CLASSES[named[2]])
            elif char == "\\":
                parts.append(self._escape(inside=True))
            else:
                # What Python would read as an operation on sets, now or one day.
                parts.append(f"\\{char}" if char in "[]&|~" else char)
                self.at += 1


@lru_cache(maxsize=64)
def category(name: str) -> str:
    """Return the characters of a Unicode category, as ranges of a class."""
    return _ranges(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith(name))


@lru_cache(maxsize=64)
def _complement(ranges: str) -> str:
    """Return the ranges of what is not in a class."""
    inside = re.compile(f"[{ranges}]")
    return _ranges(char for code in range(sys.maxunicode + 1) if not inside.match(char := chr(code)))


def _ranges(chars: object) -> str:
    found: list[list[int]] = []
    for char in chars:  # type: ignore[attr-defined]
        code = ord(char)
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in found)
