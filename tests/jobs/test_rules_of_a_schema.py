"""A user's own kind may have CEL rules; an offline review runs them as the API server would."""

from typing import Annotated, Any

from pydantic import BaseModel

from crdgen import Int32, ValidationRule
from crdgen.resource import resource
from jobgate.jobs.schema import StructuralSchema


class Spec(BaseModel):
    replicas: Annotated[int, Int32(), ValidationRule("self < 5", message="at most 4")] = 1
    spare: Annotated[
        int, Int32(), ValidationRule("self == 0", reason="FieldValueForbidden", message="there are no spares")
    ] = 0


SCHEMA = StructuralSchema(resource.of(Spec, group="g.example.com", version="v1", kind="Thing"))


def causes(spec: dict[str, Any]) -> list[dict[str, str]]:
    thing = {"apiVersion": "g.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}
    return [cause.to_status() for cause in SCHEMA.check(SCHEMA.default(thing))]


def test_an_object_that_keeps_the_rules_is_taken() -> None:
    assert causes({"replicas": 4}) == []


def test_a_broken_rule_is_a_cause_at_its_field_with_its_message() -> None:
    assert causes({"replicas": 5}) == [
        {"reason": "FieldValueInvalid", "message": "Invalid value: 5: at most 4", "field": "spec.replicas"}
    ]


def test_a_rule_may_forbid() -> None:
    assert causes({"spare": 1}) == [
        {"reason": "FieldValueForbidden", "message": "Forbidden: there are no spares", "field": "spec.spare"}
    ]
