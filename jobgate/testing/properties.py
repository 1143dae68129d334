"""What holds for every object of every kind. A function raises an AssertionError that says what does not hold.

`context` has objects that rules look up, as for `verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.jobs.kind import CustomKind
from jobgate.testing.verdict import Source, loaded, verdict

#: Values of a wrong type, or at an edge of the right one, for any field.
_ODD: tuple[Any, ...] = (None, 1.5, -1, "", [], {}, [None], {"": None})


def check_idempotence(kind: CustomKind, source: Source, *, context: Iterable[Source] = ()) -> None:
    """Check that an object with all defaults is valid, and gets no more of them."""
    context = [*context]
    first = verdict(kind, source, context=context)
    assert not first.faults, f"it is denied: {first.faults}"
    again = verdict(kind, first.document, context=context)
    assert not again.faults, f"with its defaults it is denied: {again.faults}"
    assert not again.changes, f"defaults are added once more: {again.changes}"


def check_ratchet(kind: CustomKind, source: Source, change: Source, *, context: Iterable[Source] = ()) -> None:
    """Check that a stored object with faults may be changed elsewhere: only new faults deny an update."""
    context = [*context]
    assert verdict(kind, source, context=context).faults, "it has no fault"
    update = verdict(kind, change, old=source, context=context)
    assert not update.faults, f"a stored fault denies an update: {update.faults}"


def check_round_trip(kind: CustomKind, source: Source, version: str, *, context: Iterable[Source] = ()) -> None:
    """Check that an object is the same after a conversion to another version and back."""
    document = dict(verdict(kind, source, context=context).document)
    converted = kind.convert(document, version)
    assert kind.convert(converted, kind.version) == document, f"{version} loses something: {converted}"


def check_robustness(kind: CustomKind, source: Source, *, context: Iterable[Source] = ()) -> None:
    """Check that no rule and no default fails on an object in which any field has an odd value."""
    document, context = loaded(source), [*context]
    for steps in _places(document.get("spec"), ("spec",)):
        for value in _ODD:
            odd = _replaced(document, steps, value)
            failed = [text for text in verdict(kind, odd, context=context).faults if " failed on this object: " in text]
            assert not failed, f"{'.'.join(map(str, steps))}: {value!r}: {failed[0]}"


def _places(value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    yield steps
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from _places(item, (*steps, step))


def _replaced(value: Any, steps: tuple[str | int, ...], by: Any) -> Any:
    if not steps:
        return by
    step, *rest = steps
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copy[step] = _replaced(value[step], tuple(rest), by)
    return copy
