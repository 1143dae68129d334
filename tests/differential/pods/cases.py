"""All cases of a run: written by hand, by a walk over the schema, and with several mutations."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.differential.pods.bases import BASES
from tests.differential.pods.case import Case, written
from tests.differential.pods.systematic import mutations, systematic
from tests.differential.pods.tricky import tricky
from tests.differential.tables import changed

#: Number of drawn values for each field in the full run.
FULL_VALUES = 6
_SAMPLE_WALK = 120
_SAMPLE_MIXED = 30
_MIXED = 1500


def bases() -> Iterator[Case]:
    """Yield the valid Pods themselves, which must be accepted."""
    for name, pod in BASES.items():
        yield Case("mixed", f"the base {name} as it is", pod, "base")


def full(seed: int) -> list[Case]:
    """Return all cases of the full run, each title once."""
    return _once([*bases(), *tricky(), *systematic(seed, FULL_VALUES), *mixed(seed, _MIXED)])


def sample(seed: int) -> list[Case]:
    """Return the cases of `make test`: all cases written by hand, and some of the others."""
    return _once([*bases(), *tricky(), *systematic(seed, 2, _SAMPLE_WALK), *mixed(seed, _SAMPLE_MIXED)])


def mixed(seed: int, count: int) -> Iterator[Case]:
    """Yield Pods with two or three mutations at different places, to check that no fault hides another."""
    draw = random.Random(f"{seed} mixed")
    all_mutations = {name: list(mutations(pod, draw, 3)) for name, pod in BASES.items()}
    names = sorted(BASES)
    for _ in range(count):
        base = draw.choice(names)
        chosen = draw.sample(all_mutations[base], draw.choice((2, 2, 3)))
        pod = BASES[base]
        words = []
        for steps, what, value in chosen:
            try:
                pod = changed(pod, steps, value)
            except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):
                # An earlier mutation has removed the place.
                continue
            words.append(f"{written(steps)} {what}")
        yield Case("mixed", f"{base} {'; '.join(words)}", pod, "mixed")


def _once(cases: list[Case]) -> list[Case]:
    return list({case.title: case for case in reversed(cases)}.values())[::-1]
