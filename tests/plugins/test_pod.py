"""A pod while it is wired: only what is absent is added, only where the job's template has a container, and once."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import jsonpatch
import pytest

from jobgate.plugins import CrewContainer, Member, Pod, Variable
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.crew import INDEX_LABEL, TASK_LABEL
from jobgate.plugins.svc import SvcArguments
from tests.plugins.crews import crew, drafted, part, pod
from webhook import Draft

OF = crew(part(containers=(CrewContainer("main"), CrewContainer("fetch", init=True))))
MEMBER = Member(OF, OF.parts[0], 0)


def touched(document: dict[str, Any], *steps: Callable[[Pod], None]) -> dict[str, Any]:
    """Return a pod after these steps; the patch is what makes it of the one that was sent, which stays as it was."""
    sent = deepcopy(document)
    draft = Draft(document)
    wiring = Pod(draft, MEMBER)
    for step in steps:
        step(wiring)
    wiring.write()
    assert document == sent
    assert jsonpatch.apply_patch(sent, draft.patch) == draft.value
    return draft.value


def test_a_pod_without_a_spec_cannot_be_wired() -> None:
    with pytest.raises(ValueError, match="has no spec"):
        Pod(Draft({"metadata": {}}), MEMBER)


def test_variables_keep_their_order_and_stand_before_those_of_the_user() -> None:
    own = {"name": "OWN", "value": "$(FIRST)"}
    after = touched(
        pod({"name": "main", "env": [own]}),
        lambda one: one.variable("FIRST", "1"),
        lambda one: one.variable_from("SECOND", {"configMapKeyRef": {"name": "map", "key": "key"}}),
        lambda one: one.promise(Variable("THIRD", "3")),
    )
    assert after["spec"]["containers"][0]["env"] == [
        {"name": "FIRST", "value": "1"},
        {"name": "SECOND", "valueFrom": {"configMapKeyRef": {"name": "map", "key": "key"}}},
        {"name": "THIRD", "value": "3"},
        own,
    ]


def test_variables_of_a_source_give_way_to_those_of_the_user_and_of_earlier_plugins() -> None:
    own = {"secretRef": {"name": "own"}}
    first, second = {"configMapRef": {"name": "first"}}, {"configMapRef": {"name": "second"}}

    def wire(wired: Pod) -> None:
        wired.variables_from(first)
        wired.variables_from(second, "B_")

    after = touched(pod({"name": "main", "envFrom": [own]}, {"name": "beside"}), wire)
    # Kubernetes takes the last source of a variable.
    assert after["spec"]["containers"][0]["envFrom"] == [{"prefix": "B_", **second}, first, own]
    assert "envFrom" not in after["spec"]["containers"][1]
    assert touched(after, wire) == after


def test_of_two_plugins_that_set_a_variable_the_first_wins() -> None:
    after = touched(pod(), lambda one: one.variable("X", "1"), lambda one: one.variable("X", "2"))
    assert after["spec"]["containers"][0]["env"] == [{"name": "X", "value": "1"}]


@pytest.mark.parametrize("env", [None, [], [{"name": "OWN", "value": ""}]])
def test_a_list_that_is_absent_null_or_empty_takes_variables_too(env: Any) -> None:
    after = touched(pod({"name": "main", "env": env}), lambda one: one.variable("X", "1"))
    assert after["spec"]["containers"][0]["env"][0] == {"name": "X", "value": "1"}


def test_a_variable_of_the_operator_from_elsewhere_is_not_replaced() -> None:
    source = {"name": "SIZE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['size']"}}}
    after = touched(
        pod({"name": "main", "env": [source]}), lambda one: one.promise(Variable("SIZE", "3", wrong=lambda _: True))
    )
    assert after["spec"]["containers"][0]["env"] == [source]


def test_each_of_two_values_of_the_operator_is_replaced_where_it_is_wrong() -> None:
    env = [{"name": "RANK", "value": "9"}, {"name": "RANK", "value": "2"}, {"name": "RANK", "value": "8"}]
    after = touched(
        pod({"name": "main", "env": env}), lambda one: one.promise(Variable("RANK", "1", wrong=lambda text: text > "7"))
    )
    assert [variable["value"] for variable in after["spec"]["containers"][0]["env"]] == ["1", "2", "1"]


@pytest.mark.parametrize(
    "metadata, expected",
    [
        ({}, {"k": "v"}),
        ({"labels": None}, {"k": "v"}),
        ({"labels": {}}, {"k": "v"}),
        ({"labels": {"other": "x"}}, {"other": "x", "k": "v"}),
        ({"labels": {"k": "own"}}, {"k": "own"}),
    ],
)
def test_a_label_is_set_if_it_is_absent(metadata: dict[str, Any], expected: dict[str, str]) -> None:
    document = {"metadata": metadata, "spec": {"containers": []}}
    assert touched(document, lambda one: one.label("k", "v"))["metadata"]["labels"] == expected
    annotated = {"metadata": {"annotations": metadata.get("labels")}, "spec": {"containers": []}}
    assert touched(annotated, lambda one: one.annotate("k", "v"))["metadata"]["annotations"] == expected


def test_a_pod_without_metadata_gets_labels_and_annotations() -> None:
    after = touched({"spec": {"containers": []}}, lambda one: one.label("k", "v"), lambda one: one.annotate("a", "b"))
    assert after["metadata"] == {"labels": {"k": "v"}, "annotations": {"a": "b"}}


def test_a_volume_and_a_mount_are_added_once() -> None:
    volume, mount = {"name": "lists", "configMap": {"name": "lists"}}, {"name": "lists", "mountPath": "/etc/lists"}
    steps = [lambda one: one.volume(volume), lambda one: one.mount(mount)] * 2
    spec = touched(pod("main", "sidecar", initContainers=[{"name": "fetch"}], volumes=[{"name": "own"}]), *steps)[
        "spec"
    ]
    assert spec["volumes"] == [{"name": "own"}, volume]
    assert spec["containers"] == [{"name": "main", "volumeMounts": [mount]}, {"name": "sidecar"}]
    assert spec["initContainers"] == [{"name": "fetch", "volumeMounts": [mount]}]


def test_pods_that_no_operator_labels_get_the_labels_of_their_job() -> None:
    of = crew(marked=True, labels={"jobgate.dev/job": "train"})
    assert drafted(pod(), of).value["metadata"]["labels"] == {
        "jobgate.dev/job": "train",
        TASK_LABEL: "worker",
        INDEX_LABEL: "0",
    }
    assert drafted(pod(), crew()).patch == []


def test_plugins_are_carried_out_in_their_order_however_the_job_says_them() -> None:
    of = crew(plugins={"svc": SvcArguments(), "env": NoArguments()})
    (container,) = drafted(pod(), of).value["spec"]["containers"]
    names = [variable["name"] for variable in container["env"]]
    assert names.index("VC_GLOBAL_SIZE") < names.index("VC_HOST")
