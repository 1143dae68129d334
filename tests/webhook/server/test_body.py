"""Bodies: decoded strictly, and quickly where they come from the API server."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webhook.values import json_values
from webhook.server import body
from webhook.server.body import BadRequest, decode


def as_go_holds(value: Any) -> Any:
    """A value as the API server holds it: a number beyond 64 bits is a float."""
    if isinstance(value, dict):
        return {key: as_go_holds(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_go_holds(inner) for inner in value]
    return float(value) if type(value) is int and not -(2**63) <= value < 2**63 else value


def go(value: Any) -> bytes:
    """JSON as Go's encoder writes it."""
    text = json.dumps(as_go_holds(value), separators=(",", ":"), ensure_ascii=False)
    for plain in "<>&":
        text = text.replace(plain, f"\\u{ord(plain):04x}")
    return text.encode() + b"\n"


@settings(max_examples=60)
@given(st.dictionaries(st.text(st.sampled_from('<>&\\u03ce"a:'), max_size=8), json_values, max_size=3))
def test_what_go_writes_is_read_as_it_was(value: dict[str, Any]) -> None:
    assert decode(go(value)) == as_go_holds(value)


@pytest.mark.parametrize(
    "text",
    [
        go({"a": "x<y>z&w:", "b": [1, 2.5, None, 'é\n"\\']}),
        b' { "a" : "b\\u0041\\/" , "c": 1.50e+1 }\r\n',
        json.dumps({"a": "é:ü", ":": [{}]}, indent=2).encode(),
    ],
)
def test_a_body_is_read_once_however_it_is_spelled(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "_reject_duplicates", lambda _: pytest.fail("read a second time"))
    assert decode(text) == json.loads(text)


#: What JSON is made of, so that texts of them are often JSON, and full of what could hide a colon.
MEMBERS = st.lists(
    st.tuples(
        st.sampled_from(
            [b'"a"', b'":"', b'"\\u003a"', b'"\\u003A"', b'"\\\\u003a"', b'"\\u0061"', b'"a\\u003a:"', b'""']
        ),
        st.sampled_from([b":", b" : "]),
        st.sampled_from(
            [b"1", b'":"', b'"\\u003a\\u003A"', b'{"a":1}', b'{"a":1,"a":2}', b'["\\u003a",":"]', b"1e5", b"null"]
        ),
    ),
    max_size=5,
)


@settings(max_examples=400)
@given(MEMBERS)
def test_the_colons_say_what_a_reader_that_minds_each_key_says(members: list[tuple[bytes, bytes, bytes]]) -> None:
    text = b"{" + b",".join(b"".join(member) for member in members) + b"}"
    expected = read = None
    try:
        body._reject_duplicates(text)
    except BadRequest as error:
        expected = error.reason
    try:
        decode(text)
    except BadRequest as error:
        read = error.reason
    assert read == expected


KEYS = st.lists(st.text(st.sampled_from('<&\\u03ce"a'), max_size=6), min_size=1, max_size=4)


def spelled(key: str, spelling: int) -> bytes:
    """A key in one of its spellings."""
    text = json.dumps(key).encode()
    return text.replace(b"<", b"\\u003c").replace(b"&", b"\\u0026") if spelling else text


@settings(max_examples=100)
@given(KEYS, st.lists(st.integers(0, 1), min_size=8, max_size=8))
def test_a_key_that_stands_twice_is_rejected_however_it_is_spelled(keys: list[str], spellings: list[int]) -> None:
    members = [
        b"%b:%d" % (spelled(key, spelling), place)
        for place, (key, spelling) in enumerate(zip([*keys, keys[0]], spellings, strict=False))
    ]
    with pytest.raises(BadRequest, match="stands twice"):
        decode(b'{"o":{' + b",".join(members) + b"}}")


@pytest.mark.parametrize(
    "text", [b'{"a":1,"b":{"a":1}}', b'[{"a":1},{"a":1}]', b' { "a" : 1 } ', b'{"\\\\u003c":1,"<":2}']
)
def test_a_key_may_stand_once_in_each_object(text: bytes) -> None:
    assert decode(text) == json.loads(text)


def test_the_message_of_a_duplicate_is_short() -> None:
    with pytest.raises(BadRequest) as error:
        decode(b'{"%b":1,"%b":2}' % (b"x" * 5000, b"x" * 5000))
    assert len(str(error.value)) < 150
