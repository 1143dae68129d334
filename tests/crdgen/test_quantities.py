"""Quantities are valid if `resource.ParseQuantity` accepts them. Answers of k8s.io/apimachinery 0.36 are recorded here."""

import time

import pytest

from crdgen.quantities import is_quantity

ACCEPTED = """
    0 1 00 -0 +1 -1 .5 5. 0. 1.5Gi 1E 1e3 1E3 1e-3 1e+3 1e0003 0e0 12e6 100m 1n 1u 1k 1Ki 1Mi 1Ti 1Pi 1Ei 1M 1G 1T 1P
    999999999999999999999999 1.000000000000000000001Gi - + . +. m k E Ki +Ki .E
"""
REJECTED = """
    1e1.5 1e 1e+ e .. 1.2.3 0x1 1ki 1mi 1K K 1EE 1Gi1 1,5 1_0 Pi Ei -Pi E-81 i Gib
"""


@pytest.mark.parametrize("text", ACCEPTED.split())
def test_quantities_that_kubernetes_accepts_are_accepted(text: str) -> None:
    assert is_quantity(text)


@pytest.mark.parametrize("text", [*REJECTED.split(), "", "1 ", " 1", "1\n", "1\u0661"])
def test_quantities_that_kubernetes_rejects_are_rejected(text: str) -> None:
    assert not is_quantity(text)


@pytest.mark.parametrize("text", ["1e1000", "1e999999999"])
def test_an_exponent_that_takes_minutes_to_parse_is_rejected(text: str) -> None:
    assert not is_quantity(text)


@pytest.mark.parametrize("digit", "0", ids=["zeros"])
@pytest.mark.parametrize("head", ["", "1e", "1.", "."])
def test_a_long_text_is_checked_in_linear_time(head: str, digit: str) -> None:
    # Backtracking would take hours; even a slow machine needs far less than the limit.
    begin = time.process_time()
    assert not is_quantity(head + digit * 1_000_000 + "x")
    assert time.process_time() - begin < 60
