"""Semantic versions (k8s.io/apiserver, pkg/cel/library/semverlib.go)."""

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, Final

from crdgen.cel.functions.overloads import Table, readable
from crdgen.cel.times import Fault

_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PART: Final = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_FORM: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PART}(?:\.{_PART})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """Major, minor and patch, and what comes before the release."""

    numbers: tuple[int, int, int]
    before: tuple[str, ...]
    cel_type = "kubernetes.Semver"

    def order(self) -> tuple[Any, ...]:
        """Return what versions are ordered by: a release is after what comes before it."""
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.before)
        return self.numbers, not self.before, parts

    def __lt__(self, other: "Semver") -> bool:
        return self.order() < other.order()


def _read(text: str, normalize: bool = False) -> Semver:
    found = _FORM.fullmatch(_normal(text) if normalize else text)
    if not found:
        raise Fault(f'Invalid character(s) found in version "{text}"')
    return Semver((int(found[1]), int(found[2]), int(found[3])), tuple(found[4].split(".")) if found[4] else ())


def _normal(text: str) -> str:
    """Take a leading v and leading zeros away, and fill what is missing with zeros."""
    text = text.removeprefix("v")
    found = re.match(r"[0-9.]*", text)
    core, rest = (found[0], text[found.end() :]) if found else ("", text)
    parts = [part.lstrip("0") or "0" for part in core.split(".")] if core else []
    if len(parts) < 3 and rest:
        return text
    return ".".join([*parts, *["0"] * (3 - len(parts))]) + rest


SEMVER: Final[Table] = {
    ("semver", str): _read,
    ("semver", str, bool): _read,
    ("isSemver", str): readable(_read),
    ("isSemver", str, bool): readable(_read),
    ("major", Semver): lambda version: version.numbers[0],
    ("minor", Semver): lambda version: version.numbers[1],
    ("patch", Semver): lambda version: version.numbers[2],
    ("isGreaterThan", Semver, Semver): lambda left, right: left > right,
    ("isLessThan", Semver, Semver): lambda left, right: left < right,
    ("compareTo", Semver, Semver): lambda left, right: (left > right) - (left < right),
}
