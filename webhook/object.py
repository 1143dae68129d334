"""The object under review, as rules see it: its JSON, and the typed view of its spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel

from webhook.kind import Kind
from webhook.path import Path
from webhook.view import FieldOf, lacks

Spec = TypeVar("Spec", bound=BaseModel)


class Object(Generic[Spec]):
    """An object under review.

    A rule reads it freely. If the object does not fit its schema, the typed view lacks the fields that do not fit, and
    the review finds out which of them a rule reads (`webhook.explain`).

    Attributes:
        kind: the kind of the object.
        document: the whole object, as JSON.
        spec: the typed view of its spec.
        fits: whether the object is known to fit its schema. Then rules need not check again what the fast check of the
            schema covers, such as pod templates.
        shared: values that several rules use, computed once, each under a key of its own.
    """

    __slots__ = ("_left_out", "document", "fits", "kind", "shared", "spec")

    def __init__(self, kind: Kind, document: Mapping[str, Any], spec: Spec, *, fits: bool = False) -> None:
        self.kind = kind
        self.document = document
        self.spec = spec
        self.fits = fits
        self.shared: dict[Any, Any] = {}
        self._left_out: frozenset[FieldOf] = frozenset()

    def get(self, field: str) -> Any:
        """Return a field of the spec by its path of attributes; None if this kind or this object does not have it.

        A kind can have the field elsewhere: see `Kind.fields`.

        Raises:
            UnknownField: no kind has such a field.
        """
        attributes = self.kind.field(field).attributes
        part: Any = self.spec if attributes else None
        for attribute in attributes:
            if part is None:
                return None
            part = getattr(part, attribute)
        return part

    def at(self, field: str) -> Path:
        """Return the path of a field, as `get` finds it: `backoff_limit`, not `backoffLimit`."""
        return self.kind.field(field).path

    def each(self, field: str) -> Iterator[tuple[Path, Any]]:
        """Yield the items of a list, or the entries of a map, with their paths.

        Items that the rule cannot read, because they do not fit the schema, are left out. Use this method if a rule
        judges each item by itself: then a broken item does not keep it from the others.
        """
        path, items = self.at(field), self.get(field)
        if isinstance(items, dict):
            entries = ((path.key(key), value) for key, value in items.items())
        else:
            entries = ((path / index, item) for index, item in enumerate(items or ()))
        left_out = self._left_out
        return ((at, item) for at, item in entries if not lacks(item, left_out)) if left_out else entries

    def leaves_out(self, item: object) -> bool:
        """Tell whether an item of a list in a part of the object is left out because the rule cannot read it."""
        return bool(self._left_out) and lacks(item, self._left_out)

    def leaving_out(self, fields: frozenset[FieldOf]) -> Self | None:
        """Return the object without the items of lists that lack one of these fields.

        Return None if such items are left out already. Then a part that is no item of a list lacks the field, and a
        rule that reads it cannot judge the object.
        """
        if fields <= self._left_out:
            return None
        reduced = copy(self)
        reduced._left_out = self._left_out | fields
        reduced.shared = {}
        return reduced


def object_of(kind: Kind, document: Mapping[str, Any], spec: BaseModel, *, fits: bool = False) -> Object[Any]:
    """Return the object of a kind, as its rules see it."""
    obj: Object[Any] = (kind.view or Object)(kind, document, spec, fits=fits)
    return obj
