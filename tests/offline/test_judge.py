"""The verdict of API server and webhook together: versions, rules on updates, rules that fail."""

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

from crdgen import Atomic, Conversion, CustomResource, Model, Names, OpenPodTemplate, ValidationRule, Version, cel
from jobgate.jobs.binding import bind
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.operator import Operator
from jobgate.jobs.task import Task
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from webhook import Cause, Invalid, Operation, Path, Registry, rule


class OrderTask(Model):
    template: OpenPodTemplate


class OldOrder(Model):
    size: int = 1
    tasks: Annotated[list[OrderTask], Atomic, Field(default_factory=list)]


class Order(Model):
    size: Annotated[int, ValidationRule("self >= oldSelf", message="must not shrink")] = 1
    color: str = "red"
    tasks: Annotated[list[OrderTask], Atomic, Field(default_factory=list)]


@rule("size")
def an_order_is_small(job: Job[Order], _: Context) -> Iterator[Cause]:
    """At most nine; 13 and more are mistakes of the rule itself."""
    if job.spec.size == 13:
        raise KeyError("thirteen")
    if job.spec.size > 13:
        getattr(job.spec, "color" if job.spec.size == 14 else "price")
    if job.spec.size > 9:
        yield Invalid("spec.size", job.spec.size, "must be at most 9")


def kind(conversion: Conversion | None = None) -> JobKind:
    """Return a kind that is served in two versions, and was in a third."""
    versions = (
        Version("v2", spec=Order),
        Version("v1", spec=OldOrder, storage=False),
        Version("v0", spec=OldOrder, storage=False, served=False),
    )
    return bind(
        CustomResource("shop.example.com", Names(kind="Order"), versions, conversion=conversion),
        operator=Operator(name="tests", minor=36, pod_name="{job}-{task}-{index}"),
        tasks=lambda spec: [Task(Path("spec") / "tasks" / index, task) for index, task in enumerate(spec.tasks)],
        rules=(an_order_is_small,),
    )


def order(size: int, version: str = "v2", name: str = "one", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"shop.example.com/{version}",
        "kind": "Order",
        "metadata": {"name": name},
        "spec": {"size": size, **spec},
    }


def verdict(document: dict[str, Any], *stored: dict[str, Any], of: JobKind | None = None) -> Verdict:
    operation = Operation.UPDATE if stored else Operation.CREATE
    return judge(document, ReviewOptions(Registry([of or kind()]), operation=operation, stored=stored))


def causes(found: Verdict) -> list[str]:
    assert found.allowed is (found.status is None)
    return (
        [f"{cause['field']}: {cause['message']}" for cause in found.status["details"]["causes"]] if found.status else []
    )


BIG = "spec.size: Invalid value: 10: must be at most 9"
NO_TEMPLATE = "spec.tasks[0].template: Required value: must be set"
UNCHECKED = (
    ": Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
SMALLER = "spec.size: Invalid value: 3: must not shrink"


@pytest.mark.parametrize(
    "document, stored, expected",
    [
        (order(3), (), []),
        (order(3), (order(3),), []),
        (order(3), (order(4),), [SMALLER]),
        (order(3), (order(4, "v1"),), [SMALLER]),
        (order(3), (order(4, name="other"),), []),
        (order(10), (order(10),), []),
        (order(3, "v1"), (order(4),), []),  # v1 has no such rule
        (order(10, "v1"), (), [BIG]),
        (order(3, "v1", tasks=[{}]), (), [NO_TEMPLATE, UNCHECKED]),
    ],
)
def test_an_object_of_a_served_version_is_reviewed_with_the_rules_of_updates(
    document: dict[str, Any], stored: tuple[dict[str, Any], ...], expected: list[str]
) -> None:
    if not cel.available():
        pytest.skip("CEL rules need the library")
    result = verdict(document, *stored)
    assert result.reviewed
    assert causes(result) == expected
    assert result.document["apiVersion"] == document["apiVersion"]


def test_a_field_that_a_version_does_not_have_is_dropped() -> None:
    result = verdict(order(3, "v1", color="blue"))
    assert result.document["spec"] == {"size": 3, "tasks": []}
    assert any("spec.color: unknown field" in warning for warning in result.warnings)


def test_a_version_that_is_not_served_is_denied() -> None:
    assert "is not a kind of shop.example.com/v0" in causes(verdict(order(3, "v0")))[0]


def test_a_version_that_a_webhook_converts_is_not_reviewed_and_says_so() -> None:
    result = verdict(order(10, "v1"), of=kind(Conversion(url="https://convert.example.com/")))
    assert (result.allowed, result.reviewed) == (True, False)
    assert result.warnings == ("not reviewed: a conversion webhook converts it to shop.example.com/v2",)


@pytest.mark.parametrize(
    "document, fault",
    [
        (order(13), "KeyError: 'thirteen'"),
        (order(15), "AttributeError: 'Order' object has no attribute 'price'; add a field price to Order"),
    ],
)  # fmt: skip
def test_a_rule_that_fails_denies_its_object_by_name(document: dict[str, Any], fault: str) -> None:
    result = verdict(document)
    assert causes(result) == [f": rule an_order_is_small of Order failed on this object: {fault}"]
    assert result.status is not None
    assert result.status["message"].startswith('Order.shop.example.com "one" is invalid')
