"""Defaults of fields that were there before."""

from collections.abc import Iterator
from typing import Final

from crdgen.diff.change import REFUSES, Break, Change
from crdgen.diff.pair import Pair
from crdgen.diff.rules import is_strict
from crdgen.schema.look import canonical, shown

_FIX: Final = "keep the default in this version, and change it in a new one"


def defaults(pair: Pair) -> Iterator[Change]:
    """Yield the change of a default; null is none.

    Objects keep the default that they were stored with: what changes is what a manifest that leaves the field out asks
    for, and what objects have that were stored before there was a default.
    """
    old, new = pair.old.get("default"), pair.new.get("default")
    if canonical(old) == canonical(new):
        return
    if old is None:
        yield _new(pair, shown(new))
    elif new is None:
        what = f"default {shown(old)} is gone: who leaves the field out asks for something else, or is refused"
        yield pair.change(what, *REFUSES, fix="keep the default")
    else:
        what = f"default {shown(old)} is now {shown(new)}: who leaves the field out asks for something else"
        yield pair.change(what, Break.CLIENTS, fix=_FIX)


def _new(pair: Pair, value: str) -> Change:
    if pair.watched or pair.counted:
        what = f"default {value} is new, and counts in a rule, branch or bound around it"
        return pair.change(what, *REFUSES, fix="add no default")
    if is_strict(pair.new):
        what = f"default {value} is new, and a rule may refuse writes that leave it as it is"
        return pair.change(what, *REFUSES, fix="add no default")
    return pair.change(f"default {value} is new; stored objects without the field read as if they had it")
