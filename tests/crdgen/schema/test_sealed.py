"""What is finished stays one piece on its way through the stages, and leaves no trace in what comes out."""

import json
from typing import Any

from pydantic import BaseModel

from crdgen import PodTemplate, Volumes, crd
from crdgen.generate.pipeline import assembled, structural_schema
from crdgen.lint import check_structural
from crdgen.podtemplate import MINORS, load, volumes
from crdgen.resource.resource import of
from crdgen.schema.look import CompleteSchema, opened, sealed


class Spec(BaseModel):
    template: PodTemplate
    volumes: Volumes = []


def parts(value: Any) -> list[CompleteSchema]:
    """Every outermost sealed part."""
    if isinstance(value, CompleteSchema):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [part for child in inner for part in parts(child)]


def test_a_template_is_one_piece_while_it_is_built_into_a_schema() -> None:
    assert len(parts(assembled(Spec, "Spec"))) == 3  # metadata and spec of the template, the items of volumes


def test_what_comes_out_is_plain_json() -> None:
    definition = crd(of(Spec, group="example.com", version="v1"))
    assert parts(definition) == []
    assert parts(structural_schema(Spec)) == []
    assert parts(load()) == []
    assert json.loads(json.dumps(definition)) == definition


def test_what_comes_out_shares_nothing_with_the_next() -> None:
    first = structural_schema(Spec)
    first["properties"]["template"]["properties"]["spec"].clear()
    assert structural_schema(Spec)["properties"]["template"]["properties"]["spec"]["properties"]


def test_what_is_sealed_by_us_is_taken_when_it_is_looked_into() -> None:
    for minor in MINORS:
        fields = {"template": load(minor)["PodTemplateSpec"], "volumes": opened(volumes(minor).schema())}  # type: ignore[operator]
        assert check_structural({"type": "object", "properties": fields}) == [], minor


def test_where_not_everything_may_stand_a_seal_is_looked_through() -> None:
    child = {"type": "object", "properties": {"a": {"type": "string", "title": "x"}}}
    plain = {"type": "object", "properties": {"b": {"type": "object"}}, "anyOf": [{"properties": {"b": child}}]}
    kept = {**plain, "anyOf": [{"properties": sealed({"properties": {"b": child}})["properties"]}]}
    found = check_structural({"type": "object", "properties": {"spec": kept}})
    assert found
    assert found == check_structural({"type": "object", "properties": {"spec": plain}})
