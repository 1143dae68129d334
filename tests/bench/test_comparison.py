"""The bodies of the comparison, and its ratios."""

import orjson
import pytest

from bench.comparison.scenarios import SCENARIOS, Scenario
from jobgate.kinds import installed
from webhook import Phase, Request
from webhook.review import review

_JOBS = [(scenario, phase) for scenario in SCENARIOS if isinstance(scenario, Scenario) for phase in scenario.phases]


@pytest.mark.parametrize(("scenario", "phase"), _JOBS, ids=[f"{scenario.name}, {phase}" for scenario, phase in _JOBS])
def test_each_body_gets_the_verdict_that_its_scenario_expects(scenario: Scenario, phase: Phase) -> None:
    answer = review(Request.parse(orjson.loads(scenario.request(phase, 3))), phase, installed())
    assert answer.allowed is not scenario.denied, answer.causes
