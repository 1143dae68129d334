"""Changes of enum, pattern, format, nullable, and of branches, which are compared literally."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import REJECTS, Change, SchemaPair
from crdgen.diff.normal import EXCLUSIVE
from crdgen.formats import text_format
from crdgen.schema import BRANCHES, INT_OR_STRING
from crdgen.schema.limits import RANGES
from crdgen.schema.look import canonical, mapping, members, shown, words

_KEEP: Final = "keep accepting the old values"

#: Pairs of formats: the second accepts all values of the first. Integers of 64 bits fit into a float of 32 bits.
_WIDER: Final = frozenset({("int32", "int64"), ("int32", "float"), ("int64", "float")})


def values(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of a field's valid values."""
    yield from _enum(pair)
    yield from _pattern(pair)
    yield from _format(pair)
    yield from _null(pair)


def _enum(pair: SchemaPair) -> Iterator[Change]:
    old, new = members(pair.old.get("enum")), members(pair.new.get("enum"))
    if not old and new:
        yield pair.change(f"only {_listed(new)} are valid now", *REJECTS, fix=pair.for_new(_KEEP))
    if old and not new:
        yield pair.change(f"any value is valid, no longer only {_listed(old)}")
    if not old or not new:
        return
    was, now = ({canonical(value): value for value in enum} for enum in (old, new))
    for key in was.keys() - now.keys():
        yield pair.change(
            f"value {shown(was[key])} is removed", *REJECTS, fix="keep the value, described as deprecated"
        )
    for key in now.keys() - was.keys():
        yield pair.change(
            f"value {shown(now[key])} is new; clients with a fixed list of values will see a value that is not on it"
        )


def _pattern(pair: SchemaPair) -> Iterator[Change]:
    old, new = pair.old.get("pattern"), pair.new.get("pattern")
    if old == new:
        return
    if new is None:
        yield pair.change(f"pattern {shown(old)} is removed")
        return
    what = f"pattern {shown(new)} is new" if old is None else f"pattern {shown(old)} is now {shown(new)}"
    yield pair.change(f"{what}: previously valid values may be rejected", *REJECTS, fix=pair.for_new(_KEEP))


def _format(pair: SchemaPair) -> Iterator[Change]:
    old, new = pair.old.get("format"), pair.new.get("format")
    if old == new:
        if not _is_wider(pair.old, pair.new):
            yield pair.change(f"format {shown(new)} now applies, to another type", *REJECTS, fix=pair.for_new(_KEEP))
        return
    if new is None:
        what = f"format {shown(old)} is removed"
    else:
        what = f"format {shown(new)} is new" if old is None else f"format {shown(old)} is now {shown(new)}"
    if _is_wider(pair.old, pair.new):
        yield pair.change(what)
    else:
        yield pair.change(f"{what}: previously valid values may be rejected", *REJECTS, fix=pair.for_new(_KEEP))


def _is_wider(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether the new format accepts all values of the old format."""
    was, now = _checked_format(old), _checked_format(new)
    return now is None or was == now or (was, now) in _WIDER


def _checked_format(schema: Mapping[str, Any]) -> str | None:
    """Return the format that the API server checks for values of the type, without dashes; None if it checks none.

    Integers without a format have 64 bits.
    """
    name, kind = schema.get("format"), schema.get("type")
    without_dashes = name.replace("-", "") if isinstance(name, str) else ""
    if kind == "integer":
        return without_dashes if without_dashes in RANGES else "int64"
    if kind == "number":
        return without_dashes if without_dashes == "float" else None
    if text_format(name) is None or (without_dashes == "password" and (kind or schema.get(INT_OR_STRING))):
        return None  # every string is a password; without a type, only strings are
    return without_dashes


def _null(pair: SchemaPair) -> Iterator[Change]:
    was, now = bool(pair.old.get("nullable")), bool(pair.new.get("nullable"))
    if was and not now:
        what = "null is no longer a value: in lists it is rejected, elsewhere it is dropped or replaced by the default"
        yield pair.change(what, *REJECTS, fix="keep it nullable")
    if now and not was:
        yield pair.change("null is now a value; clients with types may meet it")


def _listed(enum: list[Any]) -> str:
    return shown(enum)[1:-1] if len(shown(enum)) <= 60 else f"{len(enum)} values"


def branches(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of branches, which count as breaking unless they certainly are not."""
    for keyword in BRANCHES:
        was, now = (members(schema.get(keyword)) for schema in (pair.old, pair.new))
        if set(map(canonical, was)) != set(map(canonical, now)):
            yield _branch_change(pair, keyword, tighter=bool(now) and not _accept_more(keyword, was, now, pair.old))
    before, after = pair.old.get("not"), pair.new.get("not")
    if canonical(before) != canonical(after):
        yield _branch_change(pair, "not", tighter=after is not None)


def _accept_more(keyword: str, was: list[Any], now: list[Any], old: Mapping[str, Any]) -> bool:
    """Return whether the new branches certainly accept all old values. Another branch of oneOf may be one too many."""
    if keyword == "allOf":
        return all(_holds(branch, old, *was) for branch in now)
    return keyword == "anyOf" and all(any(_holds(branch, before, old) for branch in now) for before in was or [{}])


def _holds(branch: Any, *known: Any) -> bool:
    """Return whether schemas that hold contain all checks of a branch."""
    return isinstance(branch, Mapping) and all(
        any(_contains(schema, keyword, branch) for schema in known) for keyword in branch
    )


def _contains(schema: Any, keyword: str, branch: Mapping[str, Any]) -> bool:
    if keyword == "required":
        return set(words(branch[keyword])) <= set(words(mapping(schema).get(keyword)))
    # A bound and whether it is exclusive are one check.
    keywords = {keyword, EXCLUSIVE.get(keyword, keyword)} & branch.keys()
    return all(key in mapping(schema) and canonical(schema[key]) == canonical(branch[key]) for key in keywords)


def _branch_change(pair: SchemaPair, keyword: str, *, tighter: bool) -> Change:
    if not tighter:
        return pair.change(f"{keyword} changed, and accepts all previously valid values")
    what = f"{keyword} changed: previously valid values may be rejected"
    return pair.change(what, *REJECTS, fix=pair.for_new("keep the branches"))
