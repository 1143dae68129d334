"""Prerequisites that are made to be slow or large to review, and pods of any shape: the work is bounded."""

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from jobgate.pods import shape
from jobgate.pods.items import ItemReviewer
from jobgate.prerequisites import item as items
from jobgate.prerequisites import resolve as resolution
from jobgate.prerequisites.item import FAULTS, faults
from jobgate.prerequisites.models import NAMESPACED
from jobgate.prerequisites.problem import Reason
from jobgate.prerequisites.resolve import resolve
from jobgate.prerequisites.values import fault_of_pattern, fault_of_value
from tests.prerequisites.items import Known, item, named
from webhook import Operation, Request, Response


def reviewed(spec: dict[str, Any]) -> Response:
    """Return the answer to a Prerequisite."""
    document = {"apiVersion": "jobgate.dev/v1alpha1", "kind": NAMESPACED, "metadata": {"name": "x"}, "spec": spec}
    request = Request(
        uid="1",
        api_version="jobgate.dev/v1alpha1",
        kind=NAMESPACED,
        operation=Operation.CREATE,
        name="x",
        namespace="default",
        document=document,
    )
    answer = asyncio.run(ItemReviewer().review(request))
    assert answer is not None
    return answer


def commands(text: str) -> dict[str, Any]:
    return {"cmd": {"callbacks": [{"event": "taskStarts", "commands": [text] * 32}] * 8}}


WRONG = {
    "placeholders of nothing": commands("".join(f"{{{{x{number % 1000}}}}}" for number in range(500))),
    "carriage returns": commands("\r" * 4096),
    "values that are no literals": {
        "require": [{"name": "a", "templateVariables": {f"k{number}": "{{v}}" for number in range(10_000)}}]
    },
}


@pytest.mark.parametrize("spec", WRONG.values(), ids=WRONG.keys())
def test_of_an_item_only_so_many_faults_are_looked_for(spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def counted(*of: Any) -> Iterator[Any]:
        nonlocal looked
        for fault in faults(*of):
            looked += 1
            yield fault

    monkeypatch.setattr(items, "faults", counted)
    answer = reviewed(spec)
    assert not answer.allowed
    assert len(answer.causes) == looked == FAULTS
    assert len(orjson.dumps(answer.to_review())) < 64 * 1024


def test_a_placeholder_is_named_once_for_a_text() -> None:
    answer = reviewed({"env": [{"name": "A", "value": "{{x}}" * 100_000}]})
    assert len(answer.causes) == 1


#: Each takes RE2 seconds or more to compile with the memory that it has by default.
COSTLY = [".{0,1000}" * 55, "(" + "|".join(["a{0,1000}"] * 40) + ")", "[^a]{0,1000}" * 40, "(?:\\w{0,1000}){0,1}" * 20]


@pytest.mark.parametrize("pattern", COSTLY, ids=lambda pattern: pattern[:12])
def test_a_pattern_that_takes_long_to_compile_is_refused_before(pattern: str) -> None:
    assert "too large" in (fault_of_pattern(pattern[:512]) or "")
    answer = reviewed({"templateVariables": [{"name": "a", "pattern": pattern[:512]}]})
    assert not answer.allowed


@pytest.mark.parametrize(
    "pattern, value",
    [
        ("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", "a-1.b"),
        ("s3://[a-z0-9.-]{3,63}/[A-Za-z0-9._/-]+", "s3://bucket/a/b"),
        ("(?i)[a-z]{1,255}", "Ab"),
        ("[1-9][0-9]{0,3}", "100"),
    ],
)
def test_what_people_write_is_no_pattern_that_is_too_large(pattern: str, value: str) -> None:
    assert fault_of_value(value, pattern) is None
    assert fault_of_value(value + "!", pattern)


def test_all_patterns_of_an_item_are_bounded_together() -> None:
    variables = [{"name": f"v{number}", "pattern": "a" * 512} for number in range(9)]
    assert reviewed({"templateVariables": variables[:8]}).allowed
    (cause,) = reviewed({"templateVariables": variables}).causes
    assert Reason.TOO_LARGE in cause.message


def test_values_that_take_long_to_match_end_the_resolution(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(value: str, pattern: str | None) -> str | None:
        tried.append(value)
        return fault_of_value(value, pattern)

    monkeypatch.setattr(resolution, "fault_of_value", counted)
    slow = [{"name": f"v{number}", "pattern": "(?:a?){300}(?:(?:a*)?){20}"} for number in range(32)]
    names = [f"x{number}" for number in range(32)]
    known = Known([item(name, templateVariables=slow) for name in names])
    values = {f"v{number}": "a" * 1024 for number in range(32)}
    found = resolve([named(name, **values) for name in names], known.find())
    assert {one.reason for one in found.problems} >= {Reason.TOO_LARGE}
    assert len(tried) < 64
    # So a job of many tasks has no more of them either.
    assert found.cost > 512


def test_of_a_pod_only_so_many_faults_are_looked_for() -> None:
    container = {"name": "c", "env": ["x"] * 100_000, "command": ["x"] * 100_000 + [1]}
    assert len(shape.faults({"spec": {"volumes": [1] * 100_000, "containers": [container]}})) == shape.ENOUGH
