"""What must hold for every job of every kind, sound or not."""

import copy
from collections.abc import Callable
from functools import cache, partial
from pkgutil import resolve_name
from typing import Any, NamedTuple

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import ValidationError

from crdgen.evaluate import Evaluator
from jobgate.installation.definitions import definition
from jobgate.installation.handbook import title
from jobgate.jobs.context import Context, Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds import BUILT_IN
from jobgate.kinds.mxjob.spellings import respelled
from jobgate.rules.updates import UpdateRule
from tests.kinds.reviews import Reviews
from tests.kinds.samples import Sample, minimal, sample_of
from tests.kinds.strategies import jobs_of
from webhook import Operation, Response
from webhook.review import defaulted

Json = dict[str, Any]


class Subject(NamedTuple):
    """A kind, and its reviews."""

    kind: JobKind
    sample: Sample
    mutate: Callable[..., Response]
    validate: Callable[..., Response]
    context: Context


def subject_of(kind: JobKind) -> Subject:
    sample, reviews = sample_of(kind), Reviews(kind)
    words: Json = {"operator_can": sample.operator_can, "settings": dict(sample.settings)}
    context = Context(settings=Settings(kinds=sample.settings))
    return Subject(kind, sample, partial(reviews.mutate, **words), partial(reviews.validate, **words), context)


SUBJECTS = {title(kind): subject_of(kind) for kind in map(resolve_name, BUILT_IN.values())}


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_harmless_change_of_the_smallest_job_is_allowed(name: str) -> None:
    subject = SUBJECTS[name]
    stored = defaulted(subject.kind, minimal(subject.kind), subject.context).value
    changed = stored | {"spec": stored["spec"] | subject.sample.harmless}
    assert subject.validate(changed, stored).causes == []
    always = {path for rule in subject.kind.rules if isinstance(rule, UpdateRule) for path in rule.table.fields}
    assert subject.sample.harmless or always <= {"spec.plugins"}, "name a field that may change"


@cache
def evaluator_of(name: str) -> Evaluator:
    return Evaluator(definition(SUBJECTS[name].kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)

each_kind = pytest.mark.parametrize("name", SUBJECTS)
many = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
drawn = given(data=st.data())


@each_kind
@many
@drawn
def test_a_mutation_adds_what_is_absent_and_its_patch_gives_the_object(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    job = data.draw(jobs_of(subject.kind))
    before = copy.deepcopy(job)
    draft = defaulted(subject.kind, job, subject.context)
    assert job == before
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value
    for operation in draft.patch:
        assert operation["op"] == "add"
        *way, last = operation["path"].split("/")[1:]
        place: Any = job
        for step in way:
            place = (place[int(step)] if isinstance(place, list) else place.get(step)) if place else None
        assert not isinstance(place, dict) or place.get(last) is None


@each_kind
@many
@drawn
def test_defaulting_twice_changes_nothing_more(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    once = defaulted(subject.kind, data.draw(jobs_of(subject.kind)), subject.context).value
    assert defaulted(subject.kind, once, subject.context).patch == []
    assert defaulted(subject.kind, once, replace(subject.context, operation=Operation.UPDATE)).patch == []


@each_kind
@many
@drawn
def test_defaults_of_schema_and_mutation_agree_in_any_order(name: str, data: st.DataObject) -> None:
    subject, evaluator = SUBJECTS[name], evaluator_of(name)
    job = data.draw(jobs_of(subject.kind))
    schema_first = defaulted(subject.kind, evaluator.default(job), subject.context).value
    assert evaluator.default(defaulted(subject.kind, job, subject.context).value) == schema_first


@pytest.mark.parametrize("name", [name for name, subject in SUBJECTS.items() if not subject.sample.wide_model])
@many
@drawn
def test_the_model_takes_what_the_schema_takes(name: str, data: st.DataObject) -> None:
    subject, evaluator = SUBJECTS[name], evaluator_of(name)
    spec = data.draw(jobs_of(subject.kind)).get("spec")
    given_: Json = {
        "apiVersion": "a/v1",
        "kind": subject.kind.kind,
        "metadata": {},
        "spec": spec if isinstance(spec, dict) else {},
    }
    job = evaluator.default(evaluator.prune(given_))
    # Inside a template, and in volumes, the schema alone judges.
    outside = [
        one for one in evaluator.validate(job) if "template" not in one.path[:-1] and one.path[1:2] != ("volumes",)
    ]
    assert bool(outside) is bool(_refused_by_the_model(subject.kind, job["spec"]))


def _refused_by_the_model(kind: JobKind, spec: Any) -> list[Any]:
    try:
        kind.spec.model_validate(spec)
    except ValidationError as error:
        return [one for one in error.errors() if one["loc"][:1] != ("volumes",)]
    return []


@each_kind
@many
@drawn
def test_no_object_makes_the_review_fall_over(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    job, old = data.draw(st.tuples(jobs_of(subject.kind), jobs_of(subject.kind) | st.none()) | st.tuples(JSON, JSON))
    for ask in (subject.mutate, subject.validate):
        response = ask(job, old)
        assert response.allowed is (not response.causes)
        assert response.to_review()["response"]["uid"] == "1"


@many
@given(JSON, JSON)
def test_no_json_makes_the_respelling_of_a_stored_job_fall_over(stored: Any, written: Any) -> None:
    respelled(stored, written)


@each_kind
@many
@drawn
def test_what_is_allowed_is_allowed_again_unchanged_and_after_any_rewrite(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    job = data.draw(jobs_of(subject.kind))
    mutation = subject.mutate(job)
    if not mutation.allowed:
        return
    stored = jsonpatch.apply_patch(job, list(mutation.patch))
    if subject.validate(stored).allowed:
        assert not subject.mutate(stored).patch
        assert subject.validate(stored, stored | {"metadata": {"labels": {}}}).allowed


@each_kind
@many
@drawn
def test_an_edit_of_another_field_of_any_stored_job_is_allowed(name: str, data: st.DataObject) -> None:
    """Ratcheting: whatever had been let in, an edit that breaks nothing more goes through."""
    subject, evaluator = SUBJECTS[name], evaluator_of(name)
    stored = evaluator.default(evaluator.prune(data.draw(jobs_of(subject.kind))))
    if isinstance(stored.get("spec"), dict):
        for ask in (subject.mutate, subject.validate):
            assert not ask(stored | {"spec": stored["spec"] | subject.sample.harmless}, stored).causes
