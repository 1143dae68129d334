"""Masks the values of variables, commands and Secrets in objects, patches and messages, for programs that keep reviews.

The place of a value says that it is secret. The same value elsewhere is masked too: in messages, annotations and long
texts. The exception is a value that is a name in the same object, such as an argument that is the name of a task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from webhook.text import escaped

MASK: Final = "•••"
#: Fields whose texts are all masked: commands, arguments, texts that contain variables, and what often holds secrets.
_TEXTS: Final = frozenset(
    {"args", "arguments", "binaryData", "command", "commands", "entrypoint", "envVars", "runtimeEnvYAML", "script"}
    | {
        "data",
        "environment",
        "options",
        "password",
        "passwords",
        "runtimeEnv",
        "stringData",
        "token",
        "volumeAttributes",
    }
)
#: Lists of objects with a name and a secret value; as maps, all their values are secret.
_NAMED: Final = frozenset({"env", "httpHeaders"})
#: Fields that are left out: a copy of the whole object, who wrote which field, and what nobody reviews.
_COPIES: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "managedFields", "status"})
_KEY: Final = "PRIVATE KEY"
#: The user and the password of a URL.
_CREDENTIALS: Final = re.compile(r"(://)[^/@\s]*:[^/\s]*@")
#: What the JSON of a patch contains if it may have to be masked: parts of the names above.
_MARKS: Final = tuple(
    b"nv arg command script entrypoint data Data Headers PRIVATE managed applied status".split()
    + b"options password token Attributes ://".split()
)
#: A shorter value is masked in messages only in quotes, and longer texts are searched for values.
_SHORT, _LONG = 4, 40
#: Most different values that messages are searched for.
MOST: Final = 500
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)')


class Redaction:
    """The secret values of an object, and the object and its messages without them."""

    def __init__(self, *documents: Any) -> None:
        """Collect the secret values of documents: the object, and the stored one before an UPDATE."""
        self._names: set[str] = set()
        self._found: set[str] = set()
        for document in documents:
            self._collect(document)
        self._hidden = sorted(self._found - self._names - {""}, key=len, reverse=True)
        self._forms = [(value, _forms(value)) for value in self._hidden]

    @property
    def crowded(self) -> bool:
        """Whether there are too many values to search messages for them."""
        return len(self._hidden) > MOST

    def _collect(self, value: Any) -> None:
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Mapping):
                for key, child in value.items():
                    if key in _COPIES:
                        continue
                    if key in _TEXTS or key in _NAMED:
                        self._found.update(_secrets(key, child))
                        waiting += _beside(key, child)
                    elif key == "annotations":
                        continue
                    elif isinstance(child, str):
                        self._names.add(child)
                    else:
                        waiting.append(child)
            elif isinstance(value, list):
                waiting += value

    def masked(self, value: Any) -> Any:
        """Return an object, or a part of it, with masked values."""
        if isinstance(value, Mapping):
            return {
                key: _all_masked(child)
                if key in _TEXTS
                else self._named(child)
                if key in _NAMED
                else {name: self._leaf(text, 0) for name, text in child.items() if name not in _COPIES}
                if key == "annotations" and isinstance(child, Mapping)
                else self.masked(child)
                for key, child in value.items()
                if key not in _COPIES
            }
        if isinstance(value, list):
            return [self.masked(item) for item in value]
        return self._leaf(value, _LONG)

    def _named(self, value: Any) -> Any:
        if not isinstance(value, list):
            return _all_masked(value)
        return [
            {key: MASK if key == "value" else self.masked(child) for key, child in item.items()}
            if isinstance(item, Mapping)
            else _all_masked(item)
            for item in value
        ]

    def _leaf(self, value: Any, least: int) -> Any:
        """Return a text that contains no secret value, or the mask."""
        if not isinstance(value, str):
            return self.masked(value) if isinstance(value, Mapping | list) else value
        if _KEY in value or (self._hidden and len(value) > least and self._quotes(value)):
            return MASK
        return _CREDENTIALS.sub(rf"\1{MASK}@", value) if "://" in value else value

    def _quotes(self, text: str) -> bool:
        unescaped = text.replace("\\", "")  # JSON in JSON escapes quotes again and again
        return self.crowded or any(
            len(value) >= _SHORT and (value.replace("\\", "") in unescaped or any(form in text for form in forms))
            for value, forms in self._forms
        )

    def patch(self, operations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the operations of a patch with masked values."""
        masked: list[dict[str, Any]] = []
        for operation in operations:
            steps = [step.replace("~1", "/").replace("~0", "~") for step in str(operation["path"]).split("/")[1:]]
            if _COPIES.intersection(steps):
                continue
            value = operation.get("value")
            for step in reversed(steps):
                value = [value] if step == "-" or step.isdigit() else {step: value}
            value = self.masked(value)
            for step in steps:
                value = value if value == MASK else value[0] if isinstance(value, list) else value[step]
            masked.append({**operation, "value": value} if "value" in operation else dict(operation))
        return masked

    def message(self, text: str, steps: Sequence[str | int] = ()) -> str:
        """Return a message about the field at `steps` without secret values, also where it was cut at `…`."""
        if _secret_place(steps):
            text = _QUOTED.sub(f'"{MASK}"', text)
        text = _CREDENTIALS.sub(rf"\1{MASK}@", text)
        if _KEY in text or (self.crowded and '"' in text):
            return f"{MASK} (quotes a value that is not kept)"
        for value, forms in self._forms:
            for form in forms:
                text = text.replace(f'"{form}"', f'"{MASK}"')
                if len(value) >= _SHORT:
                    text = text.replace(form, MASK)
                if "…" in text:
                    text = _without_cut(text, form)
        return text


def is_plain(patch: bytes) -> bool:
    """Return whether the JSON of a patch surely has nothing to mask: no part of a name of a secret place."""
    return not any(mark in patch for mark in _MARKS)


def _forms(value: str) -> set[str]:
    """Return how JSON and our own messages write a text."""
    as_json = json.dumps(value, ensure_ascii=False)[1:-1]
    return {value, as_json, escaped(value), escaped(as_json)}


def _secret_place(steps: Sequence[str | int]) -> bool:
    return any(step in _TEXTS or step in _NAMED for step in steps)


def _beside(key: str, value: Any) -> Iterator[Any]:
    """Yield what is not secret in the items of a list with names and values."""
    for item in value if key in _NAMED and isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield {name: child for name, child in item.items() if name != "value"}


def _secrets(key: str, value: Any) -> Iterator[str]:
    """Yield the secret texts in the value of a field; other scalars as JSON writes them."""
    if key in _NAMED and isinstance(value, list):
        value = [item.get("value") if isinstance(item, Mapping) else item for item in value]
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif value is not None:
            yield value if isinstance(value, str) else json.dumps(value)


def _all_masked(value: Any) -> Any:
    """Return a value of the same shape with masks: places in it can still be found."""
    if isinstance(value, Mapping):
        return {key: _all_masked(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_all_masked(item) for item in value]
    return value if value is None else MASK


def _without_cut(text: str, value: str) -> str:
    """Return a text without the beginning of a value before `…`, and without the end of one after it."""
    first, *others = text.split("…")
    parts = [first]
    for part in others:
        before = parts[-1]
        if size := _overlap(before, value):
            parts[-1] = before[:-size] + MASK
        if size := _overlap(value, part):
            part = MASK + part[size:]  # noqa: PLW2901
        parts.append(part)
    return "…".join(parts)


def _overlap(first: str, second: str) -> int:
    """Return the length of the longest end of a text with which the other begins."""
    return next((size for size in range(min(len(first), len(second)), 0, -1) if first.endswith(second[:size])), 0)
