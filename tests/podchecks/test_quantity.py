from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobgate.podchecks import quantity

AMOUNTS: list[tuple[str, Any, str]] = [
    ("a plain number", "2", "2"),
    ("a fraction", "0.5", "0.5"),
    ("a fraction without digits before", ".5", "0.5"),
    ("or after", "5.", "5"),
    ("thousandths", "500m", "0.5"),
    ("millionths", "3u", "0.000003"),
    ("billionths", "7n", "0.000000007"),
    ("thousands", "3k", "3000"),
    ("the greatest suffix", "2E", "2e18"),
    ("an exponent", "1e3", "1000"),
    ("one that is negative", "15E-1", "1.5"),
    ("powers of 1024", "4Gi", "4294967296"),
    ("parts of them", "0.5Ki", "512"),
    ("a binary amount stops at 63 bits", "16Ei", "9223372036854775807"),
    ("both ways", "-16Ei", "-9223372036854775807"),
    ("a decimal one does not", "16E", "16e18"),
    ("a sign", "-3", "-3"),
    ("the other", "+3", "3"),
    ("leading zeros", "007", "7"),
    ("space around it", " 1Gi ", "1073741824"),
    ("what is finer than a billionth is rounded up", "1.0000000001", "1.000000001"),
    ("away from zero", "-0.1n", "-1e-9"),
    ("however fine", "1e-999", "1e-9"),
    ("a suffix alone is nothing", "Ki", "0"),
    ("a sign alone too", "+", "0"),
    ("and a dot", ".", "0"),
    ("a number of JSON", 3, "3"),
    ("one with a fraction", 1.5, "1.5"),
    ("a large one", 1e21, "1e21"),
    ("null", None, "0"),
    ("many digits", "1" * 5000, "1" * 5000),
    ("many zeros in an exponent", "1e" + "0" * 5000 + "3", "1000"),
    ("many binary digits", "1" * 5000 + "Ki", "9223372036854775807"),
]

FAULTS: list[tuple[str, Any]] = [
    ("nothing", ""),
    ("space", " "),
    ("an exponent that is no whole number, which the usual pattern takes", "1e1.5"),
    ("an exponent without digits", "1e"),
    ("two suffixes", "1kk"),
    ("a suffix in the wrong case", "1K"),
    ("a binary suffix in the wrong case", "1ki"),
    ("a binary suffix that is none", "1mi"),
    ("a unit", "1GB"),
    ("a suffix with an exponent", "1Ki3"),
    ("space within", "1 Gi"),
    ("two dots", "1.2.3"),
    ("two signs", "--1"),
    ("words", "one"),
    ("digits of another script", "\u0661"),
    ("an exponent that Kubernetes cuts to 32 bits", "1e4294967296"),
    ("of very many digits", "1e" + "9" * 5000),
    ("an exponent that an API server hangs on", "1e2147483647"),
    ("one that it hangs on when reading", "1e-2147483647"),
    ("one just too great", "1e1001"),
    ("a great suffix alone", "Pi"),
    ("a fine exponent alone", "e-10"),
    ("a boolean", True),
    ("a list", [1]),
    ("a number that is none", float("nan")),
    ("infinity", float("inf")),
    ("a line's end", "1\n"),
]


@pytest.mark.parametrize(("case", "value", "expected"), AMOUNTS)
def test_a_quantity_is_read_exactly(case: str, value: Any, expected: str) -> None:
    assert quantity.parse(value) == Decimal(expected)


@pytest.mark.parametrize(("case", "value"), FAULTS)
def test_no_quantity_is(case: str, value: Any) -> None:
    with pytest.raises(ValueError, match="must be a quantity"):
        quantity.parse(value)


@pytest.mark.parametrize(
    ("text", "whole"),
    [("1", True), ("1000m", True), ("1.5", False), ("1e999", True), ("0.0", True), ("1n", False)],
)
def test_an_amount_is_whole(text: str, whole: bool) -> None:
    assert quantity.is_whole(quantity.parse(text)) is whole


@given(st.from_regex(r"[-+]?[0-9.]{0,30}[eEinumkKMGTP]{0,3}[-+]?[0-9]{0,25}", fullmatch=True))
@example("1e2147483647")
def test_any_text_is_a_quantity_or_a_fault(text: str) -> None:
    with suppress(ValueError):
        assert quantity.parse(text).is_finite()
