"""No job has more tasks than its CRD allows, and nothing looks into them all to say so."""

from typing import Any

import pytest

from jobgate.installation.handbook import title
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from jobgate.limits import ENTRIES_LIMIT
from tests.hostile.shapes import job, template
from tests.kinds.samples import first_name, holds_one_task_each, task_shape
from webhook import Operation, Phase, Registry, Request, Response, review

KINDS = Registry(built_in())
MORE = ENTRIES_LIMIT + 1
#: No boolean.
WRONG = "yes"
#: The kinds whose tasks are a list or a map.
COUNTED = [kind for kind in built_in() if not holds_one_task_each(kind)]


def ask(kind: JobKind, phase: Phase, document: dict[str, Any], old: dict[str, Any] | None = None) -> Response:
    operation = Operation.UPDATE if old else Operation.CREATE
    request = Request("1", kind.gvk.api_version, kind.kind, operation, document=document, old_document=old)
    return review(request, phase, KINDS, Settings())


def parts(kind: JobKind) -> str:
    return str(kind.field("tasks").path)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("kind", COUNTED, ids=title)
def test_too_many_tasks_are_one_cause(kind: JobKind, phase: Phase) -> None:
    (cause,) = ask(kind, phase, tasks(kind, MORE)).causes
    assert (str(cause.path), cause.reason) == (parts(kind), "FieldValueTooMany")
    assert str(MORE) in cause.message
    assert str(ENTRIES_LIMIT) in cause.message


@pytest.mark.parametrize("kind", COUNTED, ids=title)
def test_as_many_tasks_as_there_may_be_are_looked_into(kind: JobKind) -> None:
    documents = [tasks(kind, ENTRIES_LIMIT), tasks(kind, ENTRIES_LIMIT, hostPID=WRONG)]
    sound, broken = [{str(cause) for cause in ask(kind, Phase.VALIDATE, document).causes} for document in documents]
    assert broken - sound
    assert not any("Too many" in cause for cause in sound | broken)


@pytest.mark.parametrize("kind", COUNTED, ids=title)
def test_too_many_tasks_that_are_stored_stay_and_do_not_change(kind: JobKind) -> None:
    stored = tasks(kind, MORE)
    labelled = {**stored, "spec": {**stored["spec"], "plugins": {}}}
    assert not [cause for cause in ask(kind, Phase.VALIDATE, labelled, stored).causes if cause.path == parts(kind)]
    changed = tasks(kind, MORE, hostPID=WRONG)
    assert [cause.path for cause in ask(kind, Phase.VALIDATE, changed, stored).causes] == [parts(kind)]


def tasks(kind: JobKind, count: int, **last: Any) -> dict[str, Any]:
    """A job of so many tasks, of which the last one's pods have these fields."""
    chosen = "enum" in task_shape(kind).below(kind.field("tasks.name").path.steps[-1]).node
    names = [first_name(kind) if chosen else f"t{number}" for number in range(count)]
    templates = [*[template()] * (count - 1), template(**last)]
    return job(kind, ((name, {"template": one}) for name, one in zip(names, templates, strict=True)))


@pytest.mark.parametrize("phase", Phase)
def test_a_job_that_takes_too_long_to_judge_should_have_fewer_tasks(phase: Phase) -> None:
    kind = COUNTED[0]
    request = Request("1", kind.gvk.api_version, kind.kind, Operation.CREATE, document=job(kind, []))
    (cause,) = review(request, phase, KINDS, Settings(), spent=lambda: True).causes
    assert str(cause) == "it takes too long to judge: make it smaller, for example with fewer tasks"
