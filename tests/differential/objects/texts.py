"""Random texts: of each format, of a pattern, and texts that are just within a format, or just not."""

import base64
import re
from datetime import date, datetime
from functools import cache
from typing import Any, Final

from hypothesis import provisional
from hypothesis import strategies as st

#: Letters, blanks, and characters of several bytes or UTF-16 units; no surrogates, which JSON cannot have.
LETTERS: Final = st.sampled_from("abcxAZ019 -_./:é€\U0001f600\n\t\0") | st.characters(exclude_categories=["Cs"])

WORDS: Final = ("", "a", "b", "ab", "abc", "A", "1", "80", "http", "1Gi", "500m", "ä", "a\n", " a", "a-b", "a.b", "/a")


def _stamp(moment: Any, fraction: str, zone: str, between: str) -> str:
    return f"{moment:%Y}".zfill(4) + f"{moment:-%m-%d}{between}{moment:%H:%M:%S}{fraction}{zone}"


def _joined(separator: str, parts: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=least, max_size=most).map(separator.join)


# Mostly dates of this century: schemas often lack the bounds of dates.
_DAYS: Final = st.dates(date(2021, 1, 1), date(2090, 1, 1)) | st.dates()
_STAMPS: Final = st.builds(
    _stamp,
    st.builds(datetime.combine, _DAYS, st.times()),
    st.sampled_from(["", ".5", ".123456789"]),
    st.sampled_from(["Z", "z", "+01:00", "-23:59"]),
    st.sampled_from("Tt"),
)
_ADDRESSES: Final = st.ip_addresses().map(str)
_UUIDS: Final = st.uuids().map(str)
_SPANS: Final = _joined("", st.from_regex(r"\A[0-9]{1,3}(\.[0-9])?(ns|us|ms|s|m|h)\Z"), 1, 3)
_OCTETS: Final = st.from_regex(r"\A[0-9a-fA-F]{2}\Z")

#: Valid texts of each format; other formats, such as `password`, accept any text.
RIGHT: Final[dict[str, st.SearchStrategy[str]]] = {
    "bsonobjectid": st.from_regex(r"\A[0-9a-f]{24}\Z"),
    "byte": st.binary(max_size=8).map(lambda raw: base64.b64encode(raw).decode()),
    "cidr": st.builds("{}/{}".format, _ADDRESSES, st.integers(0, 32)),
    "creditcard": st.sampled_from(["4111111111111111", "5500-0000-0000-0004", "340000000000009"]),
    "date": _DAYS.map(str),
    "date-time": _STAMPS,
    "datetime": _STAMPS,
    "duration": _SPANS | st.sampled_from(["0", "-1.5h", "2 hours", "PT1H", "P1DT2H", "-PT0.5S"]),
    "email": st.emails(),
    "hexcolor": st.from_regex(r"\A#?([0-9a-fA-F]{3}){1,2}\Z"),
    "hostname": provisional.domains(),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str) | st.just("::ffff:10.0.0.1"),
    "isbn": st.sampled_from(["0321751043", "978-0321751041", "043942089X"]),
    "isbn10": st.sampled_from(["0321751043", "043942089X", "0-321-75104-3"]),
    "isbn13": st.sampled_from(["978-0321751041", "9780321751041"]),
    "k8s-long-name": st.from_regex(r"\A[a-z]([-a-z0-9]{0,3}[a-z0-9])?(\.[a-z0-9]{1,3}){0,2}\Z"),
    "k8s-short-name": st.from_regex(r"\A[a-z]([-a-z0-9]{0,3}[a-z0-9])?\Z"),
    "mac": _joined(":", _OCTETS, 6, 6) | _joined("-", _OCTETS, 8, 8),
    "rgbcolor": st.builds("rgb({},{}, {})".format, *[st.integers(0, 255)] * 3),
    "ssn": st.from_regex(r"\A[0-9]{3}-[0-9]{2}-[0-9]{4}\Z"),
    "uri": provisional.urls()
    | st.sampled_from(["/a", "mailto:a@b.c", "urn:a:b", "https://a.b/c?d#e", "redis://a:1/0"]),
    "uuid": _UUIDS,
    "uuid3": _UUIDS.map(lambda text: f"{text[:14]}3{text[15:]}"),
    "uuid4": st.uuids(version=4).map(str),
    "uuid5": st.uuids(version=5).map(str),
    # Formats of Pydantic, which no API server checks.
    "ipvanyaddress": _ADDRESSES,
    "ipvanyinterface": st.builds("{}/{}".format, _ADDRESSES, st.integers(0, 32)),
    "ipvanynetwork": _ADDRESSES,
    "json-string": st.sampled_from(["1", "[1]", '{"a": null}', '"a"']),
    "multi-host-uri": st.sampled_from(["postgres://a:b@c:1,d:2/e", "postgresql+asyncpg://a/b"]),
    "time": st.times().map(str),
}

#: Texts that nearly have a format, or have another format than it seems.
DOUBTFUL: Final = (
    *("2026-02-30", "2026-1-2", "0000-02-29", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02T24:00:00Z"),
    *("2026-01-02T03:04:60Z", "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+0100"),
    *("1h30", "1.5.h", ".5h", "5.h", "1 fortnight", "2 hours and more", "1d", "300000000h", "+1h", "--1h", "PT1H"),
    *("010.0.0.1", "10.0.0", "10.0.0.256", "1.2.3.4.5", "::1%eth0", ":::", "::ffff:010.0.0.1", "fe80::1::2", "[::1]"),
    *("10.0.0.0/33", "10.0.0.0/08", "::1/129", "10.0.0.1/", "10.0.0.1/-1", "::ffff:10.0.0.0/120"),
    *("aGk", "aGk=\n", "aGk==", "a===", "_-8=", "aG k=", "#ff", "#fffff", "#GGG", "rgb(256,0,0)", "rgb(01,0,0)"),
    *(
        *("rgb(1,2)", "00:00:5e:00:53", "0000.5e00.5301", "00-00:5e:00:53:01", "123-45-678", "123 45 6789"),
        *("4111111111111112",),
    ),
    *(
        *("0321751044", "978-0321751042", "a_b", "-a", "a-", "A.b", "a..b", "a.", "xn--a", "localhost", "a.1", "1.a"),
        *("ä.de",),
    ),
    *(
        *("a@b", "a b@c.d", "a@b.c>", "A <a@b.c>", "@b.c", "a@", "http://", "http:///a", "a/b", "//a/b", "%zz"),
        *("/a b", "a:b"),
    ),
    *(
        *("http://a:b/", "http://[::1]:80/", "http://[::1/", "http://a b/", "/a\x7f", "/ä", "1a://b", "#a", "/a#b%zz"),
        *("?a",),
    ),
    *(
        "123e4567e89b42d3a456426614174000",
        "123e4567-e89b-62d3-c456-426614174000",
        "{123e4567-e89b-42d3-a456-426614174000}",
    ),
    *(
        "\u0661",
        "\u01c5",
        "\u017f",
        "\u212a",
        "a" * 63,
        "a" * 64,
        f"{'a' * 60}." * 5,
        "true",
        "null",
        "~",
        "1.0",
        "1e3",
        "0x1",
        "+1",
        "1e1.5",
    ),
)


def of_format(name: str) -> st.SearchStrategy[str] | None:
    """Return texts of a format, or None if the format accepts any text."""
    return RIGHT.get(name)


@cache
def matching(pattern: str) -> st.SearchStrategy[str]:
    """Return texts that match a pattern of RE2, or any texts if Python cannot compile it."""
    try:
        return st.from_regex(re.compile(pattern.replace("[[:", "\\p"), re.ASCII))
    except re.error:
        return text(0, 5)


@cache
def text(least: int, most: int) -> st.SearchStrategy[str]:
    """Return texts with `least` to `most` code points."""
    fitting = [word for word in WORDS if least <= len(word) <= most]
    drawn = st.text(LETTERS, min_size=least, max_size=most)
    return st.sampled_from(fitting) | drawn if fitting else drawn


#: Texts of any kind.
ANY: Final = st.sampled_from(WORDS) | st.sampled_from(DOUBTFUL) | st.one_of(*RIGHT.values())
