"""Verdicts, what is expected of them, and properties; with a kind whose functions can be broken."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from crdgen import CustomResource, Doc, Model, Names, Version
from jobgate.api import Cause, Context, CustomKind, Draft, Invalid, Notice, Object, OtherVersion, bind, rule
from jobgate.kinds import built_in
from jobgate.testing import (
    allowed,
    changed,
    check_idempotence,
    check_ratchet,
    check_robustness,
    check_round_trip,
    denied,
    pods,
    verdict,
)
from jobgate.testing.verdict import Expected, Outcome


class OldTopicSpec(Model):
    """A topic, as it was."""

    parts: Annotated[int, Doc("Number of partitions.")]


class TopicSpec(Model):
    """A topic of messages."""

    partitions: Annotated[int, Field(ge=1), Doc("Number of partitions.")]
    replicas: Annotated[int | None, Doc("Number of copies.")] = None
    tags: Annotated[dict[str, str] | None, Doc("Words.")] = None


@rule("replicas")
def copies_are_few(topic: Object[TopicSpec], _: Context) -> Iterator[Cause | Notice]:
    """Copies cost."""
    if (topic.spec.replicas or 0) > 3:
        yield Invalid("spec.replicas", topic.spec.replicas, "must be at most 3")
    if topic.spec.replicas == 3:
        yield Notice("spec.replicas", "is much")


@rule()
def its_map_exists(topic: Object[TopicSpec], context: Context) -> Iterator[Cause]:
    """A topic needs a ConfigMap of its name."""
    if context.objects.get(MAPS, context.name, context.namespace) is None:
        yield Invalid("metadata.name", context.name, "there is no such ConfigMap")


def one_copy(draft: Draft, _: Context) -> None:
    """There is a copy."""
    if (spec := draft.at("spec")) is not None:
        spec.setdefault("replicas", 1)


def up(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "spec": {"partitions": document["spec"]["parts"]}}


def down(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "spec": {"parts": document["spec"]["partitions"]}}


def wrong(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "spec": {"parts": document["spec"]["partitions"] + 1}}


def versioned(downwards: Callable[[dict[str, Any]], dict[str, Any]]) -> CustomKind:
    versions = (Version("v1", spec=TopicSpec), Version("v1alpha1", spec=OldTopicSpec, storage=False))
    return bind(
        CustomResource("example.com", Names(kind="Topic"), versions),
        versions={"v1alpha1": OtherVersion(up, downwards)},
    )


MAPS = "configmaps.v1."
RESOURCE = CustomResource("example.com", Names(kind="Topic"), (Version("v1", spec=TopicSpec),))
TOPIC = bind(RESOURCE, defaults=(one_copy,), rules=(copies_are_few,))
TEXT = """
apiVersion: example.com/v1
kind: Topic
metadata: {name: orders}
spec: {partitions: 2}
"""


def topic(**spec: Any) -> dict[str, Any]:
    return changed(TEXT, {"spec": spec})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, allowed()),
        ({"replicas": 3}, allowed(warnings=["spec.replicas: is much"])),
        ({"replicas": 4}, denied("spec.replicas: must be at most 3")),
        ({"replicas": 4}, denied("at most 3", warnings=())),
        ({"replicas": 4, "partitions": 0}, denied("spec.partitions: Invalid value: 0", "spec.replicas: ")),
        ({"partitions": None}, denied("spec.partitions: Required value")),
    ],
)
def test_a_verdict_equals_what_is_expected(spec: dict[str, Any], expected: object) -> None:
    assert verdict(TOPIC, topic(**spec)) == expected


@pytest.mark.parametrize(
    ("spec", "expected", "differences"),
    [
        ({"replicas": 4}, allowed(), ["unexpected fault: spec.replicas: Invalid value: 4: must be at most 3"]),
        ({"replicas": 3}, allowed(), ["unexpected warning: spec.replicas: is much"]),
        ({}, denied("spec.replicas: "), ["missing fault: spec.replicas: "]),
        (
            {"replicas": 4},
            denied("spec.replica: "),
            ["missing fault: spec.replica: ", "unexpected fault: spec.replicas: "],
        ),
        ({"replicas": 4}, denied("at most 3", "at most 3"), ["missing fault: at most 3"]),
    ],
)
def test_it_differs_otherwise_and_says_how(spec: dict[str, Any], expected: Expected, differences: list[str]) -> None:
    outcome = verdict(TOPIC, topic(**spec))
    assert outcome != expected
    assert all(text.startswith(words) for text, words in zip(expected.differences(outcome), differences, strict=True))


def test_a_denial_is_expected_for_a_reason() -> None:
    with pytest.raises(AssertionError, match="name the faults"):
        denied()


def test_objects_are_text_files_and_mappings(tmp_path: Path) -> None:
    file = tmp_path / "topic.yaml"
    file.write_text(TEXT)
    outcomes: list[Outcome] = [verdict(TOPIC, source) for source in (TEXT, file, topic())]
    assert all(outcome.changes == ("+ spec.replicas: 1",) for outcome in outcomes)
    assert outcomes[0].document["spec"] == {"partitions": 2, "replicas": 1}


def test_an_object_of_another_kind_is_a_mistake_of_the_test() -> None:
    with pytest.raises(AssertionError, match="v1 Pod is no object of Topic"):
        verdict(TOPIC, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})


def test_a_text_with_several_objects_is_a_mistake_of_the_test() -> None:
    with pytest.raises(AssertionError, match="has 2 objects: give one"):
        verdict(TOPIC, f"{TEXT}---{TEXT}")


def test_objects_that_rules_look_up_are_in_the_context() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\n"
    kind = bind(RESOURCE, rules=(its_map_exists,), watches=(MAPS,))
    assert verdict(kind, TEXT, context=[text % "orders" + "---\n" + text % "other"]) == allowed()
    assert verdict(kind, TEXT, context=[text % "other"]) == denied("metadata.name: there is no such ConfigMap")
    # Whether it exists is not known: what is not checked is no success.
    assert verdict(kind, TEXT) == allowed(warnings=["not checked: configmaps.v1. 'default/orders'"])


def test_good_kinds_have_the_properties() -> None:
    check_idempotence(TOPIC, TEXT)
    check_ratchet(TOPIC, topic(replicas=4), topic(replicas=4, tags={"a": "b"}))
    check_robustness(TOPIC, topic(tags={"a": "b"}))
    check_round_trip(versioned(down), TEXT, "v1alpha1")


def test_properties_of_kinds_that_look_objects_up() -> None:
    def labelled(draft: Draft, context: Context) -> None:
        """Copy what the ConfigMap says."""
        found = context.objects.get(MAPS, context.name, context.namespace)
        if found is not None and (spec := draft.at("spec")) is not None:
            spec.setdefault("replicas", found["data"]["replicas"])

    kind = bind(RESOURCE, defaults=(labelled,), rules=(its_map_exists, copies_are_few), watches=(MAPS,))
    there = "{apiVersion: v1, kind: ConfigMap, metadata: {name: orders, namespace: default}, data: {replicas: %s}}"
    check_idempotence(kind, TEXT, context=[there % 2])
    with pytest.raises(AssertionError, match=r"it is denied: .*spec\.replicas: "):
        check_idempotence(kind, TEXT, context=[there % 4])
    check_ratchet(kind, TEXT, topic(tags={"a": "b"}), context=[there % 4])
    with pytest.raises(AssertionError, match="it has no fault"):
        check_ratchet(kind, TEXT, topic(tags={"a": "b"}), context=[there % 2])
    with pytest.raises(AssertionError, match="failed on this object: KeyError"):
        check_robustness(
            kind, TEXT, context=["{apiVersion: v1, kind: ConfigMap, metadata: {name: orders, namespace: default}}"]
        )
    check_robustness(kind, TEXT, context=[there % 2])


def test_a_default_that_is_added_again_and_again_is_found() -> None:
    def another(draft: Draft, _: Context) -> None:
        """Add a tag for each write."""
        tags = draft.at("spec", "tags")
        if tags is not None:
            tags[f"write-{len(tags.value)}"] = "here"

    with pytest.raises(AssertionError, match="defaults are added once more: "):
        check_idempotence(bind(RESOURCE, defaults=(another,)), topic(tags={"first": "here"}))


def test_a_new_fault_of_an_update_is_found() -> None:
    with pytest.raises(AssertionError, match=r"a stored fault denies an update: \('spec.replicas"):
        check_ratchet(TOPIC, topic(replicas=4), topic(replicas=5))
    with pytest.raises(AssertionError, match="it has no fault"):
        check_ratchet(TOPIC, TEXT, topic(replicas=2))


def test_a_function_that_fails_on_odd_values_is_found() -> None:
    def fragile(draft: Draft, _: Context) -> None:
        """Fail on what is no text."""
        if (spec := draft.at("spec")) is not None:
            spec.get("partitions", 0).bit_length()

    with pytest.raises(AssertionError, match="default fragile of Topic failed on this object: AttributeError"):
        check_robustness(bind(RESOURCE, defaults=(fragile,)), TEXT)


def test_a_conversion_that_loses_something_is_found() -> None:
    with pytest.raises(AssertionError, match="v1alpha1 loses something"):
        check_round_trip(versioned(wrong), TEXT, "v1alpha1")


def test_the_pods_of_a_job_are_wired() -> None:
    kind = next(kind for kind in built_in() if kind.kind == "DIJob")
    wired = pods(kind, Path("examples/dijob/plugins.yaml"))
    assert wired
    assert all("env" in container for pod in wired.values() for container in pod["spec"]["containers"])
