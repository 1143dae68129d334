from collections.abc import Callable
from itertools import product

import pytest

from crdgen import dns
from jobgate import names

Format = Callable[[str], str | None]

#: Each format, texts that it accepts, and texts that it rejects.
FORMATS: list[tuple[Format, list[str], list[str]]] = [
    (
        names.dns_label,
        ["a", "0", "a-b", "1a", "a--b", "a" * 63],
        ["", "A", "-a", "a-", "a.b", "a_b", "a b", "é", "a\n", "a" * 64],
    ),
    (
        names.dns_1035_label,
        ["a", "a1", "a-1", "a" * 63],
        ["", "1a", "A", "-a", "a-", "a.b", "a\n", "a" * 64],
    ),
    (
        names.dns_subdomain,
        ["a", "0", "a.b", "a-b.c-d", "1.2.3", "a" * 253],
        ["", "A", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "a_b", "a\n", "a" * 254],
    ),
    (
        names.generate_name,
        ["a", "a-", "a.b-", "job-1-", "a" * 58, "a" * 200],
        ["A", "-", "-a", "a.", "a_", "A-", "a.-", "a b-", "a" * 254],
    ),
    (
        names.search_domain,
        [".", "a", "a.", "a.b.", "_tcp.a", "a_b.c", "svc.cluster.local", "a" * 253 + "."],
        ["", "..", "a..", "__a", "a_", "A", "-a", "a b", "a\n", "a" * 254],
    ),
    (
        names.qualified_name,
        ["a", "A", "a_b.c-d", "1", "example.com/a", "a/B", "a" * 63, "a" * 253 + "/" + "a" * 63],
        ["", "/", "a/", "/a", "a/b/c", "-a", "a-", "a b", "A.com/a", "a_b/c", "a\n", "a" * 64, "a" * 254 + "/a", "é"],
    ),
    (
        names.annotation_key,
        ["a", "A", "Example.COM/a", "a/B"],
        ["", "/a", "a/b/c", "a b", "-", "A_b/c", "a" * 64],
    ),
    (
        names.label_value,
        ["", "a", "A", "a_b.c-d", "1", "a" * 63],
        ["-", "a-", "_a", "a b", "a/b", "é", "a\n", "a" * 64],
    ),
    (
        names.environment_name,
        ["a", "A_B", "1a", "a.b-c", "a b", " ", "~", '"', "a" * 300],
        ["", "a=b", "=", "é", "a\t", "a\n", "\x7f", "a\0"],
    ),
    (
        names.config_key,
        ["a", "A.b_c-d", ".a", "a..b", "a" * 253],
        ["", ".", "..", "..a", "a/b", "a b", "é", "a\n", "a" * 254],
    ),
    (
        names.port_name,
        ["http", "a", "8080a", "a-b", "a" * 15],
        ["", "80", "-a", "a-", "a--b", "A", "a_b", "a b", "a\n", "a" * 16],
    ),
    (
        names.http_header,
        ["Accept", "X-Y", "-", "1"],
        ["", "X_Y", "X Y", "X:", "é", "X\n"],
    ),
    (
        names.ip,
        ["10.9.8.7", "0.0.0.0", "::", "::1", "2001:db8::ffff", "2001:DB8:0::1", "::1.2.3.4", "1:2:3:4:5:6:7::"],
        [
            "",
            "10.9.8",
            "10.9.8.07",
            "256.0.0.1",
            "10.9.8.7/8",
            " 10.9.8.7",
            "fe80::1%eth0",
            "::ffff:1.2.3.4",
            "::ffff:102:304",
            "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7::8",
            "٣.1.1.1",
        ],
    ),
]


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        pytest.param(format_, text, id=f"{format_.__name__} {text[:20]!r}")
        for format_, right, _ in FORMATS
        for text in right
    ],
)
def test_a_format_accepts_what_kubernetes_accepts(format_: Format, text: str) -> None:
    assert format_(text) is None


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        pytest.param(format_, text, id=f"{format_.__name__} {text[:20]!r}")
        for format_, _, wrong in FORMATS
        for text in wrong
    ],
)
def test_a_format_reports_what_would_be_valid(format_: Format, text: str) -> None:
    assert (format_(text) or "").split()[0] in {"must", "the", "each"}


@pytest.mark.parametrize("number", [1, 80, 65535])
def test_valid_port_numbers_are_accepted(number: int) -> None:
    assert names.port_number(number) is None


@pytest.mark.parametrize("number", [-1, 0, 65536, 10**30])
def test_invalid_port_numbers_are_rejected(number: int) -> None:
    assert names.port_number(number) == "must be between 1 and 65535"


@pytest.mark.parametrize("format_", [format_ for format_, _, _ in FORMATS], ids=lambda format_: format_.__name__)
def test_no_text_is_slow_to_check(format_: Format) -> None:
    # The expressions do not backtrack: a text of megabytes that almost matches is rejected at once.
    for almost in ("a" * 10**6 + "!", "a." * 10**6 + "!", "a-" * 10**6, "1:" * 10**6, "." * 10**6):
        format_(almost)


@pytest.mark.parametrize(
    ("fault_of", "is_valid"), [(names.dns_label, dns.is_any_label), (names.dns_subdomain, dns.is_subdomain)]
)
def test_the_faster_patterns_accept_the_same_names(fault_of: Format, is_valid: Callable[[str], bool]) -> None:
    texts = ("".join(characters) for length in range(7) for characters in product("a0-.A", repeat=length))
    assert [text for text in texts if (fault_of(text) is None) is not is_valid(text)] == []
