"""Texts at the limits of the formats that the API server checks."""

from typing import Final

# fmt: off
_USERS: Final = (
    "a@", "a:b@", "a:b:c@", "a%40b@", "a b@", "ä@", "a%zz@", "@", "a@b@", "[@", "a/b@", '"@', "%@", "a;b=c,$!*'()~+&@",
)
_HOSTS: Final = (
    "", "a", "a.b", "A.B", "ä.ö", "a b", "a_b", "a~b", "a!b", "a$b&c'(d)*e+f,g;h=i", "a<b>", 'a"b', "a`b", "a{b}",
    "a|b", "a\\b", "a^b", "a%20b", "a%C3%A4", "a%25", "a%zz", "a%", "a%4", "a%c", "%41", "a#b", "a:", "a:80", "a:b",
    "a:80:80", "a:80b", "a:-1", "a:99999999", "a:８",  # noqa: RUF001
    ":", ":80", "::1", "a,b:80", "a:80,b:80", "[::1]", "[::1]:80",
    "[::1]80", "[::1]:", "[::1]:a", "[::1", "::1]", "a[::1]", "[::1]]", "[[::1]", "[]", "[a]", "[1.2.3.4]",
    "[::1.2.3.4]", "[::01.2.3.4]", "[fe80::1%25en0]", "[fe80::1%en0]", "[fe80::1%25]", "[fe80::1%25a%20b]",
    "[fe80::1%25%41]", "[fe80::1%25a%2Fb]", "[fe80::1%25a%25b]", "[fe80::1%25a b]", "[::1%20]", "[12345::]",
    "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:8::]", "[1::2::3]", "[:1]", "[1:]", "[::ffff:1.2.3]",
    "[::g]", "[v1.a]", "[::1]a:80", "[::%41]",
)
_PATHS: Final = (
    "/", "//", "/a b", "/a%20b", "/a%2", "/a%zz", "/%", "/ä", "/a:b", "/a?b", "/a?b?c", "/a?%zz", "/a?b#%zz", "/a?b c",
    "/a#b", "/a#b c", "/a#%zz", "/a##b", "/#", "/?", "?", "?a", "?a=b&c;d&e=%zz&=f&g", "#", "#a", "/a\tb", "/a\nb",
    "/a\x7f", "/a\x00b", "/a?\x1f", "/a\\b", "/[a]", "/a*b", "/a|b", '/"<>`{}^', "/a!b'(c)", "/%41%2f%2F", "/../a/./b",
    "/ÿ%FF",
)
_WHOLE: Final = (
    "", " ", "*", "a", "a b", "./a", "../a", "/a", "//a", "//a b", "//a@b:c", "///a b", "a:", "a:b", "a:b c", "a:%zz",
    "a:/b", "a:/%zz", "a:?b", "a:#", "mailto:a@b.c", "urn:isbn:1", "data:text/plain;base64,YQ==", ":a", "1a:b",
    "a1+-.:b", "ä:b", "a_b:c", "http", "http:", "http:/", "http://", "http:a", "HTTP://A", "http:/a b", "http://a b",
    " http://a", "http://a ", "http ://a", "/a:b", "a/b:c", "?a", "#a", "%41", "/\x00", "javascript:alert(1)",
    "file:///a", "x://a:b:c:1", "x://::1", "x://a:1:b", "https://a:1:2", "postgres://a:1,b:2/c",
    "http://[::1%25a]:80/b?c#d", "http://a?b", "http://a#b", "//",
)
# fmt: on
URLS: Final = tuple(
    dict.fromkeys(
        [
            *_WHOLE,
            *(f"http://{user}h/" for user in _USERS),
            *(f"x://{user}h" for user in _USERS),
            *(f"http://{host}/p" for host in _HOSTS),
            *(f"x://{host}" for host in _HOSTS),
            *(f"http://h{path}" for path in _PATHS),
            *_PATHS,
        ]
    )
)
# fmt: off
_MAIL: Final = (
    "a@b", "a@b.c", "a.b@c", ".a@b", "a.@b", "a..b@c", "a@b.", "a@.b", "a@b..c", "@b", "a@", "a", "", " ", " a@b ",
    "a @b", "a@ b", "a b@c", "ä@ö", "a@b@c", "a+b@c", "a!#$%&'*+-/=?^_`{|}~@b", "a,b@c", "a;b@c", "a(b)@c", "a@b(c)",
    "a@b (c)", "a@b (c", "a@b c)", "a@b (c(d))", "a@b (c\\)", "a@b (c) (d)", "a@b (c) d", "(c) a@b", '"a"@b',
    '"a b"@c', '""@b', '"a@b', '"a"b@c', '"a\\"b"@c', '"a\nb"@c', '"a\tb"@c', '"a\\\tb"@c', '"a\\\nb"@c', "<a@b>",
    "<a@b", "a@b>", "<>", "< a@b>", "<a@b >", "A <a@b>", "A B <a@b>", "A.B <a@b>", "A, B <a@b>", '"A, B" <a@b>',
    "A <a@b> B", "A <a@b>, C <c@d>", "a@b, c@d", "A<a@b>", "A: a@b;", "A: a@b, c@d;", "A:;", "A: ;", "A: a@b",
    ": a@b;", "A: B <a@b>;", "A: B: a@b;;", "A: a@b; (c)", "A: a@b; c", "a@[1.2.3.4]", "a@[1.2.3]", "a@[::1]",
    "a@[IPv6:::1]", "a@[]", "a@[1.2.3.4", "a@[01.2.3.4]", "a@[fe80::1%25a]", "A (c) <a@b>", "A (c <a@b>",
    "(c) A <a@b>", "A (c) B <a@b>", "=?utf-8?q?caf=C3=A9?= <a@b>", "=?koi8-r?q?a?= <a@b>", "=?koi8-r?q?=?= <a@b>",
    "=?koi8-r?b?YQ==?= <a@b>", "=?koi8-r?b?YQ?= <a@b>", "A =?koi8-r?q?a?= <a@b>", "=?UTF-8?B?YQ==?= <a@b>",
    "=?x?q??= <a@b>", "a@b (=?koi8-r?q?a?=)", "a@b (=?utf-8?q?a?=)", "=?koi8-r?z?a?= <a@b>", "a\x00@b", "a@b\n",
    "\ta@b", "a@b\t", "a@-b-", "a@b_c", '"A" "B" <a@b>', '"A"B <a@b>', "A. <a@b>", ".A <a@b>", "A.. <a@b>",
    "A\\B <a@b>", "[A] <a@b>", "A@B <a@b>", "A <a@b> (c)",
)
_ADDRESSES: Final = (
    "1.2.3.4", "01.2.3.4", "1.2.3.004", "1.2.3.0004", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", "1.2.3.٤",
    "1.2.3.4 ", "", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
    "::1.2.3.4", "::01.2.3.4", "1.2.3.4::", "::ffff:1.2.3.4", "::ffff:1.2.3", "12345::", "00001::", "::00001",
    "fe80::1%a", "::1%", ":1", "1:", ":::", "::g", "A::F", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4",
    "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8::", "::1.2.3.256",
)
_DURATIONS: Final = (
    "1h", "1h30m", "-1h", "+1h", "1.5h", ".5h", "1.h", "1", "0", "+0", "-0", "", "-", "1 h", "h", "1x", "1h ", " 1h",
    "1µs", "1μs", "1us", "1ms1ns", "1H", "2 hours", "2 Hours and 3 minutes", "soon, in 3 weeks", "1 fortnight", "1 d",
    "1 wk", "1 weeks", "1 monday", "1 mi", "1 month", "1 millis", "1 microns", "1 s", "1 secs", "1 sx", "1 hr",
    "1 hrs", "PT1H", "P1D", "P1W", "٣h", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns",
    "9223372036854775808 days", "2562048h", "9999999999999 weeks", "1e3s", "1h1", "1.1.1s", "1.5 h",
    "0.000000000000000000001h", "9.99999999999999999999s",
)
_MACS: Final = (
    "00:00:5e:00:53:01", "00-00-5E-00-53-01", "0000.5e00.5301", "00005e005301", "00:00:5e:00:53", "00:00-5e:00:53:01",
    "02:00:5e:10:00:00:00:01", "02005e1000000001", "0200.5e10.0000.0001", "0:0:5e:0:53:1", "00:00:5g:00:53:01",
    "00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00", "0000000000000000000000000000000000000000",
    "0000.5e00:5301", "00:00:5e:00:53:01:", "00:00:5e:00:53:0", "",
)
_HEXADECIMAL: Final = (
    "0123456789abcdef01234567", "0123", "0123456789ABCDEF01234567", "g123456789abcdef01234567", "", "#fff", "fff",
    "#FFFFFF", "#ffff", "#ggg", "##fff", "123-45-6789", "123456789", "123 45 6789", "123-456789", "123-45-678",
)
_NAMES: Final = (
    "a", "a.b", "a.bc", "a-b.bc", "-a.bc", "a-.bc", "a..bc", "a.b1", "a.1b", "a1", "1", "1a.bc", "a_b.bc", "ä.öü",
    "☃.net", "a.☃", "a.", ".a", "", "a b", "A.BC", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bc",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bc", "a-b", "a--b", "-a", "a-",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-", "$", "$.bc", "a.b-c", "a.xn--b", "٣",
    "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "a.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "äb-c", "😀", "A-b",
    "a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a",
    "a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-", "a.b.c.d.ef", "a\n", "a/b",
    "a" * 63 + ".bc", "a" * 64 + ".bc", "a." * 126 + "bc", "a." * 127 + "bc", "a." + "b" * 63, "a." + "b" * 64, "a" * 253,
    ".".join(["a" * 61] * 4), ".".join(["a" * 63] * 4),
)
_TIMES: Final = (
    "2026-01-02", "2026-02-29", "2024-02-29", "0000-02-29", "2026-1-2", "2026-13-01", "20260102", "02026-01-02",
    "2026-01-02 ", "", "2026-01-02T03:04:05Z", "2026-01-02t03:04:05z", "2026-01-02T03:04:05",
    "2026-01-02T03:04:05+01:00", "2026-01-02T24:00:00Z", "2026-01-02T23:59:60Z", "2026-01-02T03:04:05.5Z",
    "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05x5Z", "2026-01-02T03:04:05\n5Z", "2026-01-02T03:04:05ZTmore",
    "2026-01-02T03:04Z", "2026-01-02T03:04:05+99:99", "2026-01-02 03:04:05Z", "٢٠٢٦-01-02", "20T",
    "2026-01-02T3:04:05Z", "2026-01-02T03:04:05.Z", "2026-02-30T03:04:05Z", "T03:04:05Z", "2026-01-02T",
)
_BYTES: Final = (
    "YQ==", "YQ=", "YQ", "YWI=", "YWJj", "", "YQ==\n", "Y_-=", "YWJjYQ==", "YWJj=", "====", "Y Q=", "a+/=",
)
# fmt: on
_CIDRS: Final = (
    *(f"{address}/{length}" for address in _ADDRESSES for length in ("8", "33", "129")),
    *(
        "1.2.3.4",
        "1.2.3.4/",
        "/8",
        "1.2.3.4/08",
        "1.2.3.4/0008",
        "1.2.3.4/-1",
        "1.2.3.4/8/8",
        "::1/٨",
        "::/128",
        "1.2.3.4/a",
    ),
)
_UUIDS: Final = (
    *(
        form.format(version=version, variant=variant)
        for form in (
            "123e4567-e89b-{version}2d3-{variant}456-426614174000",
            "123E4567E89B{version}2D3{variant}456426614174000",
        )
        for version in "1345"
        for variant in "8c0b"
    ),
    *("123e4567-e89b-12d3-a456-42661417400", "g23e4567-e89b-12d3-a456-426614174000", ""),
    "123e4567--e89b-12d3-a456-426614174000",
)

#: Texts by format.
TEXTS: Final = {
    "byte": _BYTES,
    "cidr": _CIDRS,
    "date": _TIMES,
    "date-time": _TIMES,
    "duration": _DURATIONS,
    "email": _MAIL,
    "bsonobjectid": _HEXADECIMAL,
    "hexcolor": _HEXADECIMAL,
    "ssn": _HEXADECIMAL,
    "hostname": (*_NAMES, *_ADDRESSES),
    "ipv4": _ADDRESSES,
    "ipv6": _ADDRESSES,
    "k8s-long-name": _NAMES,
    "k8s-short-name": _NAMES,
    "mac": _MACS,
    "password": _MACS,
    "uri": URLS,
    "uuid": _UUIDS,
    "uuid3": _UUIDS,
    "uuid4": _UUIDS,
    "uuid5": _UUIDS,
    # Dashes in names of formats are ignored; unknown formats are not checked.
    "d-a-t-e": _TIMES,
    "datetime": _TIMES,
    "strange": _MACS,
}

#: Texts with another verdict than on the API server, which nobody writes (docs/reference/crdgen-fidelity.md).
LISTED: Final = {
    "cidr": {"00001::/8", "00001::/33", "::00001/8", "::00001/33"},
    "email": {
        *('""@b', "=?koi8-r?q?a?= <a@b>", "=?koi8-r?b?YQ==?= <a@b>", "=?x?q??= <a@b>", "a@ b", "a@b(c)", "a@b (c)"),
        *("a@b (c(d))", "a@b (c) (d)", "< a@b>", "A: a@b;", "A: B <a@b>;", "A: a@b; (c)", "a@[1.2.3.4]", "a@[::1]"),
        *("A (c) <a@b>", "A (c) B <a@b>", "a@b (=?utf-8?q?a?=)", '"A" "B" <a@b>', '"A"B <a@b>', "A <a@b> (c)"),
    },
    "hostname": {"$", "$.bc", "ä.öü", "😀", "☃.net"},
    "uri": {
        *("http://a:80,b:80/p", "x://a:b:c:1", "x://::1", "http://a%25/p", "x://a%25", "x://a:80:80"),
        *(
            f"{scheme}://[fe80::1%25{zone}]{path}"
            for scheme, path in (("http", "/p"), ("x", ""))
            for zone in ("a%20b", "%41", "a%25b")
        ),
    },
}
