"""Convert JSON to the CEL library's values for rules (k8s.io/apiserver, pkg/cel/common/valuesunstructured.go)."""

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

#: Key for an object's fields that are not in the schema: rules compare them, but cannot read them.
_HIDDEN: Final = ""


def value_of(value: Any, kind: Type) -> Any:  # noqa: PLR0911 - one for each type
    """Convert a value for the library. Values of another type are kept; rules that read them fail."""
    match value:
        case dict() if kind.name == "object":
            return _object(value, kind)
        case dict() if kind.inner:
            return {text_of(key): value_of(entry, kind.inner) for key, entry in value.items()}
        case list() if kind.inner:
            return [value_of(item, kind.inner) for item in value]
        case str():
            read = _TEXTS.get(kind.time_format or kind.name)
            return text_of(value) if read is None else _read(read, text_of(value))
        case int() if kind.name == "double" and not isinstance(value, bool):
            return float(value)
        case float() if kind.name == "int":
            # The schema accepts 3.0 as an integer; rules that read it fail.
            return str(value)
        case _:
            return value


def text_of(text: str) -> str:
    """Convert a string for the library, which ends strings at NUL: so that becomes another control character."""
    return as_read(text).replace("\0", "\1")


def reorder(old: Any, value: Any, kind: Type) -> Any:
    """Return the old value with its sets and map lists in the order of the new value.

    The library compares lists in order; after this, the two are equal if they are equal on the API server.
    """
    if isinstance(old, dict) and isinstance(value, dict):
        types = {key: kind.inner or kind.fields.get(escape(key) or "") for key in old}
        return {
            key: reorder(entry, value.get(key), inner) if (inner := types[key]) else entry for key, entry in old.items()
        }
    if not isinstance(old, list) or not isinstance(value, list) or kind.keys is None or kind.inner is None:
        return old
    indexes = {_identity(item, kind.keys): index for index, item in enumerate(value)}
    indexed = [(indexes.get(_identity(item, kind.keys)), item) for item in old]
    indexed.sort(key=lambda pair: len(value) if pair[0] is None else pair[0])
    return [item if index is None else reorder(item, value[index], kind.inner) for index, item in indexed]


def _identity(item: Any, keys: tuple[str, ...] | None) -> str:
    """Return a text that identifies an item of a list."""
    return json.dumps([item.get(key) for key in keys] if keys and isinstance(item, dict) else item, sort_keys=True)


def _object(value: dict[str, Any], kind: Type) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    hidden: dict[str, Any] = {}
    for key, content in value.items():
        name = escape(key)
        field = kind.fields.get(name) if name else None
        if name is None or field is None:
            hidden[key] = content
        elif content is not None:
            fields[name] = value_of(content, field)
    return fields | {_HIDDEN: json.dumps(hidden, sort_keys=True)} if hidden else fields


def _read(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except (ValueError, binascii.Error):
        return text


def _timestamp(text: str) -> Timestamp:
    timestamp = Timestamp()
    timestamp.FromJsonString(text)
    return timestamp


def _duration(text: str) -> Duration:
    nanoseconds = duration(text)
    if nanoseconds is None:
        raise ValueError(text)
    message = Duration()
    message.FromNanoseconds(nanoseconds)
    return message


_TEXTS: Final[dict[str, Callable[[str], Any]]] = {
    "bytes": base64.urlsafe_b64decode,
    "date": lambda text: _timestamp(f"{text}T00:00:00Z"),
    "date-time": _timestamp,
    "duration": _duration,
}
