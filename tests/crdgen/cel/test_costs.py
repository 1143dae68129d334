"""What expressions are estimated to cost; the API server's own figures, got by how often it lets them be evaluated."""

from typing import Any

import pytest

from bench.differential.crds.costs import SELF, SMALLEST
from crdgen.cel import compiled
from crdgen.cel.cost import estimate
from crdgen.cel.types import REQUEST, type_of

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
    ("self.rules.all(r, r.ports.all(p, p.name == r.name))", 9651),
    ("self.rules.all(r, r.ports.all(p, p.notes.all(n, n == p.name)))", 25_891),
    ("self.table.all(row, row.all(n, n > row[0]))", 107),
    ("format.dns1123Label().validate(self.text).hasValue()", 260),
]


def _cost(expression: str, schema: dict[str, Any]) -> int:
    found = compiled(expression, schema)
    return estimate(found.tree, found.types, found.self_type).cost


@pytest.mark.parametrize("expression, cost", COSTS)
def test_an_estimate_is_the_one_of_the_api_server(expression: str, cost: int) -> None:
    assert _cost(expression, SELF) == cost


def test_a_path_that_another_one_overwrites_has_no_size() -> None:
    names = "n == r.name || n == p.name || n == r.long"
    assert _cost(f"self.deep.a.b.all(r, r.ports.all(p, p.notes.exists(n, {names})))", SELF) > 2**60


def test_what_nobody_can_size_costs_more_than_anything() -> None:
    assert _cost("self.?words.orValue([]).all(x, x == 'a')", SELF) > 2**60
    assert _cost("quantity(self.text) != quantity('1')", SELF) > 2**60


@pytest.mark.parametrize(
    "name, least", [("integer", 1), ("boolean", 4), ("day", 12), ("required", 19), ("defaulted", 9), ("non-ASCII", 17)]
)
def test_as_many_items_are_expected_as_fit_into_a_request(name: str, least: int) -> None:
    found = type_of({"type": "array", "items": SMALLEST[name]})
    assert found
    assert (found.most, found.keyword, found.bounded) == ((REQUEST - 2) // (least + 1), "maxItems", False)
