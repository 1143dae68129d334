"""The comparison of two checkouts' reviews: the drawn cases, and the detection of differences."""

import orjson
import pytest

from tests.differential.engine import drawing
from tests.differential.engine.__main__ import main
from tests.differential.engine.comparison import differences


def test_cases_depend_only_on_the_seed() -> None:
    first, again, other = ([orjson.dumps(drawing.case(seed, number)) for number in range(50)] for seed in (1, 1, 2))
    assert first == again != other


def test_cases_include_every_kind_operation_and_installation() -> None:
    cases = [drawing.case(3, number) for number in range(1000)]
    assert {case["request"]["kind"]["kind"] for case in cases} == {subject.kind for subject in drawing.subjects()}
    assert {case["request"]["operation"] for case in cases} == {"CREATE", "UPDATE", "DELETE", "CONNECT"}
    assert {tuple(case["settings"]) for case in cases} == set(drawing.SETTINGS)


def test_no_case_fails_and_a_checkout_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--requests", "200", "--seed", "5", "--compare", str(drawing.ROOT)]) == 0
    printed = capsys.readouterr().out
    assert "no answer differs" in printed
    assert "failed with" not in printed


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({"allowed": False}, ["mutate, allowed: here True, there False"]),
        ({"causes": [["a", {}]]}, ['mutate, causes: only there: ["a",{}]']),
        ({"notices": ["b", "a"]}, ["mutate, notices: in another order, or another number of times"]),
        ({"patch": []}, ['mutate, patch: only here:  {"op":"add"}']),
    ],
)
def test_each_part_of_an_answer_is_compared(changed: dict[str, object], expected: list[str]) -> None:
    answer = {"allowed": True, "causes": [], "notices": ["a", "b"], "patch": [{"op": "add"}]}
    ours, theirs = ({"mutate": each, "validate": answer} for each in (answer, answer | changed))
    assert [*differences(orjson.dumps(ours), orjson.dumps(theirs))] == expected


def test_an_exception_is_compared_too() -> None:
    lines = [*differences(b'{"mutate":{"allowed":true}}', b'{"mutate":{"allowed":true},"error":"KeyError: 1"}')]
    assert lines == ["error: here None, there 'KeyError: 1'"]
