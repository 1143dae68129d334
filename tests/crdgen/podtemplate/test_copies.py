"""The Kubernetes definitions are read once; every generated schema is a separate copy."""

from pydantic import BaseModel

from crdgen import PodTemplate, Volumes
from crdgen.generate.pipeline import structural_schema


class Spec(BaseModel):
    template: PodTemplate
    volumes: Volumes = []


def test_generated_schemas_share_nothing() -> None:
    first = structural_schema(Spec)
    first["properties"]["template"]["properties"]["spec"].clear()
    assert structural_schema(Spec)["properties"]["template"]["properties"]["spec"]["properties"]
