"""Properties of MxJob: what must hold for every object, sound or not."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crdgen.evaluate import Evaluator
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.mxjob.accelerators import SETTINGS, MxJobSettings
from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.kinds.mxjob.spellings import respelled
from jobgate.render.definitions import definition
from tests.kinds.mxjob.jobs import mutate, template, validate
from tests.kinds.mxjob.test_accelerators import ACCELERATORS, GPU
from webhook import Context, Settings
from webhook.review import mutated

EVALUATOR = Evaluator(definition(MXJOB)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
CONTEXT = Context(settings=Settings(kinds={SETTINGS: MxJobSettings.model_validate({"accelerators": ACCELERATORS})}))

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 3.0, 1.5, -1, 65536, 2**31, "", "3", "local", "WORKER", "a1b2", "A_b", [], {}, [{}], [None],
     {"a": "b"}]
).map(copy.deepcopy)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def fields(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects of these fields, each of which may be absent, or hold something odd."""
    return st.fixed_dictionaries({}, optional={key: value | ODD for key, value in strategies.items()})


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", GPU, "example.com/npu"]), st.just(1), max_size=2) | ODD
NAMED = st.lists(fields(name=st.sampled_from(["drivers", "npu", "LD_LIBRARY_PATH"]), value=st.just("x"),
                        mountPath=st.sampled_from(["/npu", "/usr/local/nvidia"]), hostPath=st.just({"path": "/opt/npu"})),
                 max_size=2)  # fmt: skip
CONTAINER = fields(
    name=st.sampled_from(["mxnet", "other"]),
    image=st.just("i"),
    resources=fields(limits=AMOUNTS, requests=AMOUNTS),
    env=NAMED,
    volumeMounts=NAMED,
)
TEMPLATE = fields(
    spec=fields(containers=st.lists(CONTAINER, max_size=2), volumes=NAMED, restartPolicy=st.just("Never")),
    metadata=fields(labels=st.just({"job-name": "x"})),
)
ROLE = fields(
    replicas=st.integers(1, 3),
    mxReplicaType=st.sampled_from(["SCHEDULER", "SERVER", "WORKER"]),
    psRootPort=st.just(9000),
    PsRootPort=st.just(9000),
    template=TEMPLATE | st.builds(template),
)
SPEC = fields(
    jobMode=st.sampled_from(["local", "dist"]),
    runtimeId=st.just("a1b2"),
    RuntimeId=st.just("a1b2"),
    replicaSpecs=st.lists(ROLE, max_size=3),
)
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("mxnet.mlkube.io/v1beta1"), "kind": st.just("MxJob")},
    optional={"metadata": st.just({"name": "job"}) | ODD, "spec": SPEC | ODD, "status": JSON},
)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(JOB)
def test_the_patch_applied_gives_the_object_with_its_defaults(job: dict[str, Any]) -> None:
    before = copy.deepcopy(job)
    draft = mutated(MXJOB, job, CONTEXT)
    assert job == before
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value
    assert all(operation["op"] == "add" for operation in draft.patch)


@MANY
@given(JOB)
def test_defaulting_twice_changes_nothing_more(job: dict[str, Any]) -> None:
    once = mutated(MXJOB, job, CONTEXT).value
    assert mutated(MXJOB, once, CONTEXT).patch == []


@MANY
@given(JOB)
def test_what_the_crd_defaults_mutation_defaults_to_the_same(job: dict[str, Any]) -> None:
    schema_first = EVALUATOR.default(job)
    ours_first = mutated(MXJOB, job, CONTEXT).value
    assert EVALUATOR.default(ours_first) == mutated(MXJOB, schema_first, CONTEXT).value


@MANY
@given(SPEC)
def test_the_model_takes_what_the_schema_takes(spec: dict[str, Any]) -> None:
    job = EVALUATOR.default(EVALUATOR.prune({"apiVersion": "a/v1", "kind": "MxJob", "metadata": {}, "spec": spec}))
    # Inside a template the schema alone judges.
    outside = [one for one in EVALUATOR.validate(job) if "template" not in one.path[:-1]]
    try:
        MxJobSpec.model_validate(job["spec"])
    except ValidationError:
        assert outside
    else:
        assert not outside


@MANY
@given(JOB, JOB | st.none())
def test_no_object_makes_the_review_fall_over(job: dict[str, Any], old: dict[str, Any] | None) -> None:
    for ask in (mutate, validate):
        response = ask(job, old, accelerators=ACCELERATORS)
        assert response.allowed is (not response.causes)
        assert response.to_review()["response"]["uid"] == "1"


@MANY
@given(JSON, JSON)
def test_nor_does_any_json(job: Any, old: Any) -> None:
    assert mutate(job, old).to_review()
    assert validate(job, old).to_review()
    respelled(job, old)


@MANY
@given(JOB)
def test_what_is_allowed_is_allowed_again_unchanged(job: dict[str, Any]) -> None:
    mutation = mutate(job, accelerators=ACCELERATORS)
    if not mutation.allowed:
        return
    stored = jsonpatch.apply_patch(job, list(mutation.patch))
    if validate(stored, accelerators=ACCELERATORS).allowed:
        assert not mutate(stored, accelerators=ACCELERATORS).patch
        assert validate(stored, stored | {"metadata": {"labels": {}}}, accelerators=ACCELERATORS).allowed
