"""Which values of the type are taken: enum, pattern, format, null."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import REFUSES, Change
from crdgen.diff.pair import Pair
from crdgen.formats import FORMATS
from crdgen.integers import RANGES
from crdgen.look import canonical, members, shown
from crdgen.words import INT_OR_STRING

_KEEP: Final = "keep taking what was taken, and refuse it for new objects only, by a webhook"


def values(pair: Pair) -> Iterator[Change]:
    """Yield changes of which values a field takes."""
    yield from _enum(pair)
    yield from _pattern(pair)
    yield from _format(pair)
    yield from _null(pair)


def _enum(pair: Pair) -> Iterator[Change]:
    old, new = members(pair.old.get("enum")), members(pair.new.get("enum"))
    if not old and new:
        what = f"only {_listed(new)} are taken now"
        yield pair.change(what, *REFUSES, fix="list every value that is in use")
    if old and not new:
        yield pair.change(f"any value is taken, and no longer only {_listed(old)}")
    if not old or not new:
        return
    was, now = ({canonical(value): value for value in one} for one in (old, new))
    for key in was.keys() - now.keys():
        yield pair.change(
            f"value {shown(was[key])} is removed", *REFUSES, fix="keep the value, described as deprecated"
        )
    for key in now.keys() - was.keys():
        yield pair.change(f"value {shown(now[key])} is new; clients that know all values will meet another one")


def _pattern(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.get("pattern"), pair.new.get("pattern")
    if old == new:
        return
    if new is None:
        yield pair.change(f"pattern {shown(old)} is gone")
        return
    what = f"pattern {shown(new)} is new" if old is None else f"pattern {shown(old)} is now {shown(new)}"
    yield pair.change(f"{what}: values that were taken may be refused", *REFUSES, fix=_KEEP)


def _format(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.get("format"), pair.new.get("format")
    if old == new:
        return
    if new is None:
        what = f"format {shown(old)} is gone"
    else:
        what = f"format {shown(new)} is new" if old is None else f"format {shown(old)} is now {shown(new)}"
    if _is_wider(pair):
        yield pair.change(what)
    else:
        yield pair.change(f"{what}: values that were taken may be refused", *REFUSES, fix=_KEEP)


def _is_wider(pair: Pair) -> bool:
    """Tell whether the new format takes all that the old one took."""
    old, new = _checked(pair.old), _checked(pair.new)
    if new is None or old == new:
        return True
    if old in RANGES and new in RANGES:
        return RANGES[new][0] <= RANGES[old][0] and RANGES[old][1] <= RANGES[new][1]
    return False


def _checked(schema: Mapping[str, Any]) -> str | None:
    """Return the format that the API server checks: integers without one have 64 bits."""
    name = schema.get("format")
    if isinstance(name, str) and (name in FORMATS or name in RANGES or name == "float"):
        return name
    return "int64" if schema.get("type") == "integer" or schema.get(INT_OR_STRING) else None


def _null(pair: Pair) -> Iterator[Change]:
    was, now = bool(pair.old.get("nullable")), bool(pair.new.get("nullable"))
    if was and not now:
        what = "null is no longer a value: in lists it is refused, elsewhere it is dropped or replaced by the default"
        yield pair.change(what, *REFUSES, fix="keep it nullable")
    if now and not was:
        yield pair.change("null is now a value; clients with types may meet it")


def _listed(enum: list[Any]) -> str:
    return shown(enum)[1:-1] if len(shown(enum)) <= 60 else f"{len(enum)} values"
