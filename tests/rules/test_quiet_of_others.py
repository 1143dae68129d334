"""Quiet rules in kinds of other packages: what the built-in kinds do not have hides no fault there either."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from jobgate.jobs.binding import JobKind
from jobgate.kinds import built_in, registry
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from jobgate.rules.tasks import names_have_room
from tests.rules.test_plain_jobs import good
from webhook import Cause, Context, Job, Kind, Operation, Phase, Request, Required, review
from webhook import rule as make_rule

KINDS = {kind.kind: kind for kind in built_in() if isinstance(kind, JobKind)}


@make_rule(quiet={"queue": {"required": True}})
def jobs_are_queued(job: Job[Any], _: Context) -> Iterable[Cause]:
    """Every job names its queue."""
    if job.word("queue") is None:
        yield Required(job.at("queue"), "must name a queue")


def allowed(kind: Kind, document: dict[str, Any]) -> bool:
    request = Request("u", kind.gvk.api_version, kind.kind, Operation.CREATE, "train", "default", document=document)
    return review(request, Phase.VALIDATE, registry([kind])).allowed


def test_a_word_that_must_be_there_is_missed_without_the_object_around_it() -> None:
    kind = replace(KINDS["TorchJob"], rules=(*KINDS["TorchJob"].rules, jobs_are_queued))
    job = deepcopy(good(kind.kind))
    job["spec"]["schedulingPolicy"] = {"queue": "default"}
    assert allowed(kind, job)
    job["spec"]["schedulingPolicy"] = {}
    assert not allowed(kind, job)
    del job["spec"]["schedulingPolicy"]
    assert not allowed(kind, job)


def test_names_have_room_in_any_pattern_of_pod_names() -> None:
    kind, operator = KINDS["DIJob"], DI_ORCHESTRATOR
    job = good(kind.kind)
    for pattern, room in (("{job}-{task}-{index}", True), ("{job}-{job}-{task}-{index}", False), ("{index}", True)):
        changed = replace(kind, operator=replace(operator, pod_name=pattern))
        context = Context(namespace="default", name="a" * 30)
        assert names_have_room(Job(changed, job, plain=True), context) is room


def with_priorities(*priorities: str) -> Kind:
    @make_rule(quiet={"priority": {"enum": [*priorities]}})
    def priorities_are_known(_: Job[Any], __: Context) -> Iterable[Cause]:
        return ()

    return replace(KINDS["DIJob"], rules=(*KINDS["DIJob"].rules, priorities_are_known))


@pytest.mark.parametrize(("priority", "plain"), [("high", True), ("normal", False), ("unknown", False)])
def test_a_rule_is_quiet_for_some_values_of_an_enum_of_the_model(priority: str, plain: bool) -> None:
    job = deepcopy(good("DIJob"))
    job["spec"]["priority"] = priority
    assert with_priorities("high", "unknown").plain(job) is plain


def test_a_rule_that_can_never_be_quiet_is_reported_when_the_kind_is_bound() -> None:
    with pytest.raises(
        ValueError, match=r"priorities_are_known can never be quiet: spec\.priority: none of .unknown. "
    ):
        with_priorities("unknown")
