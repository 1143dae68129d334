"""Changes of `allOf`, `anyOf`, `oneOf` and `not`: branches are compared as a whole, and not by what they say."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import REFUSES, Change, SchemaPair
from crdgen.schema import BRANCHES, INT_OR_STRING
from crdgen.schema.look import canonical, members

_EITHER: Final = canonical([{"type": "integer"}, {"type": "string"}])


def branches(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of branches, which count as breaking if that cannot be ruled out."""
    for keyword in BRANCHES:
        was, now = _listed(pair.old, keyword), _listed(pair.new, keyword)
        if was != now:
            # Of all, fewer take more; of several, one more does; of exactly one, another may be one too many.
            more = set(now) <= set(was) if keyword == "allOf" else bool(was) and set(was) <= set(now)
            yield _changed(pair, keyword, tighter=bool(now) and not (more and keyword != "oneOf"))
    before, after = pair.old.get("not"), pair.new.get("not")
    if canonical(before) != canonical(after):
        yield _changed(pair, "not", tighter=after is not None)


def _changed(pair: SchemaPair, keyword: str, *, tighter: bool) -> Change:
    if not tighter:
        return pair.change(f"{keyword} changed, and accepts all previously valid values")
    what = f"{keyword} changed: previously valid values may be rejected"
    return pair.change(what, *REFUSES, fix=pair.for_new("keep the branches"))


def _listed(schema: Mapping[str, Any], keyword: str) -> list[str]:
    listed = members(schema.get(keyword))
    if keyword == "anyOf" and schema.get(INT_OR_STRING) and canonical(listed) == _EITHER:
        return []  # the usual way to write int-or-string, which says nothing more
    return sorted(map(canonical, listed))
