"""Words for people: nothing breaks by them."""

from collections.abc import Iterator
from typing import Final

from crdgen.diff.change import Change
from crdgen.diff.pair import Pair
from crdgen.schema.look import canonical

_TEXTS: Final = ("description", "title", "example", "externalDocs")


def texts(pair: Pair) -> Iterator[Change]:
    """Yield which words are otherwise."""
    for keyword in _TEXTS:
        if canonical(pair.old.get(keyword)) != canonical(pair.new.get(keyword)):
            verb = "is new" if keyword not in pair.old else "is gone" if keyword not in pair.new else "is otherwise"
            yield Change(pair.path, f"{keyword} {verb}", text=True)
