"""Find the stored object that a write updates."""

from collections.abc import Iterable, Mapping
from typing import Any

from crdgen.schema.look import mapping


def stored_object(
    document: Mapping[str, Any], stored: Iterable[Mapping[str, Any]], namespace: str = ""
) -> Mapping[str, Any] | None:
    """Return the stored object of the same group, kind and name, or None.

    An exported object has a namespace; its original file often has none. So an object without a namespace may be in
    any, and is rather in `namespace`.
    """
    identity, written = _identity(document), _namespace(document)
    namesakes = [each for each in stored if _identity(each) == identity]
    fitting = [each for each in namesakes if not written or _namespace(each) in {"", written}]
    return min(fitting, key=lambda each: _namespace(each) != (written or namespace), default=None)


def _namespace(document: Mapping[str, Any]) -> str:
    return str(mapping(document, "metadata").get("namespace") or "")


def _identity(document: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    group = str(document.get("apiVersion")).rpartition("/")[0]
    return mapping(document, "metadata").get("name"), document.get("kind"), group
