"""Masks objects, patches and findings, for programs that keep reviews.

By the names of fields, only what is known to be harmless stays readable: names, images, types, policies, amounts and
numbers. Every other text is masked, also where messages have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from webhook.cause import Cause, Notice
from webhook.path import join
from webhook.text import MESSAGE_LIMIT, escaped, shown

MASK: Final = "•••"
#: Fields whose texts are readable.
_READABLE: Final = re.compile(
    r".*(?:[nN]ame|[pP]olic(?:y|ie)|[tT]ype|[mM]ode|[cC]lass|[pP]ath|[pP]hase|[iI]mage)s?|apiVersion|kind|namespace|queue|role"
    r"|actions?|events?|priority|timeout|protocol|operator|effect|whenUnsatisfiable|topologyKey|dependsOn|port"
    r"|uid|nameservers|searches|storage|sizeLimit|divisor|limits|requests|minResources|drop|add|creationTimestamp"
)
#: Fields with secrets: in what is below them, nothing is readable.
_SECRET: Final = re.compile(
    r"(?i)env|args|argument|command|script|entrypoint|(?<!meta)data|header|annotation|options|attribute|pass|token|cred"
    r"|secret(?!name$)|auth|(?<!topology)key|var|param|config|values?$|^user|username|login|pin$"
)
#: Fields that are named like these, but only refer to secrets or contain other fields.
_REFERENCE: Final = re.compile(r".*Ref|envFrom\[\]|envFrom|secret|configMap|dnsConfig")
#: Lists of objects of which only the name is readable, and from where the value is.
_NAMED: Final = frozenset({"env[]", "environment[]", "httpHeaders[]", "imagePullSecrets[]"})
#: Maps of amounts: an amount is readable whatever its name.
_AMOUNTS: Final = frozenset({"limits", "requests", "minResources"})
#: Fields that are left out: a copy of the object, who wrote which field, and what nobody reviews.
_LEFT_OUT: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "managedFields", "status"})
#: A readable text, and a readable key, have only these characters: no URL, no assignment, no private key.
_TEXT: Final = re.compile(r"(?!.*(?:://|KEY-))[\w .:/+%*-]{0,253}(?:@sha256:[0-9a-f]{64})?")
_KEY: Final = re.compile(r"[\w./-]{1,253}")
#: In messages: quoted texts, to where they were cut; and private keys, credentials of URLs, and what is beside a cut.
_QUOTED: Final = re.compile(r'"((?:[^"\\…]|\\.)*)(?:"|…[^\s"]*"?|$)')
_SUSPECT: Final = re.compile(r'-----BEGIN.*|(?<=://)[^/\s]*@|[^\s"]*…[^\s"]*')
#: A shorter text is masked in messages only in quotes; of an object with more masked texts, no message is kept.
_SHORT, MOST = 4, 1000


class _Place(NamedTuple):
    """A place: its field, with `[]` in a list; whether it is below secrets, masks numbers too, and shows texts."""

    field: str = ""
    below: bool = False
    masks: bool = False
    reads: bool = False


@lru_cache(maxsize=4096)
def _inner(place: _Place, step: str | int) -> tuple[str | int, _Place]:
    """Return a step as it may be shown, and the place to which it leads. A text has at most 254 characters."""
    field, below = place.field, place.below
    if isinstance(step, int):
        inner = f"{field.removesuffix('[]')}[]"
    else:
        inner, is_key = field if field in _AMOUNTS else step, bool(_KEY.fullmatch(step))
        refers = step in {"name", "valueFrom"} if field in _NAMED else bool(_REFERENCE.fullmatch(field))
        below = below or not is_key or (not refers and bool(_SECRET.search(field)))
        if not is_key or (below and field.endswith("[]") and field not in _NAMED):
            step = MASK
    name = inner.removesuffix("[]")
    masks = below or bool(_SECRET.search(name))
    return step, _Place(inner, below, masks, not masks and bool(_READABLE.fullmatch(name)))


def _followed(path: Sequence[str | int]) -> tuple[list[str | int], _Place]:
    """Return the steps of a path as they may be shown, and the place to which they lead."""
    steps, place = [*path], _Place()
    for index, step in enumerate(path):
        steps[index], place = _inner(place, step[:254] if isinstance(step, str) else step)
    return steps, place


class Redaction:
    """What is readable of one review, and what is not. Mask all objects and patches before the first finding."""

    def __init__(self) -> None:
        self._readable: set[str] = set()
        self._masked: set[str] = set()

    def masked(self, value: Any, place: _Place = _Place()) -> Any:  # noqa: B008  # frozen
        """Return an object, or the value at a place in it, with masked texts. Its shape stays."""
        if isinstance(value, dict):
            inner = [(*_inner(place, name[:254]), child) for name, child in value.items() if name not in _LEFT_OUT]
            return {name: self.masked(child, at) for name, at, child in inner}
        if isinstance(value, list):
            at = _inner(place, 0)[1]
            return [self.masked(item, at) for item in value]
        if isinstance(value, str) and place.reads and _TEXT.fullmatch(value):
            self._readable.add(value)
            return value
        if value is None or not (isinstance(value, str) or place.masks):
            return value
        self._masked.add(value if isinstance(value, str) else json.dumps(value))
        return MASK

    def patch(self, operations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the operations of a JSON Patch with masked texts."""
        result: list[dict[str, Any]] = []
        for operation in operations:
            names = [name.replace("~1", "/").replace("~0", "~") for name in operation["path"].split("/")[1:]]
            if _LEFT_OUT.isdisjoint(names):
                steps, place = _followed(names)  # an index may also be a key
                path = operation["path"] if MASK not in steps else f"/{MASK}"
                value = {"value": self.masked(operation["value"], place)} if "value" in operation else {}
                result.append({"op": operation["op"], "path": path, **value})
        return result

    def finding(self, rule: str, finding: Notice) -> dict[str, Any]:
        """Return a finding as JSON, with masked texts."""
        steps, place = _followed(finding.path.steps)
        reason = {"reason": finding.reason} if isinstance(finding, Cause) else {}
        field = str(finding.path) if MASK not in steps else str(join(steps))
        return {"rule": rule, **reason, "field": field, "steps": steps, "message": self._message(finding, place)}

    def _message(self, finding: Notice, place: _Place) -> str:
        forms, readable = self._searched
        start, own, text = "", "", finding.message
        if len(text) >= MESSAGE_LIMIT or len(self._masked) > MOST:
            return "message not kept: it is too long, or the object has too many texts"
        if isinstance(finding, Cause) and text.startswith(f"{finding.words}: {shown(finding.value)}"):
            start, own = f"{finding.words}: ", shown(Redaction().masked(finding.value, place))
            text = text[len(start) + len(shown(finding.value)) :]
        exempt = frozenset() if place.masks else readable
        for form, masked in forms:
            if masked not in exempt and form in own + text:
                old, new = (form, MASK) if len(form) >= _SHORT else (f'"{form}"', f'"{MASK}"')
                own, text = own.replace(old, new), text.replace(old, new)
        if not place.reads or "{" in text:
            text, supported, choices = text.partition("supported values: ")
            text = _QUOTED.sub(lambda quoted: quoted[0] if quoted[1] in exempt else f'"{MASK}"', text)
            text += supported + choices
        return start + _SUSPECT.sub(MASK, own + text)

    @cached_property
    def _searched(self) -> tuple[list[tuple[str, str]], frozenset[str]]:
        """The masked texts in each form that a message may have, the longest first; and the readable ones."""
        written = [
            (form, text) for text in self._masked - {""} for form in (text, json.dumps(text, ensure_ascii=False)[1:-1])
        ]
        forms = {(form, text) for whole, text in written for form in (whole, escaped(whole))}
        return sorted(forms, key=lambda pair: -len(pair[0])), frozenset(self._readable)
