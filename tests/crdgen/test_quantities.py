"""The quantity pattern against what `resource.ParseQuantity` answered for the same text (k8s.io/apimachinery 0.36)."""

import time

import pytest

from crdgen.quantities import is_quantity

TAKEN = """
    0 1 00 -0 +1 -1 .5 5. 0. 1.5Gi 1E 1e3 1E3 1e-3 1e+3 1e0003 0e0 12e6 100m 1n 1u 1k 1Ki 1Mi 1Ti 1Pi 1Ei 1M 1G 1T 1P
    999999999999999999999999 1.000000000000000000001Gi - + . +. m k E Ki +Ki .E
"""
REFUSED = """
    1e1.5 1e 1e+ e .. 1.2.3 0x1 1ki 1mi 1K K 1EE 1Gi1 1,5 1_0 Pi Ei -Pi E-81 i Gib
"""


@pytest.mark.parametrize("text", TAKEN.split())
def test_what_kubernetes_takes_is_a_quantity(text: str) -> None:
    assert is_quantity(text)


@pytest.mark.parametrize("text", [*REFUSED.split(), "", "1 ", " 1", "1\n", "1\u0661"])
def test_what_kubernetes_rejects_is_none(text: str) -> None:
    assert not is_quantity(text)


@pytest.mark.parametrize("text", ["1e1000", "1e999999999"])
def test_an_exponent_that_takes_minutes_to_parse_is_rejected(text: str) -> None:
    assert not is_quantity(text)


@pytest.mark.parametrize("digit", "0", ids=["zeros"])
@pytest.mark.parametrize("head", ["", "1e", "1.", "."])
def test_a_long_text_is_judged_at_once(head: str, digit: str) -> None:
    # Backtracking would take hours; the bound is far from what a slow machine needs.
    begin = time.process_time()
    assert not is_quantity(head + digit * 1_000_000 + "x")
    assert time.process_time() - begin < 60
