"""URLs as Go's url.ParseRequestURI takes them: the format `uri`, and CEL's `url`, `isURL` and `format.uri()`.

Go is lenient about paths and queries, and strict about hosts, ports, users and percent signs; urllib reads the parts.
"""

import re
from ipaddress import IPv6Address
from typing import Final, NamedTuple
from urllib.parse import parse_qs, quote, unquote, unquote_to_bytes

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_USER: Final = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
#: An address in brackets, or a name, which databases may write with several ports; then a port.
_HOST: Final = re.compile(
    r"(?:\[([0-9A-Fa-f:.]+)(?:%25[A-Za-z0-9._~-]+)?\]|((?:[^\x00-\x20#/?@\\^`{|}%\x7f\[:]|%[89A-Fa-f][0-9A-Fa-f]|:[0-9]+,)*))"
    r"(:[0-9]*)?"
)
_NOT_ESCAPED: Final = re.compile(r"[^A-Za-z0-9._~$&+,/:;=@!'()*\[\]%-]")


class BadURL(ValueError):
    """The text is no URL."""


class URL(NamedTuple):
    """The parts of a URL; the path and the query as they are written."""

    scheme: str = ""
    host: str = ""
    raw_path: str = ""
    raw_query: str = ""

    @property
    def hostname(self) -> str:
        """The host without its port, and without the brackets of an IPv6 address."""
        return self.host[1:].partition("]")[0] if self.host.startswith("[") else self.host.partition(":")[0]

    @property
    def port(self) -> str:
        """The port, or nothing."""
        return self.host.rpartition("]")[2].rpartition(":")[2] if ":" in self.host.rpartition("]")[2] else ""

    @property
    def path(self) -> str:
        """The path, escaped: as it is written where that is right."""
        right = not _NOT_ESCAPED.search(self.raw_path)
        return self.raw_path if right else quote(unquote_to_bytes(self.raw_path), safe="$&+,/:;=@")

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters."""
        return parse_qs(self.raw_query, keep_blank_values=True)


def parse(text: str) -> URL:
    """Return the parts of what a request may ask for: an absolute URL, or an absolute path; and maybe a fragment.

    Raises:
        BadURL: It is no such thing.
    """
    check(text)
    return _parts(text.partition("#")[0])


def check(text: str) -> None:
    """Raise BadURL unless Go's url.ParseRequestURI takes the text."""
    try:
        _parts(text)
    except BadURL as error:
        raise BadURL(f'parse "{text}": {error}') from None


def is_uri(text: str) -> bool:
    """Return whether the text is of the format `uri`: whether Go's url.ParseRequestURI takes it."""
    try:
        _parts(text)
    except BadURL:
        return False
    return True


def _parts(text: str) -> URL:
    if _CONTROL.search(text):
        raise BadURL("net/url: invalid control character in URL")
    if not text:
        raise BadURL("empty url")
    if text == "*":
        return URL(raw_path="*")
    if text.startswith(":"):
        raise BadURL("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest, _, query = text[found.end() if found else 0 :].partition("?")
    if not rest.startswith("/"):
        if not scheme:
            raise BadURL("invalid URI for request")
        return URL(scheme, raw_query=query)
    if bad := _ESCAPE.search(rest):
        raise BadURL(f'invalid URL escape "{bad[0]}"')
    host = ""
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        user, _, host = authority.rpartition("@")
        host, rest = _host(host), slash + path
        if not _USER.fullmatch(user):
            raise BadURL("net/url: invalid userinfo")
    return URL(scheme, host, rest, query)


def _host(host: str) -> str:
    found = _HOST.fullmatch(host)
    if not found:
        _, _, port = host.rpartition(":")
        at_port = not host.startswith("[") and host.count(":") == 1 and not re.fullmatch("[0-9]*", port)
        raise BadURL(f'invalid port ":{port}" after host' if at_port else f'invalid host "{host}"')
    try:
        IPv6Address(found[1] or "::")
    except ValueError:
        raise BadURL(f'invalid host: ParseAddr("{found[1]}")') from None
    return unquote(host)
