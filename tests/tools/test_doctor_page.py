"""The page of the doctor tells every fault as the code does."""

from pathlib import Path

import pytest

from jobgate.doctor import CATALOGUE
from tools.doctor_page import page


def test_the_committed_page_is_what_the_code_gives() -> None:
    text = Path("docs/reference/doctor.md").read_text(encoding="utf-8")
    assert text == page(text), "run `python -m tools.doctor_page`"


def test_each_fault_has_a_row() -> None:
    text = Path("docs/reference/doctor.md").read_text(encoding="utf-8")
    assert [each.id for family in CATALOGUE.values() for each in family if text.count(f"\n| `{each.id}` |") != 1] == []


def test_a_page_without_a_place_for_them_is_rejected() -> None:
    with pytest.raises(ValueError, match="lacks the line"):
        page("# The doctor\n")
