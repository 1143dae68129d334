"""Estimated costs of expressions, compared with the API server's figures."""

from typing import Any

import pytest

from crdgen.cel import compile_expression
from crdgen.cel.cost import LIMIT, estimate
from crdgen.cel.types import REQUEST, type_of
from tests.differential.crds.costs import SELF

COSTS = [
    ("self == oldSelf", 2),
    ("self.text == oldSelf.text", 12),
    ("self.text == 'a'", 3),
    ("self.long == oldSelf.long", 314_577),
    ("has(self.text)", 1),
    ("self.text in ['a', 'b', 'c']", 15),
    ("self.text.matches('^[a-z]+([a-z]*)$')", 38),
    ("self.long.matches('^[a-z]+$')", 629_148),
    ("self.words.all(x, x == 'a')", 38),
    ("self.numbers.sum() > 3", 43),
    ("self.?words.orValue([]).size() > 3", 15),
    ("self.rules.all(r, r.ports.all(p, p.name == 'a'))", 291),
    ("self.table.all(row, row.all(n, n > row[0]))", 107),
    ("format.dns1123Label().validate(self.text).hasValue()", 260),
]


def _cost(expression: str, schema: dict[str, Any]) -> int:
    compiled = compile_expression(expression, schema)
    return estimate(compiled.tree, compiled.types, compiled.self_type).cost


@pytest.mark.parametrize("expression, cost", COSTS)
def test_an_estimate_is_near_that_of_the_api_server(expression: str, cost: int) -> None:
    assert cost / 2 <= _cost(expression, SELF) <= cost * 2


def test_values_of_unknown_size_exceed_every_limit() -> None:
    assert _cost("self.?words.orValue([]).all(x, x == 'a')", SELF) > 2**60
    assert _cost("quantity(self.text) != quantity('1')", SELF) > 2**60


@pytest.mark.parametrize("count", ["self.numbers[0]", "-self.numbers[0]", "self.words.size()", "1000000000000"])
def test_a_range_without_a_bound_exceeds_the_limit(count: str) -> None:
    compiled = compile_expression(f"lists.range({count}).size() >= 0", SELF)
    assert compiled.cost(100) > LIMIT


def test_the_cost_of_a_negative_range_is_not_negative() -> None:
    assert _cost("lists.range(-1000).size() == 0", SELF) > 0


@pytest.mark.parametrize(
    "items, least",
    [
        ({"type": "integer"}, 1),
        ({"type": "boolean"}, 4),
        ({"type": "string", "format": "date"}, 12),
        ({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}, 12),
        ({"type": "object", "required": ["größe"], "properties": {"größe": {"type": "boolean"}}}, 17),
    ],
)
def test_a_list_without_a_bound_has_the_items_that_fit_into_a_request(items: dict[str, Any], least: int) -> None:
    list_type = type_of({"type": "array", "items": items})
    assert list_type
    assert (list_type.max_size, list_type.keyword, list_type.bounded) == (
        (REQUEST - 2) // (least + 1),
        "maxItems",
        False,
    )
