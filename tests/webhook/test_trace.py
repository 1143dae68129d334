"""Traces: which headers are valid, and what is sent on."""

import pytest

from webhook.trace import CURRENT, Trace, passed_on

ID, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{ID}-{PARENT}-01"


@pytest.mark.parametrize(
    "header, expected",
    [
        (GOOD, Trace(ID, PARENT, sampled=True)),
        (f"00-{ID}-{PARENT}-00", Trace(ID, PARENT)),
        (f"00-{ID}-{PARENT}-fe", Trace(ID, PARENT)),
        (f"cc-{ID}-{PARENT}-01", Trace(ID, PARENT, sampled=True)),
        (f"cc-{ID}-{PARENT}-01-what-comes-later", Trace(ID, PARENT, sampled=True)),
        (f"00-{ID}-{PARENT}-01-more", None),
        (f"ff-{ID}-{PARENT}-01", None),
        (f"00-{'0' * 32}-{PARENT}-01", None),
        (f"00-{ID}-{'0' * 16}-01", None),
        (GOOD.upper(), None),
        (f"{GOOD}\n", None),
        (f" {GOOD}", None),
        (f"00-{ID}-{PARENT}", None),
        (f"00-{ID[1:]}-{PARENT}-01", None),
        (f"00-{ID}-{PARENT}-01" * 1000, None),
        (f"cc-{ID}-{PARENT}-01-" + "x" * 10_000, None),
        ("", None),
        ('{"a":"b"}', None),
    ],
)
def test_only_a_trace_of_exactly_this_form_is_read(header: str, expected: Trace | None) -> None:
    assert Trace.read([header]) == expected


@pytest.mark.parametrize("header", [[], [GOOD, GOOD]])
def test_one_header_tells_a_trace(header: list[str]) -> None:
    assert Trace.read(header) is None


@pytest.mark.parametrize(
    "states, kept",
    [
        (["a=1"], "a=1"),
        (["a=1", "b=2"], "a=1,b=2"),
        (["a=" + "x" * 600], ""),
        (["a=1\r\nX: y"], ""),
        (["a=é"], ""),
        ([], ""),
    ],
)
def test_the_state_of_tracing_systems_is_sent_on_or_dropped(states: list[str], kept: str) -> None:
    trace = Trace.read([GOOD], states)
    assert trace
    assert trace.headers() == {"traceparent": GOOD} | ({"tracestate": kept} if kept else {})


def test_a_later_version_is_sent_on_as_version_0() -> None:
    trace = Trace.read([f"cc-{ID}-{PARENT}-ff-more"])
    assert trace
    assert trace.headers() == {"traceparent": GOOD}


def test_calls_belong_to_the_trace_of_the_request_that_is_answered() -> None:
    assert passed_on() == {}
    before = CURRENT.set(Trace(ID, PARENT, sampled=True))
    assert passed_on() == {"traceparent": GOOD}
    CURRENT.reset(before)
    assert passed_on() == {}
