"""No object of a configured kind makes the review fail, whatever JSON is in it."""

import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from jobgate.configured.catalogue import Catalogued
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tests.corpus import CATALOGUE, jobs
from webhook import Operation, Phase, Request, review

KINDS = Catalogued(installed())
VALUES: tuple[Any, ...] = (None, True, 0, -1, 2**70, 1.5, "", "x", "{{x}}", "é\ud800", [], [None], [[]], {}, {"": None})


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container and key in a JSON value."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from places(part)


@pytest.mark.parametrize("file", sorted(CATALOGUE.glob("*.yaml")), ids=lambda file: file.stem)
def test_no_object_makes_the_review_fail(file: Path) -> None:
    (good,) = jobs(file)
    chance = random.Random(file.stem)
    for _ in range(60):
        document = deepcopy(good)
        for _ in range(chance.choice((1, 1, 2, 4))):
            container, key = chance.choice(list(places(document["spec"])) or [(document, "spec")])
            container[key] = deepcopy(chance.choice(VALUES))
        old = chance.choice((None, good))
        request = Request(
            uid="1",
            api_version=good["apiVersion"],
            kind=good["kind"],
            operation=Operation.UPDATE if old else Operation.CREATE,
            name="training",
            namespace="default",
            document=document,
            old_document=old,
        )
        for phase in Phase:
            assert review(request, phase, KINDS, Settings()).to_review()
