"""LabelSelectors mean what they mean to the API server."""

from typing import Any

import pytest

from crdgen.labels import selects

LABELS = {"team": "vision", "tier": "gold"}


@pytest.mark.parametrize(
    "selector, expected",
    [
        ({}, True),
        ({"matchLabels": {"team": "vision"}}, True),
        ({"matchLabels": {"team": "vision", "tier": "tin"}}, False),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["vision", "sound"]}]}, True),
        ({"matchExpressions": [{"key": "floor", "operator": "In", "values": ["3"]}]}, False),
        ({"matchExpressions": [{"key": "floor", "operator": "NotIn", "values": ["3"]}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["vision"]}]}, False),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "floor", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"team": "vision"}, "matchExpressions": [{"key": "floor", "operator": "Exists"}]}, False),
    ],
)
def test_a_selector_selects(selector: dict[str, Any], expected: bool) -> None:
    assert selects(selector, LABELS) is expected
