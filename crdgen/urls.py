"""URLs as Go 1.26 reads them (net/url): the format `uri`, and CEL's `url`, `isURL` and `format.uri()`.

Go's parser is lenient about paths and queries, and strict about hosts, ports, users and percent signs. It works on
bytes; of characters beyond ASCII all are alike to it.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from crdgen.formats.plain import is_any_ip, is_ipv6

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_ESCAPED: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_NO_USER: Final = re.compile(r"[^A-Za-z0-9._:~!$&'()*+,;=%@-]")
# The characters below 128 that a host may not have.
_NO_HOST: Final = re.compile(r"[\x00-\x20#/?@\\^`{|}\x7f]")
_NO_PATH: Final = re.compile(r"[^A-Za-z0-9._~$&+,/:;=@!'()*\[\]%-]")
_TO_ESCAPE: Final = re.compile(rb"[^A-Za-z0-9._~$&+,/:;=@-]")
#: In a query with more parameters Go finds none.
_MOST_PARAMETERS: Final = 10_000


class BadURL(ValueError):
    """The text is no URL; the message is Go's, but for what is wrong within an IPv6 address."""


class URL(NamedTuple):
    """The parts of a URL; the path and the query as they are written."""

    scheme: str = ""
    host: str = ""
    raw_path: str = ""
    raw_query: str = ""

    @property
    def hostname(self) -> str:
        """The host without its port, and without the brackets of an IPv6 address."""
        return self._split()[0]

    @property
    def port(self) -> str:
        """The port, or nothing."""
        return self._split()[1]

    @property
    def path(self) -> str:
        """The path, escaped: as it is written, where that is right, or escaped anew."""
        if not _NO_PATH.search(self.raw_path):
            return self.raw_path
        return _TO_ESCAPE.sub(lambda found: b"%%%02X" % found[0][0], _bytes(self.raw_path)).decode("ascii")

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters; those that cannot be read are left out."""
        found: dict[str, list[str]] = {}
        parts = self.raw_query.split("&")
        for part in parts if len(parts) <= _MOST_PARAMETERS else ():
            key, _, value = part.partition("=")
            if part and ";" not in part and not _ESCAPE.search(part):
                found.setdefault(_text(key.replace("+", " ")), []).append(_text(value.replace("+", " ")))
        return found

    def _split(self) -> tuple[str, str]:
        name, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(f":{port}"):
            name, port = self.host, ""
        return (name[1:-1] if name.startswith("[") and name.endswith("]") else name), port


def parse(text: str) -> URL:
    """Return the parts of what a request may ask for: an absolute URL, or an absolute path; and maybe a fragment.

    Raises:
        BadURL: It is no such thing.
    """
    check(text)
    # The first look takes a fragment for a part of what is before; the second takes a path of two slashes for a host.
    main, _, fragment = text.partition("#")
    found = _parsed(main, request=False)
    if bad := _ESCAPE.search(fragment):
        raise _refusal(text, f"invalid URL escape {quoted(bad[0])}")
    return found


def check(text: str) -> None:
    """Raise BadURL unless Go's url.ParseRequestURI takes the text."""
    _parsed(text, request=True)


def is_uri(text: str) -> bool:
    """Tell whether the text is of the format `uri`: whether Go's url.ParseRequestURI takes it."""
    try:
        check(text)
    except BadURL:
        return False
    return True


def quoted(text: str) -> str:
    """Return the text in quotes, as Go's %q shows it."""
    return f'"{"".join(map(_shown, text))}"'


def _parsed(text: str, *, request: bool) -> URL:
    try:
        return _whole(text, request=request)
    except BadURL as error:
        raise _refusal(text, str(error)) from None


def _whole(text: str, *, request: bool) -> URL:
    if _CONTROL.search(text):
        raise BadURL("net/url: invalid control character in URL")
    if not text and request:
        raise BadURL("empty url")
    if text == "*":
        return URL(raw_path="*")
    if text.startswith(":"):
        raise BadURL("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest, _, query = text[found.end() if found else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, raw_query=query)
        if request:
            raise BadURL("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise BadURL("first path segment in URL cannot contain colon")
    host = ""
    if rest.startswith("//") and (scheme or (not request and not rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _authority(scheme, authority), slash + path
    _escapes(rest)
    return URL(scheme, host, rest, query)


def _authority(scheme: str, authority: str) -> str:
    """Return the host, with its escapes read."""
    user, at, host = authority.rpartition("@")
    found = _host(scheme, host)
    if at and _NO_USER.search(user):
        raise BadURL("net/url: invalid userinfo")
    _escapes(user)
    return found


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise BadURL("invalid IP-literal")
    if bracket == 0:
        return _literal(host)
    # Databases take several hosts with ports, so only in the Web's schemes a second colon is wrong.
    colon = host.find(":") if scheme in {"http", "https"} else host.rfind(":")
    if colon >= 0:
        _port(host[colon:])
    return _host_text(host)


def _literal(host: str) -> str:
    """Return an IPv6 address in brackets, with or without a zone and a port."""
    inner, end, port = host[1:].rpartition("]")
    if not end:
        raise BadURL("missing ']' in host")
    _port(port)
    address, percent, zone = inner.partition("%25")
    address = _host_text(address) + (_zone_text(percent + zone) if percent else "")
    number, percent, zone = address.partition("%")
    if ":" not in number.partition(".")[0]:
        raise BadURL("invalid IP-literal" if is_any_ip(address) else f"invalid host: ParseAddr({quoted(address)})")
    if not is_ipv6(number):
        raise BadURL(f"invalid host: ParseAddr({quoted(address)})")
    if percent and not zone:
        raise BadURL(f"invalid host: ParseAddr({quoted(address)}): zone must be a non-empty string")
    return f"[{address}]{port}"


def _port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise BadURL(f"invalid port {quoted(text)} after host")


def _host_text(text: str) -> str:
    """Return the text of a host; in one, only bytes beyond ASCII are escaped, and the percent sign of a zone."""
    return _within_host(text, lambda byte: byte >= 0x80)


def _zone_text(text: str) -> str:
    """Return the text of a zone; in one, a blank may be escaped, too, and what need not be."""
    return _within_host(text, lambda byte: byte >= 0x80 or byte == 0x20 or not _NO_HOST.match(chr(byte)))


def _within_host(text: str, may_be_escaped: Callable[[int], bool]) -> str:
    for found in re.finditer(r"%(.{0,2})|[^%]", text, re.DOTALL):
        sign = found[0]
        if not sign.startswith("%"):
            if _NO_HOST.match(sign):
                raise BadURL(f"invalid character {quoted(sign)} in host name")
        elif not _ESCAPED.fullmatch(sign) or not (sign == "%25" or may_be_escaped(int(sign[1:], 16))):
            raise BadURL(f"invalid URL escape {quoted(sign)}")
    return _text(text)


def _escapes(text: str) -> None:
    if bad := _ESCAPE.search(text):
        raise BadURL(f"invalid URL escape {quoted(bad[0])}")


def _text(text: str) -> str:
    return _bytes(text).decode("utf-8", "replace") if "%" in text else text


def _bytes(text: str) -> bytes:
    return re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode("utf-8", "replace")
    )


def _refusal(text: str, why: str) -> BadURL:
    return BadURL(f"parse {quoted(text)}: {why}")


_NAMED: Final = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"} | {
    '"': r"\"",
    "\\": r"\\",
}


def _shown(sign: str) -> str:
    if sign in _NAMED or sign.isprintable():
        return _NAMED.get(sign, sign)
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
