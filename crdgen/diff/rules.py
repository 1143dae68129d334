"""CEL rules."""

from collections.abc import Iterator, Mapping
from typing import Any

from crdgen.cel import uses_old_self
from crdgen.diff.change import REFUSES, Break, Change
from crdgen.diff.pair import Pair
from crdgen.look import canonical, named, shown
from crdgen.words import VALIDATIONS


def rules(pair: Pair) -> Iterator[Change]:
    """Yield rules that are new or gone; a rule whose text changed is one of each."""
    was, now = named(pair.old.get(VALIDATIONS), "rule"), named(pair.new.get(VALIDATIONS), "rule")
    for text in was.keys() - now.keys():
        yield pair.change(f"rule {shown(text)} is gone")
    for text, rule in now.items():
        if text not in was:
            yield _new(pair, text, rule)
        elif bool(was[text].get("optionalOldSelf")) != bool(rule.get("optionalOldSelf")):
            what = (
                f"rule {shown(text)} now holds {'also' if rule.get('optionalOldSelf') else 'no longer'} for new objects"
            )
            breaks = REFUSES if rule.get("optionalOldSelf") else ()
            yield pair.change(what, *breaks, fix="leave optionalOldSelf as it was" if breaks else "")
        elif canonical(was[text]) != canonical(rule):
            yield pair.change(f"rule {shown(text)} speaks otherwise of what it refuses")


def _new(pair: Pair, text: str, rule: Mapping[str, Any]) -> Change:
    if uses_old_self(text) and not rule.get("optionalOldSelf"):
        what = f"rule {shown(text)} is new: changes that were allowed may be refused"
        return pair.change(what, Break.CLIENTS, fix="allow what clients do today")
    fix = "let it pass what was stored before, as `oldSelf.hasValue() || …` does with optionalOldSelf"
    return pair.change(f"rule {shown(text)} is new: objects that were taken may be refused", *REFUSES, fix=fix)
