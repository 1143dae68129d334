"""Objects and rules on a real API server, and here: a sample of `python -m bench.crd_objects`."""

import random
from typing import Any

import pytest

from crdgen.evaluate import evaluate
from tests.controlplane.client import ClusterApi
from tests.controlplane.waiting import wait_for
from tests.crdgen.cel.expressions import ERRORS, SCHEMA, TRUE, VALUE
from tests.crdgen.objects.comparison import CRDS, GROUP, compare, definition
from tests.crdgen.objects.schemas import RULES, Named, drawn

SEED = 7


def test_objects_of_made_up_schemas_are_judged_as_by_the_server(cluster_api: ClusterApi) -> None:
    schemas = [Named(f"made-up {number}", drawn(random.Random(f"{SEED}-{number}"))) for number in range(6)]
    schemas.append(Named("expressions", SCHEMA | {"x-kubernetes-validations": RULES}))
    results = list(compare(cluster_api, schemas, SEED, 12))
    assert sum(result.taken_there is True for result in results) >= 10
    assert sum(result.taken_there is False for result in results) >= 10
    assert [result.sentence() for result in results if result.differs and not result.explained] == []


@pytest.fixture(scope="module")
def expressions(cluster_api: ClusterApi) -> Any:
    """A kind with all expressions as rules; a rule that does not hold, or fails, refuses an object."""
    rules = [{"rule": expression} for expression in [*TRUE, *(expression for expression, _ in ERRORS)]]
    crd = definition("expressions", SCHEMA | {"x-kubernetes-validations": rules})
    status, answer = cluster_api.post(CRDS, crd)
    assert status == 201, answer.get("message")
    path = f"/apis/{GROUP}/v1/namespaces/default/expressions"
    wait_for(lambda: cluster_api.get(path)[0] == 200, what="expressions are served")
    yield crd, path
    cluster_api.delete(f"{CRDS}/expressions.{GROUP}")


def test_expressions_give_on_the_server_what_they_give_here(cluster_api: ClusterApi, expressions: Any) -> None:
    crd, path = expressions
    written = {"apiVersion": f"{GROUP}/v1", "kind": "Expressions", "metadata": {"name": "one"}, "spec": VALUE}
    status, answer = cluster_api.post(path, written, {"dryRun": "All"})
    assert status == 422
    theirs = [cause["message"].removeprefix('Invalid value: "object": ') for cause in answer["details"]["causes"]]
    ours = [violation.message for violation in evaluate(crd, written).violations]
    assert len(theirs) == len(ERRORS)
    # Go tells more of why an address could not be read.
    short = [message.partition(" parse error")[0] for message in ours]
    assert short == [message.partition(" parse error")[0] for message in theirs]


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


def test_updates_are_judged_as_by_the_server(cluster_api: ClusterApi) -> None:
    crd = definition("transitions", TRANSITIONS)
    status, answer = cluster_api.post(CRDS, crd)
    assert status == 201, answer.get("message")
    path = f"/apis/{GROUP}/v1/namespaces/default/transitions"
    wait_for(lambda: cluster_api.get(path)[0] == 200, what="transitions are served")
    old = {"apiVersion": f"{GROUP}/v1", "kind": "Transitions", "metadata": {"name": "one"}, "spec": BEFORE}
    status, stored = cluster_api.post(path, old)
    assert status == 201, stored
    for spec in AFTER:
        new = stored | {"spec": spec}
        status, answer = cluster_api.put(f"{path}/one", new, {"dryRun": "All"})
        ours = evaluate(crd, new, old=old).violations
        assert (status == 200) == (not ours), (spec, answer.get("message"), ours)
        fields = sorted(cause["field"] for cause in answer.get("details", {}).get("causes", ()))
        assert fields == sorted(text(violation.path) for violation in ours), (spec, answer.get("message"), ours)
    cluster_api.delete(f"{CRDS}/transitions.{GROUP}")


def text(path: tuple[str | int, ...]) -> str:
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    return shown or "<nil>"
