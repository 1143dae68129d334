"""A review names the CEL rules of a kind that nobody has evaluated."""

from typing import Annotated

import pytest
from pydantic import BaseModel

from crdgen import ValidationRule, cel, of
from jobgate.jobs.schema import StructuralSchema


class Counted(BaseModel):
    count: Annotated[int, ValidationRule("self > 3")]


@pytest.mark.parametrize("installed", [True, False])
def test_without_the_cel_library_each_rule_is_named(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    monkeypatch.setattr(cel, "available", lambda: installed)
    schema = StructuralSchema(of(Counted, group="shop.example.com", version="v1", kind="Counted"), ("spec", "parts"))
    sentence = f"spec.count: rule `self > 3` was not checked: {cel.NOT_INSTALLED}"
    assert schema.unchecked_rules == (() if installed else (sentence,))
