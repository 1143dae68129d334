"""A value of any type at any place of a job is answered: no rule reads a field that the schema rejects."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import cycle, product
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.plugins.queueing import Queueing
from tests.kinds.places import KINDS, at, places, with_value
from tests.kinds.reviews import request_of
from webhook import Phase, Request, review

WRONG: tuple[Any, ...] = (None, 7, -1.5, True, "x", [], {}, ["x"], [["x"]], {"x": {}}, [{}, {"x": 7}])
#: Settings with jobs run by their operators, and by jobgate.
SETTINGS = [
    Settings(plugins={Queueing.name: Queueing.arguments.model_validate({"system": system})}, runs=frozenset(runs))
    for system, runs in (("kueue", ()), ("volcano", (kind.qualified_plural for kind in KINDS)))
]


def request(document: Any, old: Any, kind: Any) -> Request:
    return request_of(kind, document, old, name="train", namespace="team")


def first_task_first(document: dict[str, Any]) -> dict[str, Any]:
    """Give one task a priority, and the job a minimum, a queue and a status: these say how tasks compare."""
    result = deepcopy(document)
    spec = result.get("spec")
    if isinstance(spec, dict):
        spec.update({"minAvailable": 2, "queue": "team"})
        tasks = spec.get("tasks")
        template = (
            tasks[0].get("template") if isinstance(tasks, list) and tasks and isinstance(tasks[0], dict) else None
        )
        if isinstance(template, dict) and isinstance(template.get("spec"), dict):
            template["spec"]["priorityClassName"] = "high"
    return result | {"status": {"phase": "Running", "state": {"phase": "Running"}}}


def cases() -> Iterator[Any]:
    for document, steps in places():
        if "template" not in steps or steps[-1] == "template":
            yield pytest.param(document, steps, id=f"{document['kind']}-{'.'.join(map(str, steps))}")


@pytest.mark.parametrize(("document", "steps"), list(cases()))
def test_a_value_of_any_type_is_answered_in_a_new_job_and_in_a_stored_one(document: Any, steps: Any) -> None:
    kind = KINDS.get(document["apiVersion"], document["kind"])
    whole = first_task_first(document)
    assert at(whole, steps) is not Ellipsis
    for value in WRONG:
        broken = with_value(whole, steps, value)
        # Each of the settings sees the value in a new and in a stored job.
        pairs = ((broken, None), (broken, whole), (whole, broken), (broken, broken))
        for ((new, old), settings), phase in product(zip(pairs, cycle(SETTINGS), strict=False), Phase):
            answer = review(request(new, old, kind), phase, KINDS, settings).to_review()["response"]
            assert answer["uid"] == "1"
