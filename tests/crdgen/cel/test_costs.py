"""What expressions are estimated to cost, near the API server's own figures."""

from typing import Any

import pytest

from crdgen.cel import compiled
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
    found = compiled(expression, schema)
    return estimate(found.tree, found.types, found.self_type).cost


@pytest.mark.parametrize("expression, cost", COSTS)
def test_an_estimate_is_near_the_one_of_the_api_server(expression: str, cost: int) -> None:
    assert cost / 2 <= _cost(expression, SELF) <= cost * 2


def test_what_nobody_can_size_costs_more_than_anything() -> None:
    assert _cost("self.?words.orValue([]).all(x, x == 'a')", SELF) > 2**60
    assert _cost("quantity(self.text) != quantity('1')", SELF) > 2**60


@pytest.mark.parametrize("count", ["self.numbers[0]", "-self.numbers[0]", "self.words.size()", "1000000000000"])
def test_a_range_whose_length_nothing_bounds_costs_more_than_is_evaluated(count: str) -> None:
    found = compiled(f"lists.range({count}).size() >= 0", SELF)
    assert found.cost(100) > LIMIT


def test_a_range_of_a_negative_number_costs_no_less_than_nothing() -> None:
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
def test_as_many_items_are_expected_as_fit_into_a_request(items: dict[str, Any], least: int) -> None:
    found = type_of({"type": "array", "items": items})
    assert found
    assert (found.most, found.keyword, found.bounded) == ((REQUEST - 2) // (least + 1), "maxItems", False)
