"""The bodies of the comparison, and its ratios."""

import orjson
import pytest

from bench.comparison.measuring import Measured, Turn
from bench.comparison.scenarios import SCENARIOS, Scenario
from bench.comparison.servers import GO, JOBGATE
from jobgate.kinds import installed
from webhook import Phase, Request
from webhook.review import review

_JOBS = [(scenario, phase) for scenario in SCENARIOS if isinstance(scenario, Scenario) for phase in scenario.phases]


@pytest.mark.parametrize(("scenario", "phase"), _JOBS, ids=[f"{scenario.name}, {phase}" for scenario, phase in _JOBS])
def test_each_body_gets_the_verdict_that_its_scenario_expects(scenario: Scenario, phase: Phase) -> None:
    answer = review(Request.parse(orjson.loads(scenario.request(phase, 3))), phase, installed())
    assert answer.allowed is not scenario.denied, answer.causes


def test_no_two_bodies_share_a_template() -> None:
    [one, other] = (
        orjson.loads(Scenario("DIJob", 3).request(Phase.MUTATE, variant))["request"]["object"]["spec"]["tasks"]
        for variant in (1, 2)
    )
    templates = [orjson.dumps(task["template"]) for task in [*one, *other]]
    assert len(set(templates)) == 6


def test_ratios_are_taken_round_by_round_before_their_median() -> None:
    turns = [
        Turn("a", phase, server, False, number, cost, 1.0, 1.0, 1.0, 1.0, 0)
        for number, costs in enumerate([(10, 20), (100, 100), (30, 10)])
        for server, cost in zip((JOBGATE, GO), costs, strict=True)
        for phase in ("mutate", "validate")
    ]
    measured = Measured(turns)
    assert measured.ratio("a", GO) == 1.0
    assert measured.pair("a", JOBGATE) == [20, 200, 60]
    assert measured.of("a", "mutate", GO, "micros") == 20


def test_answers_that_were_wrong_are_reported() -> None:
    wrong = Turn("a", "mutate", GO, False, 0, 1.0, 1.0, 1.0, 1.0, 1.0, 3)
    assert Measured([wrong]).wrong == [f"{GO}: a, mutate: 3"]
