"""A kind without tasks: everything that is about jobs and pods leaves it alone."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from crdgen import CustomResource, Doc, Duration, Model, Names, Version
from jobgate.api import Cause, Context, Forbidden, Object, Operator, bind, rule
from jobgate.installation import Installation, objects
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.schema import StructuralSchema
from jobgate.jobs.wiring import followed, wired
from jobgate.kinds import built_in
from jobgate.offline.explanation import explain
from jobgate.offline.judge import ReviewOptions, judge
from webhook import Registry


class TopicSpec(Model):
    """A topic of messages."""

    partitions: Annotated[int, Field(ge=1), Doc("Number of partitions.")] = 1
    retention: Annotated[Duration | None, Doc("How long messages are kept.")] = None
    compacted: Annotated[bool, Doc("Whether only the last message of each key is kept.")] = False


def resource(**more: Any) -> CustomResource:
    return CustomResource("example.com", Names(kind="Topic"), (Version("v1", spec=TopicSpec),), **more)


@rule("compacted")
def compacted_topics_have_one_partition(topic: Object[TopicSpec], _: Context) -> Any:
    """Keys move between partitions."""
    if topic.spec.compacted and topic.spec.partitions > 1:
        yield Forbidden("spec.partitions", "must be 1 if the topic is compacted")


TOPIC = bind(resource(), rules=(compacted_topics_have_one_partition,))


@rule()
def zones_are_in_no_namespace(_: Object[TopicSpec], context: Context) -> Any:
    """The context of an object of the cluster has no namespace."""
    if context.namespace:
        yield Forbidden("metadata.namespace", f"must be empty, not {context.namespace}")


ZONE = bind(
    CustomResource("example.com", Names(kind="Zone"), (Version("v1", spec=TopicSpec),), scope="Cluster"),
    rules=(compacted_topics_have_one_partition, zones_are_in_no_namespace),
)
KINDS = Registry([*built_in(), TOPIC, ZONE])
OPTIONS = ReviewOptions(KINDS)


def topic(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Topic", "metadata": {"name": "orders"}, "spec": spec}


def test_it_is_no_kind_of_jobs() -> None:
    assert type(TOPIC) is CustomKind
    assert TOPIC not in [*wired(KINDS, {TOPIC.qualified_plural}), *followed(KINDS)]
    assert TOPIC.reviewed == {}


@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        ({"partitions": 4}, []),
        ({"partitions": 4, "compacted": True}, ["spec.partitions: Forbidden: must be 1 if the topic is compacted"]),
        ({"retention": "7d"}, ['spec.retention: Invalid value: "7d": must be a duration, such as 30s or 1h30m']),
        ({"retention": "168h"}, []),
        ({"partitions": 0}, ["spec.partitions: Invalid value: 0: must be at least 1"]),
    ],
)
def test_it_is_reviewed(spec: dict[str, Any], causes: list[str]) -> None:
    findings = [finding for _, finding in judge(topic(**spec), OPTIONS).findings]
    assert [str(finding) for finding in findings if isinstance(finding, Cause)] == causes


def test_an_object_of_the_cluster_is_in_no_namespace() -> None:
    assert judge({**topic(), "kind": "Zone"}, OPTIONS).findings == ()


def test_valid_objects_are_accepted_by_the_fast_check() -> None:
    """Without it, each review would ask the slow evaluator."""
    schema = TOPIC.schema
    assert isinstance(schema, StructuralSchema)
    schema.compile()
    assert schema.accepts(topic(partitions=1, compacted=True))
    assert not schema.accepts(topic(partitions="1"))
    assert TOPIC.accepted(topic(partitions=1, compacted=True)) == TopicSpec(compacted=True)


def test_it_has_no_pods_to_explain() -> None:
    explanation = explain(topic(), OPTIONS)
    assert explanation is not None
    assert (explanation.pods, explanation.notes, explanation.denied) == ((), ["a Topic has no pods"], False)


@pytest.mark.parametrize(("scope", "expected"), [({}, "Namespaced"), ({"scope": "Cluster"}, "Cluster")])
def test_it_is_installed(scope: dict[str, Any], expected: str) -> None:
    kinds = Registry([bind(resource(**scope), rules=(compacted_topics_have_one_partition,))])
    manifests = objects(kinds, Installation())
    names = {f"{manifest['kind']}/{manifest['metadata']['name']}" for manifest in manifests}
    assert f"CustomResourceDefinition/{TOPIC.qualified_plural}" in names
    for configuration in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        (entries,) = (manifest["webhooks"] for manifest in manifests if manifest["kind"] == configuration)
        own = [entry["rules"] for entry in entries if entry["name"].startswith(TOPIC.qualified_plural)]
        assert [(rules[0]["resources"], rules[0]["scope"]) for rules in own] == [(["topics"], expected)]
        assert not [entry["name"] for entry in entries if entry["name"].startswith(f"pods.{TOPIC.qualified_plural}")]


@pytest.mark.parametrize("more", [{"tasks": lambda _: ()}, {"fields": {"tasks": "parts"}}, {"runner": object()}])
def test_tasks_need_an_operator(more: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="tasks of Topic need an operator: the program that creates their pods"):
        bind(resource(), **more)


def test_with_an_operator_it_is_a_kind_of_jobs() -> None:
    operator = Operator(name="broker", minor=30, pod_name="{job}")
    assert isinstance(bind(resource(), operator=operator, tasks=lambda _: ()), JobKind)
