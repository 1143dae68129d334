"""What expressions give. Each line is also run on a real API server (tests/crdgen/evaluate/test_cluster_objects.py)."""

from typing import Any

import pytest

from crdgen.cel.compiling import compile_
from crdgen.cel.interpreter import Run, TooExpensive
from crdgen.cel.times import Fault
from crdgen.cel.values import value_of
from tests.crdgen.cel.expressions import ERRORS, SCHEMA, TRUE, VALUE


def run(expression: str) -> Any:
    return Run({"self": value_of(VALUE, SCHEMA)}).value(compile_(expression, SCHEMA).tree)


@pytest.mark.parametrize("expression", TRUE)
def test_the_expression_is_true(expression: str) -> None:
    assert run(expression) is True


@pytest.mark.parametrize("expression, fault", ERRORS)
def test_the_expression_fails_as_on_the_server(expression: str, fault: str) -> None:
    with pytest.raises(Fault) as failed:
        run(expression)
    assert fault in str(failed.value)


def test_an_expression_that_costs_too_much_is_stopped() -> None:
    tree = compile_("self.all(a, self.all(b, a + b >= 0))", NUMBERS).tree
    with pytest.raises(TooExpensive):
        Run({"self": list(range(100))}, budget=1000).value(tree)


NUMBERS = {"type": "array", "items": {"type": "integer"}}
