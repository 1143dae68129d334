"""Texts of findings: bounded, printable, and still of use."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook import Forbidden, Notice, Path
from webhook.text import MESSAGE_LIMIT, PATH_LIMIT, SHOWN_VALUE, line, short

#: As long as a request may be.
LONG = "k" * 1_000_000

#: What a terminal obeys, what ends a line, what no encoder takes, what turns the reading direction.
EVIL = "a\x1b[31m\nb\ud800\u202ec"


@given(st.text(st.characters(codec=None), max_size=60), st.integers(10, 40))
def test_any_text_becomes_a_printable_line_within_its_limit(text: str, limit: int) -> None:
    shortened = line(text, limit)
    assert shortened.isprintable()
    assert len(shortened) <= limit
    json.dumps(shortened, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "text, limit, expected",
    [
        ("worker", 10, "worker"),
        ("été 東京", 10, "été 東京"),
        ("0123456789", 10, "0123456789"),
        ("0123456789a", 10, "012345…89a"),
        ("a\nb\tc\rd", 20, "a\\nb\\tc\\rd"),
        (EVIL, 60, "a\\u001b[31m\\nb\\ud800\\u202ec"),
    ],
    ids=["a name", "any script", "just fits", "cut in the middle", "white space", "evil"],
)
def test_an_ordinary_text_stays_and_another_is_cut_and_escaped(text: str, limit: int, expected: str) -> None:
    assert line(text, limit) == expected


@pytest.mark.parametrize(
    "path",
    [
        Path("spec") / "tasks" / 1 / LONG / "template",
        (Path("spec") / "tasks").key(LONG) / "template",
        Path(LONG),
        Path("spec").key(EVIL),
        Path("\x1b"),
    ],
    ids=["a field", "a key", "a first step", "evil", "evil first"],
)
def test_a_path_prints_on_one_short_line_whatever_leads_there(path: Path) -> None:
    assert str(path).isprintable()
    assert len(str(path)) <= PATH_LIMIT


def test_a_long_name_in_a_path_keeps_both_its_ends_and_what_is_around_it() -> None:
    printed = str((Path("spec") / "tasks").key(f"head{LONG}tail") / "template" / "spec")
    assert printed.startswith("spec.tasks[headkkk")
    assert printed.endswith("kkktail].template.spec")
    assert "…" in printed


def test_two_paths_that_print_the_same_are_equal_only_if_their_steps_are() -> None:
    first, second = (Path("spec").key(f"{'a' * 500}{middle}{'b' * 500}") for middle in "xy")
    assert str(first) == str(second)
    assert first != second
    assert first == Path("spec").key(f"{'a' * 500}x{'b' * 500}")
    assert Forbidden(first, "no") != Forbidden(second, "no")


def test_a_finding_holds_its_path_exactly_and_its_message_bounded() -> None:
    path = Path("spec").key(LONG)
    notice = Notice(path, f"{EVIL} {LONG} is the end")
    assert notice.path.steps == ("spec", LONG)
    assert notice.message.isprintable()
    assert len(notice.message) == MESSAGE_LIMIT
    assert notice.message.endswith(" is the end")


def test_a_name_in_a_sentence_is_as_long_as_a_value_at_most() -> None:
    assert short("worker-0") == "worker-0"
    assert len(short(LONG)) == SHOWN_VALUE
