"""The definitions of Kubernetes are read once; what is made of them is the caller's own."""

from pydantic import BaseModel

from crdgen import PodTemplate, Volumes
from crdgen.generate.pipeline import structural_schema
from crdgen.lint import check_structural
from crdgen.podtemplate import MINORS, load, volumes


class Spec(BaseModel):
    template: PodTemplate
    volumes: Volumes = []


def test_what_comes_out_shares_nothing_with_the_next() -> None:
    first = structural_schema(Spec)
    first["properties"]["template"]["properties"]["spec"].clear()
    assert structural_schema(Spec)["properties"]["template"]["properties"]["spec"]["properties"]


def test_every_minor_is_structural() -> None:
    for minor in MINORS:
        fields = {"template": load(minor)["PodTemplateSpec"], "volumes": volumes(minor).schema()}  # type: ignore[operator]
        assert check_structural({"type": "object", "properties": fields}) == [], minor
