"""Properties of DIJob: what must hold for every object, sound or not."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crdgen.evaluate import Evaluator
from jobgate.kinds.common.defaults import fill
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.dijob.models import DIJobSpec
from jobgate.render.definitions import definition
from tests.kinds.dijob.jobs import mutate, template, validate
from webhook import Context, Draft
from webhook.review import mutated

EVALUATOR = Evaluator(definition(DIJOB)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, 2, 3.0, 1.5, -1, 2**31 - 1, 2**31, 2**63, "", "3", "learner", "none", "None", "high",
     "Running", "a", "A_b", [], {}, [{}], [None], {"a": "b"}]
).map(copy.deepcopy)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "di-container", "A"]), "image": st.just("ding")},
    optional={
        "resources": st.fixed_dictionaries(
            {},
            optional={
                side: st.dictionaries(
                    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"]),
                    st.sampled_from([1, "1", "2Gi", "1e1.5", None, 0.5]),
                    max_size=2,
                )
                | ODD
                for side in ("limits", "requests")
            },
        )
        | ODD
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "learner"]) | ODD,
        "type": st.sampled_from(["learner", "collector", "none"]) | ODD,
        "replicas": st.integers(1, 5) | ODD,
        "template": st.lists(CONTAINER, max_size=2).map(lambda containers: template(containers=containers)) | ODD,
    },
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "priority": ODD,
        "cleanPodPolicy": ODD,
        "preemptible": ODD,
        "backoffLimit": ODD,
        "minReplicas": ODD,
        "maxReplicas": ODD,
        "volumes": st.just([{"name": "v", "emptyDir": {}}]) | ODD,
        "tasks": st.lists(TASK, max_size=3) | ODD,
        "unknown": ODD,
    },
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.just("job") | ODD, "generateName": ODD}) | ODD
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("diengine.opendilab.org/v2alpha1"), "kind": st.just("DIJob")},
    optional={"metadata": METADATA, "spec": SPEC | ODD, "status": JSON},
)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(JOB)
def test_the_patch_applied_gives_the_object_with_its_defaults(job: dict[str, Any]) -> None:
    before = copy.deepcopy(job)
    draft = mutated(DIJOB, job, Context())
    assert job == before
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value


@MANY
@given(JOB)
def test_defaulting_twice_changes_nothing_more(job: dict[str, Any]) -> None:
    once = mutated(DIJOB, job, Context()).value
    assert mutated(DIJOB, once, Context()).patch == []


@MANY
@given(JOB)
def test_a_mutation_only_adds_what_is_absent(job: dict[str, Any]) -> None:
    for operation in mutated(DIJOB, job, Context()).patch:
        assert operation["op"] == "add"
        *way, last = operation["path"].split("/")[1:]
        place: Any = job
        for step in way:
            place = (place[int(step)] if isinstance(place, list) else place.get(step)) if place else None
        assert not isinstance(place, dict) or place.get(last) is None


@MANY
@given(JOB)
def test_what_the_crd_defaults_mutation_defaults_to_the_same(job: dict[str, Any]) -> None:
    schema_first = EVALUATOR.default(job)
    draft = Draft(schema_first)
    if (spec := draft.at("spec")) is not None:
        fill(spec, DIJobSpec)
        assert draft.patch == []
    ours_first = mutated(DIJOB, job, Context()).value
    assert EVALUATOR.default(ours_first) == mutated(DIJOB, schema_first, Context()).value


@MANY
@given(SPEC)
def test_the_model_takes_what_the_schema_takes(spec: dict[str, Any]) -> None:
    job = EVALUATOR.default(EVALUATOR.prune({"apiVersion": "a/v1", "kind": "DIJob", "metadata": {}, "spec": spec}))
    violations = EVALUATOR.validate(job)
    # Inside a template the schema alone judges.
    outside = [one for one in violations if "template" not in one.path[:-1] and one.path[1:2] != ("volumes",)]
    assert bool(outside) is bool(_refused_by_the_model(job["spec"]))


def _refused_by_the_model(spec: Any) -> list[Any]:
    """Return the errors of the model, but for those inside volumes, where the schema alone judges."""
    try:
        DIJobSpec.model_validate(spec)
    except ValidationError as error:
        return [one for one in error.errors() if one["loc"][:1] != ("volumes",)]
    return []


@MANY
@given(JOB, JOB | st.none())
def test_no_object_makes_the_review_fall_over(job: dict[str, Any], old: dict[str, Any] | None) -> None:
    for ask in (mutate, validate):
        response = ask(job, old)
        assert response.allowed is (not response.causes)
        assert response.to_review()["response"]["uid"] == "1"


@MANY
@given(JSON, JSON)
def test_nor_does_any_json(job: Any, old: Any) -> None:
    assert mutate(job, old).to_review()
    assert validate(job, old).to_review()


@MANY
@given(JOB)
def test_what_is_allowed_is_allowed_again_unchanged_and_after_any_rewrite(job: dict[str, Any]) -> None:
    mutation = mutate(job)
    if not mutation.allowed:
        return
    stored = jsonpatch.apply_patch(job, list(mutation.patch))
    if validate(stored).allowed:
        assert not mutate(stored).patch
        assert validate(stored, stored | {"metadata": {"labels": {}}}).allowed


@MANY
@given(JOB)
def test_an_edit_of_another_field_of_any_stored_job_is_allowed(job: dict[str, Any]) -> None:
    """Ratcheting: whatever had been let in, an edit that breaks nothing more goes through."""
    stored = EVALUATOR.default(EVALUATOR.prune(job))
    if not isinstance(stored.get("spec"), dict):
        return
    edited = stored | {
        "spec": stored["spec"] | {"priority": "high" if stored["spec"].get("priority") != "high" else "normal"}
    }
    for ask in (mutate, validate):
        assert not ask(edited, stored).causes
