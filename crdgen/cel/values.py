"""JSON as rules see it, for the CEL library (k8s.io/apiserver, pkg/cel/common/valuesunstructured.go)."""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from crdgen.cel.types import Type
from crdgen.escaping import escape
from crdgen.formats import duration
from crdgen.schema.look import as_read

#: The key of an object's fields that no schema describes: rules compare them, and cannot name them.
_HIDDEN: Final = ""


def value_of(value: Any, kind: Type) -> Any:  # noqa: PLR0911 - one for each type
    """Return the value as the library takes it. What is not of its type stays as it is, and fails where it is read."""
    match value:
        case dict() if kind.name == "object":
            return _object(value, kind)
        case dict() if kind.inner:
            return {text_of(key): value_of(each, kind.inner) for key, each in value.items()}
        case list() if kind.inner:
            return [value_of(each, kind.inner) for each in value]
        case str():
            read = _TEXTS.get(kind.timed or kind.name)
            return text_of(value) if read is None else _read(read, text_of(value))
        case int() if kind.name == "double" and not isinstance(value, bool):
            return float(value)
        case float() if kind.name == "int":
            # The schema takes 3.0 for an integer, and a rule that reads it fails.
            return str(value)
        case _:
            return value


def text_of(text: str) -> str:
    """Return a text as the library takes it: it ends one at a NUL, so that is another control character."""
    return as_read(text).replace("\0", "\1")


def in_order(old: Any, value: Any, kind: Type) -> Any:
    """Return the old value with its sets and map lists in the order of the new one, where order does not matter.

    The library compares lists by their order; so the two are equal where they are to the API server.
    """
    if isinstance(old, dict) and isinstance(value, dict):
        types = {key: kind.inner or kind.fields.get(escape(key) or "") for key in old}
        return {
            key: in_order(each, value.get(key), inner) if (inner := types[key]) else each for key, each in old.items()
        }
    if not isinstance(old, list) or not isinstance(value, list) or kind.keys is None or kind.inner is None:
        return old
    places = {_identity(item, kind.keys): place for place, item in enumerate(value)}
    found = sorted(old, key=lambda item: places.get(_identity(item, kind.keys), len(value)))
    held = (places.get(_identity(item, kind.keys)) for item in found)
    return [item if at is None else in_order(item, value[at], kind.inner) for item, at in zip(found, held, strict=True)]


def _identity(item: Any, keys: tuple[str, ...] | None) -> str:
    """Return what tells an item of a list from others."""
    return json.dumps([item.get(key) for key in keys] if keys and isinstance(item, dict) else item, sort_keys=True)


def _object(value: dict[str, Any], kind: Type) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    hidden: dict[str, Any] = {}
    for key, each in value.items():
        name = escape(key)
        field = kind.fields.get(name) if name else None
        if name is None or field is None:
            hidden[key] = each
        elif each is not None:
            seen[name] = value_of(each, field)
    return seen | {_HIDDEN: json.dumps(hidden, sort_keys=True)} if hidden else seen


def _read(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except (ValueError, binascii.Error):
        return text


def _timestamp(text: str) -> Timestamp:
    made = Timestamp()
    made.FromJsonString(text)
    return made


def _duration(text: str) -> Duration:
    made, count = Duration(), duration(text)
    if count is None:
        raise ValueError(text)
    made.FromNanoseconds(count)
    return made


_TEXTS: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": base64.urlsafe_b64decode,
    "date": lambda text: _timestamp(f"{text}T00:00:00Z"),
    "date-time": _timestamp,
    "duration": _duration,
}
