"""String formats as k8s.io/kube-openapi checks them."""

import time

import pytest

from crdgen.formats import FORMATS


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("date-time", "2026-01-02T03:04:05Z", True),
        ("date-time", "2026-01-02t03:04:05.123+01:00", True),
        ("date-time", "2026-01-02T24:00:00Z", False),
        ("date-time", "2026-02-30T03:04:05Z", False),
        ("date-time", "2026-01-02T03:04:05", False),
        ("date-time", "0000-02-29T03:04:05Z", True),
        ("date-time", "2026-01-02T03:04:05ZTmore", True),
        ("date-time", "٢٠٢٦-01-02T03:04:05Z", False),
        ("date", "2026-01-02", True),
        ("date", "20260102", False),
        ("byte", "YQ==", True),
        ("byte", "YQ", False),
        ("byte", "", False),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", True),
        ("uuid", "123e4567e89b12d3a456426614174000", True),
        ("uuid", "123e4567", False),
        ("ipv4", "10.0.0.1", True),
        ("ipv4", "010.0.0.1", True),
        ("ipv4", "10.0.0.256", False),
        ("ipv4", "10.0.1", False),
        ("ipv6", "::1", True),
        ("ipv6", "10.0.0.1", False),
        ("cidr", "10.0.0.0/8", True),
        ("cidr", "10.0.0.0/33", False),
        ("cidr", "fd00::/8", True),
        ("cidr", "10.0.0.0", False),
        ("k8s-short-name", "a-b", True),
        ("k8s-short-name", "a.b", False),
        ("k8s-long-name", "a.b", True),
        ("k8s-long-name", "A.b", False),
        ("duration", "2 hours", True),
        ("duration", "soon", False),
        ("email", "A B <a@b.c>", True),
        ("email", "a@", False),
        ("hostname", "a-b.example", True),
        ("hostname", "a..b", False),
        ("mac", "00:00:5e:00:53:01", True),
        ("mac", "00:00:5e:00:53", False),
        ("uri", "https://a.b/c?d", True),
        ("uri", "a b", False),
        ("uri", f"http://[{'9' * 5000}.1.1.1]", False),
        ("uri", "http://[1.2.3.4]", False),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", True),
        ("uuid4", "123e4567-e89b-12d3-a456-426614174000", False),
        ("isbn", "only the API server checks this format", True),
    ],
)
def test_a_text_matches_a_format(name: str, text: str, expected: bool) -> None:
    assert FORMATS[name](text) is expected


@pytest.mark.parametrize(
    "part", ["1", "0", "a ", "a.", "a", " ", '"', "<", "a@", "1,:", "[", "%41", "\u00e4", "::", "="]
)
def test_long_texts_are_checked_in_linear_time(part: str) -> None:
    began = time.process_time()
    for text in (f"1{part * 100_000}!", f"http://{part * 100_000}!", f'"{part * 100_000}"'):
        for is_valid in FORMATS.values():
            is_valid(text)
    assert time.process_time() - began < 10
