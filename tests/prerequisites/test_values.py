"""Values of variables: what no shell interprets passes, and nothing else does unless the item says so."""

import time

import pytest

from jobgate.prerequisites.values import fault_of_pattern, fault_of_value


@pytest.mark.parametrize("value", ["/dataset/mnist", "/mnt/confignfs_pvc", "30", "a.b", "x@y", "k=v,w:z", "50%", "a+b"])
def test_what_no_shell_interprets_passes(value: str) -> None:
    assert fault_of_value(value, None) is None


@pytest.mark.parametrize(
    "value",
    ["", "x; id", "$(id)", "`id`", "a b", "it's", '"', "a\nb", "a\0", "-rf", "a/../b", "..", "{{ x }}", "*", "~", "a\\b",
     "ä", "a" * 1025],
)  # fmt: skip
def test_what_a_shell_or_a_command_could_interpret_is_rejected(value: str) -> None:
    assert fault_of_value(value, None)


def test_a_pattern_widens_what_a_value_may_be_but_for_control_characters() -> None:
    assert fault_of_value("-1 or so", ".*") is None
    assert fault_of_value("12x", "[0-9]+"), "the whole value must match"
    assert fault_of_value("a\nb", "(?s).*")


def test_a_pattern_that_could_take_exponential_time_takes_none() -> None:
    before = time.process_time()
    assert fault_of_value("a" * 1000 + "!", "(a+)+")
    assert time.process_time() - before < 1.0


@pytest.mark.parametrize("pattern", ["(", r"(?=a)b", ")|(", r"(a)\1"])
def test_what_is_no_pattern_is_rejected(pattern: str) -> None:
    assert fault_of_pattern(pattern)
