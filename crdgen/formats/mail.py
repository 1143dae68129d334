"""The format `email`: an address as Go's net/mail.ParseAddress reads it, with or without a name beside it."""

import base64
import binascii
import re
from typing import Final

from crdgen.formats.plain import is_any_ip

#: What a name may have, and an address between its dots; all beyond ASCII is alike.
_ATOM: Final = re.compile(r"[^\x00-\x20\x7f()<>\[\]:;@\\,\"]+")
# Within quotes and brackets: all that is printed, and within quotes blanks.
_QUOTED: Final = re.compile(r"\"((?:[^\x00-\x08\x0a-\x1f\x7f\\\"]|\\[^\x00-\x08\x0a-\x1f\x7f])*)\"")
_LITERAL: Final = re.compile(r"\[([^\x00-\x20\x7f\[\]\\]*)\]")
_WORD: Final = re.compile(r"=\?([^?]+)\?([BbQq])\?([^?]*)\?=")
_CHARSETS: Final = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
_Q_TEXT: Final = re.compile(r"(?:[\t\n\r -<>-~]|=[0-9A-Fa-f]{2})*")
_SHORTEST_WORD: Final = 8


class _NoAddress(Exception):
    """The text is no address."""


class _Reader:
    """What is left of a text."""

    def __init__(self, text: str) -> None:
        self.left = text

    def take(self, sign: str) -> bool:
        """Take the sign, if it comes next."""
        found = self.left.startswith(sign)
        self.left = self.left.removeprefix(sign)
        return found

    def match(self, form: re.Pattern[str]) -> str:
        """Take what has the form, and return its group, or the whole where it has none."""
        found = form.match(self.left)
        if not found:
            raise _NoAddress
        self.left = self.left[found.end() :]
        return str(found[found.re.groups])

    def blanks(self) -> None:
        """Pass over blanks."""
        self.left = self.left.lstrip(" \t")

    def comments(self) -> None:
        """Pass over blanks and comments."""
        self.blanks()
        while self.take("("):
            self.comment()
            self.blanks()

    def comment(self) -> str:
        """Take the rest of a comment, of which the first bracket is taken; comments nest."""
        depth, at = 1, 0
        kept: list[str] = []
        while at < len(self.left) and depth:
            if self.left[at] == "\\" and at + 1 < len(self.left):
                at += 1
            elif self.left[at] in "()":
                depth += 1 if self.left[at] == "(" else -1
            kept += self.left[at] if depth else ""
            at += 1
        self.left = self.left[at:]
        if depth:
            raise _NoAddress
        return "".join(kept)


def is_email(text: str) -> bool:
    """Tell whether the text is one address of mail."""
    reader = _Reader(text)
    try:
        found = _addresses(reader, group=True)
        reader.comments()
    except _NoAddress:
        return False
    return found == 1 and not reader.left


def _addresses(reader: _Reader, *, group: bool) -> int:
    """Take an address, or a group of some, and return how many there are."""
    reader.blanks()
    start = reader.left
    try:
        _address(reader)
    except _NoAddress:
        reader.left = start
    else:
        reader.blanks()
        if reader.take("("):
            for word in re.split(r"[ \t]+", reader.comment()):
                _encoded(word)
        return 1
    if not reader.left.startswith("<"):
        _name(reader)
    reader.blanks()
    if group and reader.take(":"):
        return _group(reader)
    if not reader.take("<"):
        raise _NoAddress
    _address(reader)
    if not reader.take(">"):
        raise _NoAddress
    return 1


def _group(reader: _Reader) -> int:
    reader.blanks()
    count = 0
    if not reader.take(";"):
        while True:
            reader.blanks()
            count += _addresses(reader, group=False)
            reader.comments()
            if reader.take(";"):
                break
            if not reader.take(","):
                raise _NoAddress
    reader.comments()
    return count


def _address(reader: _Reader) -> None:
    """Take `local@domain`."""
    reader.blanks()
    if reader.left.startswith('"'):
        if not reader.match(_QUOTED):
            raise _NoAddress
    else:
        _dotted(reader)
    if not reader.take("@"):
        raise _NoAddress
    reader.blanks()
    if not reader.left.startswith("["):
        _dotted(reader)
    elif not is_any_ip(reader.match(_LITERAL)):
        raise _NoAddress


def _dotted(reader: _Reader) -> None:
    atom = reader.match(_ATOM)
    if atom.startswith(".") or atom.endswith(".") or ".." in atom:
        raise _NoAddress


def _name(reader: _Reader) -> None:
    """Take the words before an address; what is wrong after the first word is told by what should follow."""
    words = 0
    while True:
        if words:
            reader.comments()
        reader.blanks()
        if not reader.left:
            break
        try:
            if reader.left.startswith('"'):
                reader.match(_QUOTED)
            else:
                _encoded(reader.match(_ATOM))
        except _NoAddress:
            if not words:
                raise
            break
        words += 1


def _encoded(word: str) -> None:
    """Refuse a word in a character set that is not known: `=?utf-8?q?caf=C3=A9?=` is in a known one."""
    found = _WORD.fullmatch(word) if len(word) >= _SHORTEST_WORD else None
    if found and found[1].lower() not in _CHARSETS and _is_decodable(found[2], found[3]):
        raise _NoAddress


def _is_decodable(encoding: str, text: str) -> bool:
    if encoding in "Qq":
        return _Q_TEXT.fullmatch(text) is not None
    try:
        base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
