"""Properties of every pod, job, item and annotation."""

import asyncio
from copy import deepcopy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jobgate.pods import ItemReviewer, PermissionCache, PodReviewer, WorkloadReviewer
from jobgate.prerequisites.reference import (
    ANNOTATION,
    InvalidReference,
    Reference,
    ReferenceSpec,
    annotated,
    listed,
    reference,
)
from tests.pods.test_properties import sound_specs
from tests.prerequisites.items import NAMESPACE, Granted, Known, item, starts
from tests.prerequisites.test_jobs import answer, dijob
from tests.prerequisites.test_pods import Rights, prerequisites
from tests.webhook.values import json_values
from webhook import Operation, Phase, Request, User

KNOWN = Known(
    [
        item("all", cmd=starts("x"), env=[{"name": "A", "value": "1"}], pvcStorage={"name": "c", "mountPath": "/data"}),
        item("disk", pvcStorage={"name": "d", "mountPath": "/data/in"}),
        item("end", cmd=starts("y", event="taskFails")),
    ]
)
NAMED = "ClusterPrerequisite/disk, ClusterPrerequisite/all, ClusterPrerequisite/end"
REVIEWER = PodReviewer((), prerequisites(Rights("alice"), KNOWN))
relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)


def asked(kind: str, api_version: str, document: Any) -> Request:
    return Request("1", api_version, kind, Operation.CREATE, "x", NAMESPACE, user=User("alice"), document=document)


def reviewed(pod: Any, phase: Phase = Phase.MUTATE) -> Any:
    return asyncio.run(REVIEWER.review(asked("Pod", "v1", pod), phase))


@relaxed
@given(sound_specs, st.lists(st.text(max_size=5), max_size=3) | st.none())
def test_what_is_put_in_stays_as_it_is_and_nothing_of_the_users_is_lost(spec: Any, command: Any) -> None:
    for container in spec["containers"]:
        container["command"] = command
    pod = {"metadata": {"name": "x", "annotations": {ANNOTATION: NAMED}}, "spec": spec}
    before = deepcopy(pod)
    response = reviewed(pod)
    assert pod == before
    if not response.allowed:
        return
    after = jsonpatch.apply_patch(pod, list(response.patch))
    assert not reviewed(after).patch
    assert reviewed(after, Phase.VALIDATE).allowed
    for old, new in zip(spec["containers"], after["spec"]["containers"], strict=True):
        kept = {key: value for key, value in old.items() if key not in {"command", "env", "volumeMounts"}}
        assert kept == {key: new[key] for key in kept}
        for key in ("env", "volumeMounts"):
            assert all(each in (new.get(key) or []) for each in old.get(key) or [])
        assert list(new.get("command") or [])[-len(command or ()) :] == (command or []) or not command


@relaxed
@given(json_values)
@example({"metadata": {"annotations": {ANNOTATION: 1}}})
@example({"metadata": {"annotations": {ANNOTATION: NAMED}}, "spec": {"containers": [{"command": 1}]}})
@example({"metadata": {"annotations": {ANNOTATION: NAMED}, "ownerReferences": [1, {"controller": True}]}, "spec": {}})
def test_any_json_has_an_answer(value: Any) -> None:
    for phase in Phase:
        reviewed(value, phase)
        answer(dijob(value), KNOWN, phase, Granted({}))
        answer(dijob(of_job=[value]), KNOWN, phase, Granted({}))
    for document in (value, {"spec": value}, {"spec": {"template": value}}, {"spec": {"jobTemplate": {"spec": value}}}):
        asyncio.run(WorkloadReviewer(prerequisites(Rights(), KNOWN)).review(asked("CronJob", "batch/v1", document)))
        items = ItemReviewer(KNOWN, PermissionCache(Rights("alice"), lambda: 0.0))
        asyncio.run(items.review(asked("Prerequisite", "jobgate.dev/v1alpha1", document)))


references = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "a.b", "A", "", "a" * 64, "-", 1])},
    optional={
        "kind": st.sampled_from(["Prerequisite", "ClusterPrerequisite", "Job", None, 1]),
        "templateVariables": json_values
        | st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.integers() | st.floats(), max_size=3),
        "more": st.none(),
    },
)


def by_schema(value: list[Any]) -> tuple[Reference, ...] | None:
    try:
        return tuple(reference(ReferenceSpec.model_validate(each)) for each in value)
    except ValidationError:
        return None


@relaxed
@given(st.lists(references | st.dictionaries(st.sampled_from(["name", "kind"]), json_values), max_size=4))
@example([{"name": "a", "templateVariables": {"b": "\ud800"}}])
@example([{"name": "a", "templateVariables": {"b": 3.0, "a": "x"}}])
@example([{"name": "a", "templateVariables": {"b": 3.5}}])
@example([{"name": "a", "templateVariables": {"b": 2**63}}])
@example([{"name": "a", "templateVariables": {"b": 2.0**63}}])
def test_lists_are_read_as_the_schema_reads_them(value: list[Any]) -> None:
    try:
        result: tuple[Reference, ...] | None = listed(value)
    except InvalidReference as error:
        result = None
        if "is no name of an item" in str(error):
            return
    assert result == by_schema(value)


@relaxed
@given(st.text() | st.lists(json_values).map(str))
@example("[" * 100_000)
@example('[{"name": "a", "templateVariables": {"x": true}}]')
@example("a," * 40)
def test_any_annotation_names_items_or_is_rejected(text: str) -> None:
    try:
        result = annotated(text)
    except InvalidReference:
        return
    assert all(each.name for each in result)
