"""`jobgate fit`: the fields of a job that another CRD would drop or reject."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from crdgen import crd
from jobgate.installation.definitions import resource_of
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from jobgate.kinds.dijob import DIJOB
from jobgate.offline.fit import Misfit, MisfitOutcome, misfits

OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    return crd(resource_of(DIJOB))


def stored(shipped: dict[str, Any], change: Callable[[dict[str, Any], dict[str, Any]], None]) -> dict[str, Any]:
    """Return our CRD after a change, which gets it and the schema of its spec."""
    made = deepcopy(shipped)
    change(made["spec"], made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return made


@pytest.mark.parametrize("kind", built_in(), ids=lambda kind: kind.kind)
def test_the_crd_of_a_kind_fits_it(kind: JobKind) -> None:
    assert misfits(crd(resource_of(kind)), kind) == []


def test_a_crd_that_takes_anything_fits(shipped: dict[str, Any]) -> None:
    def opened(spec: dict[str, Any], _: dict[str, Any]) -> None:
        spec["versions"][0]["schema"] = {"openAPIV3Schema": OPEN}

    assert misfits(stored(shipped, opened), DIJOB) == []


def test_a_template_that_takes_anything_fits(shipped: dict[str, Any]) -> None:
    def opened(_: dict[str, Any], schema: dict[str, Any]) -> None:
        schema["properties"]["tasks"]["items"]["properties"]["template"] = OPEN

    assert misfits(stored(shipped, opened), DIJOB) == []


def without(field: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(_: dict[str, Any], schema: dict[str, Any]) -> None:
        del schema["properties"][field]

    return change


def with_task(field: str, schema_of_field: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(_: dict[str, Any], schema: dict[str, Any]) -> None:
        schema["properties"]["tasks"]["items"]["properties"][field] = schema_of_field

    return change


def renamed(spec: dict[str, Any], _: dict[str, Any]) -> None:
    spec["names"]["kind"], spec["scope"] = "Training", "Cluster"


def unserved(spec: dict[str, Any], _: dict[str, Any]) -> None:
    spec["versions"][0]["served"] = False


def older(spec: dict[str, Any], _: dict[str, Any]) -> None:
    spec["versions"][0]["name"] = "v1alpha1"


DROPPED, REFUSED, DIFFERS, UNSERVED = (
    MisfitOutcome.DROPPED,
    MisfitOutcome.REJECTED,
    MisfitOutcome.DIFFERS,
    MisfitOutcome.UNSERVED,
)


@pytest.mark.parametrize(
    "change, expected",
    [
        (without("minReplicas"), [Misfit("spec.minReplicas", DROPPED, "the schema has no such field")]),
        (with_task("replicas", {"type": "string"}),
         [Misfit("spec.tasks[].replicas", REFUSED, "a value of type integer is rejected, must be string")]),
        (with_task("replicas", {"type": "number", "default": 1}), []),
        (with_task("replicas", {"x-kubernetes-int-or-string": True, "default": 1}), []),
        (with_task("replicas", {"type": "integer", "default": 2}),
         [Misfit("spec.tasks[].replicas", DIFFERS, "the default is 2, 1 was meant")]),
        (with_task("replicas", {"type": "integer", "minimum": 2, "default": 2}),
         [Misfit("spec.tasks[].replicas", REFUSED, "the default 1 is rejected: must be at least 2"),
          Misfit("spec.tasks[].replicas", DIFFERS, "the default is 2, 1 was meant")]),
        (with_task("type", {"type": "string", "enum": ["learner", "none"], "default": "none"}),
         [Misfit("spec.tasks[].type", REFUSED,
                 '"collector", "evaluator" is none of the schema\'s values: "learner", "none"')]),
        (renamed, [Misfit("spec.names.kind", UNSERVED, 'is "Training", must be "DIJob"'),
                   Misfit("spec.scope", UNSERVED, 'is "Cluster", must be "Namespaced"')]),
        (unserved,
         [Misfit("spec.versions", UNSERVED, "version v2alpha1 is not served; served versions: none")]),
        (older, [Misfit("spec.versions", UNSERVED, "version v2alpha1 does not exist; served versions: v1alpha1")]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_reported_field_by_field(
    shipped: dict[str, Any], change: Callable[[dict[str, Any], dict[str, Any]], None], expected: list[Misfit]
) -> None:
    assert misfits(stored(shipped, change), DIJOB) == expected


BROKEN: list[dict[str, Any]] = [
    {},
    {"spec": None},
    {"spec": {"versions": [None]}},
    {"spec": {"versions": [{"name": "v2alpha1", "served": True}]}},
]


@pytest.mark.parametrize("definition", BROKEN, ids=repr)
def test_no_crd_is_too_broken_to_be_told_of(definition: dict[str, Any]) -> None:
    assert misfits(definition, DIJOB)
