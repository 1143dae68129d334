"""String formats as k8s.io/kube-openapi checks them."""

import pytest

from crdgen.formats.plain import FORMATS


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
        ("hexcolor", "#fff", True),
        ("ssn", "123-45-6789", True),
    ],
)
def test_a_text_has_a_format(name: str, text: str, expected: bool) -> None:
    assert FORMATS[name](text) is expected
