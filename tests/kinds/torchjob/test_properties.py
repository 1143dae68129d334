"""Properties of TorchJob: what must hold for every object, sound or not."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crdgen import crd
from crdgen.evaluate import Evaluator
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.kinds.torchjob.models import TorchJobSpec
from tests.kinds.torchjob.jobs import elastic, mutate, output, template, validate
from webhook import Context
from webhook.review import mutated

EVALUATOR = Evaluator(crd(TORCHJOB.resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, 2, 3.0, 1.5, -1, 2**31 - 1, 2**31, 2**63, "", "3", "Master", "Running", "a", "A_b", [],
     {}, [{}], [None], {"a": "b"}, {"Master": None}]
).map(copy.deepcopy)  # fmt: skip
KEY = st.sampled_from(["Master", "master", "Worker", "WORKER", "AIMaster", "Other", "a.b", ""])
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["torch", "side"]), "image": st.just("pytorch")},
    optional={
        "ports": st.lists(st.just({"name": "torchjob-port", "containerPort": 1}) | ODD, max_size=2) | ODD,
        "terminationMessagePolicy": ODD,
        "env": st.just([{"name": "RANK", "value": "1"}]) | ODD,
        "resources": st.just({"requests": {"nvidia.com/gpu": 1}}) | ODD,
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "numTasks": st.integers(0, 4) | ODD,
        "restartPolicy": st.sampled_from(["ExitCode", "Always"]) | ODD,
        "dependsOn": st.lists(st.fixed_dictionaries({"dependsOn": KEY}), max_size=2) | ODD,
        "spotTaskSpec": st.fixed_dictionaries({}, optional={"numSpotTasks": ODD, "labels": ODD}) | ODD,
        "template": st.lists(CONTAINER, max_size=2).map(lambda containers: template(*containers)) | ODD,
    },
)
WORDS = ("clenPodPolicy", "cleanPodPolicy", "TTLSecondsAfterFinished", "ttlSecondsAfterFinished", "backoffLimit")
SPEC = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(WORDS, ODD),
        "schedulingPolicy": st.fixed_dictionaries({}, optional={"queue": ODD, "minAvailable": ODD}) | ODD,
        "minMembers": st.dictionaries(KEY, ODD, max_size=2) | ODD,
        "modelVersion": st.just(output()["modelVersion"]) | st.fixed_dictionaries({"spec": ODD, "status": ODD}) | ODD,
        "enableTorchElastic": ODD,
        "torchElasticPolicy": st.just(elastic()["torchElasticPolicy"])
        | st.fixed_dictionaries({"numMinReplicas": ODD, "rendezvousBackend": ODD})
        | ODD,
        "torchTaskSpecs": st.dictionaries(KEY, TASK | ODD, max_size=3) | ODD,
        "unknown": ODD,
    },
)
ANNOTATIONS = st.dictionaries(
    st.sampled_from(["distributed.io/network-mode", "distributed.io/enable-elastic-training"]),
    st.sampled_from(["true", "host"]) | ODD,
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.just("job") | ODD, "annotations": ANNOTATIONS | ODD}) | ODD
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("train.distributed.io/v1alpha1"), "kind": st.just("TorchJob")},
    optional={"metadata": METADATA, "spec": SPEC | ODD, "status": ODD},
)
MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(JOB)
def test_the_patch_applied_gives_the_object_with_its_defaults_and_adds_only_what_is_absent(job: dict[str, Any]) -> None:
    before = copy.deepcopy(job)
    draft = mutated(TORCHJOB, job, Context())
    assert job == before
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value
    assert {operation["op"] for operation in draft.patch} <= {"add"}


@MANY
@given(JOB)
def test_defaulting_twice_changes_nothing_more(job: dict[str, Any]) -> None:
    once = mutated(TORCHJOB, job, Context()).value
    assert mutated(TORCHJOB, once, Context()).patch == []


@MANY
@given(JOB)
def test_defaults_of_schema_and_mutation_agree_in_any_order(job: dict[str, Any]) -> None:
    ours_first = mutated(TORCHJOB, job, Context()).value
    assert EVALUATOR.default(ours_first) == mutated(TORCHJOB, EVALUATOR.default(job), Context()).value


@MANY
@given(SPEC)
def test_the_model_takes_what_the_schema_takes(spec: dict[str, Any]) -> None:
    job = EVALUATOR.default(EVALUATOR.prune({"apiVersion": "a/v1", "kind": "TorchJob", "metadata": {}, "spec": spec}))
    # Inside a template the schema alone judges.
    outside = [one for one in EVALUATOR.validate(job) if "template" not in one.path[:-1]]
    try:
        TorchJobSpec.model_validate(job["spec"])
    except ValidationError:
        assert outside
    else:
        assert not outside


@MANY
@given(JOB, JOB | st.none())
def test_no_object_makes_the_review_fall_over(job: dict[str, Any], old: dict[str, Any] | None) -> None:
    for ask in (mutate, validate):
        response = ask(job, old)
        assert response.allowed is (not response.causes)
        assert response.to_review()["response"]["uid"] == "1"


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
    edited = stored | {"spec": stored["spec"] | {"backoffLimit": 7}}
    for ask in (mutate, validate):
        assert not ask(edited, stored).causes
