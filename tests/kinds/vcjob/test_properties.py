"""Properties of a Volcano Job: what must hold for every object, sound or not."""

import copy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crdgen.evaluate import Evaluator
from jobgate.kinds.vcjob import VCJOB
from jobgate.render.definitions import definition
from tests.kinds.vcjob.jobs import mutate, template, validate
from webhook import Context, Operation
from webhook.review import mutated

EVALUATOR = Evaluator(definition(VCJOB)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 3.0, 1.5, -1, 2**31 - 1, 2**63, "", "a", "A_b", "hard", "*", [], {}, [{}], [None], {"a": "b"}]
).map(copy.deepcopy)
NAME = st.sampled_from(["a", "b", "master", ""])
COUNT = st.integers(0, 6) | ODD
POLICY = st.fixed_dictionaries(
    {},
    optional={
        "event": st.sampled_from(["*", "PodFailed"]) | ODD,
        "events": ODD,
        "exitCode": COUNT,
        "action": st.just("RestartJob") | ODD,
    },
)
TOPOLOGY = st.fixed_dictionaries({}, optional={"mode": ODD, "highestTierAllowed": COUNT, "highestTierName": ODD}) | ODD
PARTITIONS = st.fixed_dictionaries(
    {},
    optional={"totalPartitions": COUNT, "partitionSize": COUNT, "minPartitions": COUNT, "networkTopology": TOPOLOGY},
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "A"]), "image": st.just("i")},
    optional={
        "resources": st.fixed_dictionaries(
            {},
            optional={
                side: st.dictionaries(
                    st.sampled_from(["cpu", "nvidia.com/gpu"]), st.sampled_from([1, "1", "1500m", "1e1.5", None])
                )
                | ODD
                for side in ("limits", "requests")
            },
        ),
        "volumeMounts": st.just([{"name": "v", "mountPath": "/a"}]) | ODD,
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "name": NAME | ODD,
        "replicas": COUNT,
        "minAvailable": COUNT,
        "maxRetry": ODD,
        "template": st.builds(
            lambda containers, network: template(containers=containers, hostNetwork=network),
            st.lists(CONTAINER, max_size=2),
            st.booleans() | ODD,
        )
        | ODD,
        "topologyPolicy": st.just("restricted") | ODD,
        "partitionPolicy": PARTITIONS | ODD,
        "dependsOn": st.fixed_dictionaries({"name": st.lists(NAME, max_size=2)}) | ODD,
        "policies": st.lists(POLICY, max_size=2) | ODD,
    },
)
VOLUME = st.fixed_dictionaries(
    {},
    optional={
        "mountPath": st.sampled_from(["/a", "/b"]) | ODD,
        "volumeClaimName": NAME | ODD,
        "volumeClaim": st.just({"accessModes": ["ReadWriteOnce"]}) | ODD,
    },
)
PLUGINS = st.dictionaries(
    st.sampled_from(["svc", "ssh", "env", "mpi", "ray", "other"]),
    st.lists(st.sampled_from(["--master", "--master=a", "--port=x", "-", "--", "a", ""]), max_size=3) | ODD,
    max_size=3,
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "tasks": st.lists(TASK, max_size=3) | ODD,
        "minAvailable": COUNT,
        "queue": st.just("root") | ODD,
        "maxRetry": ODD,
        "schedulerName": ODD,
        "plugins": PLUGINS | ODD,
        "policies": st.lists(POLICY, max_size=2) | ODD,
        "volumes": st.lists(VOLUME, max_size=3) | ODD,
        "networkTopology": TOPOLOGY,
        "unknown": ODD,
    },
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["job", "my.job"]) | ODD, "generateName": ODD})
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("batch.volcano.sh/v1alpha1"), "kind": st.just("Job")},
    optional={"metadata": METADATA | ODD, "spec": SPEC | ODD, "status": ODD},
)
MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@MANY
@given(JOB)
def test_the_patch_applied_gives_the_object_with_its_defaults(job: dict[str, Any]) -> None:
    before = copy.deepcopy(job)
    draft = mutated(VCJOB, job, Context())
    assert job == before
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value


@MANY
@given(JOB)
def test_defaulting_twice_changes_nothing_more(job: dict[str, Any]) -> None:
    once = mutated(VCJOB, job, Context()).value
    for operation in (Operation.CREATE, Operation.UPDATE):
        assert mutated(VCJOB, once, Context(operation=operation)).patch == []


@MANY
@given(JOB)
def test_the_order_of_both_sorts_of_defaults_does_not_matter(job: dict[str, Any]) -> None:
    ours_first = EVALUATOR.default(mutated(VCJOB, job, Context()).value)
    assert ours_first == mutated(VCJOB, EVALUATOR.default(job), Context()).value


@MANY
@given(JOB, JOB | st.none())
def test_no_object_makes_the_review_fall_over(job: dict[str, Any], old: dict[str, Any] | None) -> None:
    for ask in (mutate, validate):
        response = ask(job, old)
        assert response.allowed is (not response.causes)
        assert response.to_review()["response"]["uid"] == "1"


@MANY
@given(JOB)
def test_what_is_allowed_is_allowed_again_unchanged(job: dict[str, Any]) -> None:
    mutation = mutate(job)
    if not mutation.allowed:
        return
    stored = jsonpatch.apply_patch(job, list(mutation.patch))
    assert not mutate(stored).patch
    assert validate(stored).allowed is validate(job).allowed


@MANY
@given(JOB)
def test_any_stored_job_can_be_given_another_priority(job: dict[str, Any]) -> None:
    stored = EVALUATOR.default(EVALUATOR.prune(job))
    if not isinstance(stored.get("spec"), dict):
        return
    edited = stored | {"spec": stored["spec"] | {"priorityClassName": "other"}}
    for ask in (mutate, validate):
        assert not ask(edited, stored).causes
