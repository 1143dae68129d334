"""Compare objects and rules with a real API server: a sample of `python -m tests.differential.objects`."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from crdgen.evaluate import evaluate
from tests.differential.objects.comparison import Comparison, definition, new_kind, served, whole
from tests.differential.objects.expressions import ERRORS, SCHEMA, TRUE, VALUE
from tests.differential.objects.madeup import made
from tests.differential.objects.result import Author, shown
from tests.differential.objects.schemas import MADE_UP, Named, at_edges, generated, with_rules

SEED = 7


def test_objects_get_the_verdicts_of_the_api_server(controlplane: ControlPlane, cluster_api: ClusterApi) -> None:
    made_up = [Named(f"made up {number}", made(random.Random(f"{SEED}-{number}")), MADE_UP) for number in range(12)]
    with controlplane.api() as other:
        comparison = Comparison([cluster_api, other], SEED, by_schema=2, by_model=2)
        results = list(
            comparison.of(
                [*generated("tests.crdgen", "tests.crdgen.cli.shop", step=3), with_rules(), *at_edges(), *made_up]
            )
        )
    assert comparison.rejected == {}
    assert len({result.schema for result in results if result.author is Author.MODEL}) >= 40
    for author in Author:
        assert sum(result.taken_there for result in results if result.author is author) >= 40
    assert sum(not result.taken_there for result in results) >= 100
    assert [result.sentence() for result in results if result.differs and not result.explained] == []


@pytest.fixture(scope="module")
def expressions(cluster_api: ClusterApi) -> Iterator[tuple[dict[str, Any], str]]:
    """Serve a kind with all expressions as rules. A rule that is false or fails rejects objects."""
    rules = [{"rule": expression} for expression in [*TRUE, *ERRORS]]
    crd = definition(SCHEMA | {"x-kubernetes-validations": rules}, new_kind())
    with served(cluster_api, crd) as path:
        yield crd, path


def test_expressions_have_the_results_of_the_api_server(cluster_api: ClusterApi, expressions: Any) -> None:
    crd, path = expressions
    document = whole(crd["spec"]["names"]["kind"], VALUE)
    status, answer = cluster_api.post(path, document, {"dryRun": "All"})
    assert status == 422
    theirs = [cause["message"].rpartition("rule: ")[2] for cause in answer["details"]["causes"]]
    ours = [violation.message.rpartition("rule: ")[2] for violation in evaluate(crd, document).violations]
    assert ours == theirs == ERRORS


TRANSITIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "name is kept"}],
        },
        "size": {"type": "integer", "maximum": 10},
        "note": {"type": "string"},
        "tasks": {
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object",
                "required": ["k"],
                "properties": {"k": {"type": "string"}, "n": {"type": "integer"}},
                "x-kubernetes-validations": [
                    {
                        "rule": "self.n >= oldSelf.n",
                        "messageExpression": "self.k + ' may not shrink'",
                        "fieldPath": ".n",
                    }
                ],
            },
        },
    },
    "x-kubernetes-validations": [
        {
            "rule": "!oldSelf.hasValue() || self.?size.orValue(0) >= oldSelf.value().?size.orValue(0)",
            "optionalOldSelf": True,
            "reason": "FieldValueForbidden",
            "message": "size grows",
        },
        {"rule": "!has(self.note) || self.note != 'bad'", "message": "note is bad"},
    ],
}
BEFORE = {"name": "a", "size": 5, "tasks": [{"k": "x", "n": 1}, {"k": "y", "n": 2}]}
AFTER = [
    BEFORE,
    BEFORE | {"name": "b"},
    BEFORE | {"size": 4},
    BEFORE | {"size": 11},
    BEFORE | {"note": "bad"},
    BEFORE | {"tasks": [{"k": "y", "n": 2}, {"k": "x", "n": 0}]},
    BEFORE | {"tasks": [{"k": "z", "n": 0}, {"k": "y", "n": 1}]},
    BEFORE | {"size": "x"},
    {"size": 6},
]


def test_updates_get_the_verdicts_of_the_api_server(cluster_api: ClusterApi) -> None:
    crd = definition(TRANSITIONS, new_kind())
    old = whole(crd["spec"]["names"]["kind"], BEFORE)
    with served(cluster_api, crd) as path:
        status, stored = cluster_api.post(path, old)
        assert status == 201, stored
        for spec in AFTER:
            new = stored | {"spec": spec}
            status, answer = cluster_api.put(f"{path}/one", new, {"dryRun": "All"})
            ours = evaluate(crd, new, old=old).violations
            assert (status == 200) == (not ours), (spec, answer.get("message"), ours)
            fields = sorted(cause["field"] for cause in answer.get("details", {}).get("causes", ()))
            assert fields == sorted(shown(violation.path) for violation in ours), (spec, answer.get("message"), ours)
