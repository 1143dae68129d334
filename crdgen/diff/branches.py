"""`allOf`, `anyOf`, `oneOf`, `not`: what can be told of them without solving them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import REFUSES, Change
from crdgen.diff.pair import Pair
from crdgen.look import canonical, members
from crdgen.words import INT_OR_STRING

_EITHER: Final = canonical([{"type": "integer"}, {"type": "string"}])
_FIX: Final = "keep the branches, or show that every stored object passes the new ones"


def branches(pair: Pair) -> Iterator[Change]:
    """Yield changes of branches; whether they refuse more is told by their number, and else taken for likely."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        was, now = _counted(pair.old, keyword), _counted(pair.new, keyword)
        if was != now:
            yield _told(pair, keyword, tighter=_is_tighter(keyword, was, now))
    if canonical(pair.old.get("not")) != canonical(pair.new.get("not")):
        yield _told(pair, "not", tighter=pair.new.get("not") is not None)


def _is_tighter(keyword: str, was: Counter[str], now: Counter[str]) -> bool:
    if not now:
        return False
    if keyword == "allOf":
        return not now.keys() <= was.keys()
    # Of several, one is enough; of oneOf, another branch may be one too many.
    return keyword == "oneOf" or not was or not was.keys() <= now.keys()


def _told(pair: Pair, keyword: str, *, tighter: bool) -> Change:
    if tighter:
        return pair.change(f"{keyword} is otherwise: values that were taken may be refused", *REFUSES, fix=_FIX)
    return pair.change(f"{keyword} is otherwise, and refuses no more than before")


def _counted(schema: Mapping[str, Any], keyword: str) -> Counter[str]:
    listed = members(schema.get(keyword))
    if keyword == "anyOf" and schema.get(INT_OR_STRING) and canonical(listed) == _EITHER:
        return Counter()  # the usual way to write int-or-string, which says nothing more
    return Counter(canonical(branch) for branch in listed)
