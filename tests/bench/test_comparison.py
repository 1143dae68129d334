"""The requests of the comparison, and its callers."""

import orjson
import pytest

from bench.comparison.arrivals import whole
from bench.comparison.scenarios import SCENARIOS, Scenario
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from webhook import Phase, Request
from webhook.review import review

_JOBS = [(scenario, phase) for scenario in SCENARIOS if isinstance(scenario, Scenario) for phase in scenario.phases]


@pytest.mark.parametrize(("scenario", "phase"), _JOBS, ids=[f"{scenario.name}, {phase}" for scenario, phase in _JOBS])
def test_each_request_gets_the_verdict_of_its_scenario(scenario: Scenario, phase: Phase) -> None:
    answer = review(Request.parse(orjson.loads(scenario.request(phase, 3))), phase, installed(), Settings())
    assert answer.allowed is not scenario.denied, answer.causes
    assert bool(answer.warnings) is (scenario.warned and phase is Phase.VALIDATE), answer.warnings


@pytest.mark.parametrize(
    "end", ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"]
)
def test_a_response_is_complete_only_with_its_last_byte(end: str) -> None:
    answer = f"HTTP/1.1 200 OK\r\n{end}".encode()
    assert [size for size in range(len(answer) + 1) if whole(answer[:size])] == [len(answer)]
