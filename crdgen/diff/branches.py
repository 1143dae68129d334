"""Changes of `allOf`, `anyOf`, `oneOf` and `not`, compared without a solver."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from crdgen.diff.change import REFUSES, Change
from crdgen.diff.pair import SchemaPair
from crdgen.schema import INT_OR_STRING, PRESERVE
from crdgen.schema.look import canonical, mapping, members

#: Whether a schema takes all that another one took: `looser(old, new)`.
Looser: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]

_BRANCHES: Final = frozenset({"allOf", "anyOf", "oneOf", "not"})
_EITHER: Final = canonical([{"type": "integer"}, {"type": "string"}])


def branches(pair: SchemaPair, looser: Looser) -> Iterator[Change]:
    """Yield changes of branches, which count as breaking if that cannot be ruled out."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        was, now = _listed(pair.old, keyword), _listed(pair.new, keyword)
        if sorted(map(canonical, was)) != sorted(map(canonical, now)):
            yield _told(pair, keyword, tighter=not _WIDER[keyword](was, now, looser))
    before, after = pair.old.get("not"), pair.new.get("not")
    if canonical(before) != canonical(after):
        less = isinstance(before, Mapping) and isinstance(after, Mapping) and looser(_open(after), _open(before))
        yield _told(pair, "not", tighter=after is not None and not less)


def _every(was: list[Any], now: list[Any], looser: Looser) -> bool:
    """Of all branches, each new one is to take what one of the old ones took."""
    return all(any(looser(one, other) for one in was) for other in now)


def _some(was: list[Any], now: list[Any], looser: Looser) -> bool:
    """Of several branches one is enough: what each of the old ones took, one of the new ones is to take."""
    return not now or (bool(was) and all(any(looser(one, other) for other in now) for one in was))


def _one(_was: list[Any], now: list[Any], _looser: Looser) -> bool:
    """Of exactly one branch, another one may be one too many, and so may one that takes more."""
    return not now


_WIDER: Final[Mapping[str, Callable[[list[Any], list[Any], Looser], bool]]] = {
    "allOf": _every,
    "anyOf": _some,
    "oneOf": _one,
}


def _told(pair: SchemaPair, keyword: str, *, tighter: bool) -> Change:
    if tighter:
        return pair.change(
            f"{keyword} changed: previously valid values may be rejected",
            *REFUSES,
            fix=pair.for_new("keep the branches"),
        )
    return pair.change(f"{keyword} changed, and accepts all previously valid values")


def _listed(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    listed = members(schema.get(keyword))
    if keyword == "anyOf" and schema.get(INT_OR_STRING) and canonical(listed) == _EITHER:
        return []  # the usual way to write int-or-string, which says nothing more
    return [_open(branch) for branch in listed]


def _open(branch: Any) -> Any:
    """Return a branch as a schema of its own: it prunes nothing, so that any field may be in what it judges."""
    if not isinstance(branch, Mapping):
        return branch
    below: dict[str, Any] = {keyword: branch[keyword] for keyword in branch if keyword not in _BRANCHES}
    if "properties" in below:
        below["properties"] = {name: _open(child) for name, child in mapping(branch, "properties").items()}
    below |= {keyword: _open(branch[keyword]) for keyword in ("items", "additionalProperties") if keyword in branch}
    return {**branch, **below, PRESERVE: True}
