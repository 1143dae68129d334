"""The cases: single edits, pairs of edits, real definitions with random changes, and random schemas."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tests.differential.crds.costs import definitions
from tests.differential.crds.definitions import Definition, bare, plain, real
from tests.differential.crds.edits import EDITS, Edit, broken
from tests.differential.crds.mutations import defaulted
from tests.differential.crds.soup import schema
from tests.differential.crds.spelling import spelled

SEED = 20261122
_PAIRS, _MUTATED, _RANDOM = 400, 200, 400
_SAMPLE = 100


@dataclass(frozen=True)
class Case:
    """A definition, and its family of cases."""

    family: str
    name: str
    definition: Definition


def full(seed: int = SEED) -> Iterator[Case]:
    """Yield all cases; the same seed gives the same cases."""
    yield Case("as they are", "plain", plain())
    for definition in real():
        yield Case("as they are", definition["metadata"]["name"], definition)
    for edit in EDITS:
        yield Case("one edit", edit.name, broken(edit))
    chosen = random.Random(seed)
    for _ in range(_PAIRS):
        pair: list[Edit] = chosen.sample(EDITS, 2)
        yield Case("two edits", " and ".join(edit.name for edit in pair), broken(*pair))
    bases = real()
    for index in range(_MUTATED):
        base = bases[index % len(bases)]
        definition, done = defaulted(base, chosen)
        yield Case("real, mutated", f"{base['metadata']['name']}: {done}", definition)
    for index in range(_RANDOM):
        yield Case("random schemas", f"number {index}", bare(schema(chosen, depth=3)))
    for name, definition in definitions():
        yield Case("rules at their limit", name, definition)
    for name, definition in spelled():
        yield Case("spelling of rules", name, definition)


def sample(seed: int = SEED) -> list[Case]:
    """Return some cases of each family, for the tests."""
    families: dict[str, list[Case]] = {}
    for case in full(seed):
        families.setdefault(case.family, []).append(case)
    chosen = random.Random(seed)
    each = _SAMPLE // len(families)
    return [case for cases in families.values() for case in islice(chosen.sample(cases, len(cases)), each)]
