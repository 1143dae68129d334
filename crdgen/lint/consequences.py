"""What is not told: findings that only follow from a value that cannot be read, since that counts as left out."""

import re
from collections.abc import Iterable
from typing import Final

from crdgen.decoding import Fault
from crdgen.lint.finding import Finding

# Keywords on which it depends what the others of the same schema mean.
_DECISIVE: Final = re.compile(
    r"(.*?)\.?(?<![^.])(?:type|properties|items|additionalProperties|required|x-kubernetes-[a-z-]+)"
)
# A field of an item: what is said of the list may follow from it.
_OF_ITEM: Final = re.compile(r"(.*)\[\d+\]\.[^.\[\]]+")
# The last step of a path that is a keyword, perhaps with a place in its list: `x-kubernetes-validations[0].rule`.
_KEYWORD: Final = re.compile(r"(.*?)\.?(?<![^.])[A-Za-z$-]+(?:\[\d+\](?:\.[A-Za-z]+)?)?")
_STEP: Final = re.compile(r"[.\[]")


def independent(findings: Iterable[Finding], faults: Iterable[Fault]) -> list[Finding]:
    """Return the findings that would be there, too, were everything readable: one fault gives one finding."""
    unread = {fault.path for fault in faults if not fault.unknown}
    lists = {found[1] for found in map(_OF_ITEM.fullmatch, unread) if found}
    schemas = {found[1] for found in map(_DECISIVE.fullmatch, unread) if found}
    return [
        finding
        for finding in findings
        if unread.isdisjoint(_around(finding.path))
        and finding.path not in lists
        and schemas.isdisjoint(_schemas(finding.path))
    ]


def _around(path: str) -> list[str]:
    """Return a path, and those of all that it is in."""
    return [path, *(path[: step.start()] for step in _STEP.finditer(path))]


def _schemas(path: str) -> list[str]:
    """Return the schemas that a finding may be about: at its path, or the one whose keyword is there."""
    found = _KEYWORD.fullmatch(path)
    return [path, found[1]] if found else [path]
