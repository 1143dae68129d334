"""The alerts and the dashboard ask for metrics that there are."""

import json
import re

import pytest

from jobgate.installation.monitoring import alerts, dashboard
from jobgate.serving.metrics import ServingMetrics

_OURS = re.compile(r"\b(?:jobgate|controller_runtime|certwatcher)_[a-z_]+\b")
PANELS = json.loads(dashboard())["panels"]
_ALL = [each["expr"] for each in (*alerts(), *(line for panel in PANELS for line in panel["targets"]))]
ASKED = sorted({name for expression in _ALL for name in _OURS.findall(expression)})


@pytest.fixture(scope="module")
def exposed() -> set[str]:
    """The names of all series that a server can have."""
    families = list(ServingMetrics().registry.collect())
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    return {family.name + suffix for family in families for suffix in suffixes[family.type]}


@pytest.mark.parametrize("name", ASKED)
def test_a_server_has_the_metric(name: str, exposed: set[str]) -> None:
    assert name in exposed


def test_alerts_are_told_apart_by_name_and_say_what_to_do() -> None:
    assert len({alert["alert"] for alert in alerts()}) == len(alerts())
    assert all(len(alert["annotations"]["summary"]) > 40 for alert in alerts())


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS]
    assert len(set(places)) == len(places) == len(PANELS)
