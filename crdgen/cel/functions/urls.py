"""URLs as Go's net/url reads them, near enough (k8s.io/apiserver, pkg/cel/library/urls.go)."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, quote

from crdgen.cel.functions.overloads import Table, readable
from crdgen.cel.times import Fault

_FORM: Final = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?"
    r"(?://(?:[^/?#@]*@)?(?P<host>\[[^\]/?#]*\](?::[0-9]*)?|[^/?#@:\[\]]*(?::[0-9]*)?))?"
    r"(?P<path>[^?]*)(?:\?(?P<query>.*))?"
)
_BAD: Final = re.compile(r"[\x00-\x1f\x7f]|%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL."""

    scheme: str
    host: str
    path: str
    query: str
    cel_type = "kubernetes.URL"


def _read(text: str) -> URL:
    found = _FORM.fullmatch(text)
    refusal = Fault(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    if not found or not text or _BAD.search(text.partition("?")[0]):
        raise refusal
    scheme, host, path = found["scheme"] or "", found["host"] or "", found["path"]
    # A request's URI is absolute, or an absolute path.
    if not scheme and (not path.startswith("/") and not host):
        raise refusal
    if " " in host or "<" in host or ">" in host:
        raise refusal
    return URL(scheme.lower(), host, path.partition("#")[0], found["query"] or "")


def _hostname(url: URL) -> str:
    host = url.host
    if host.startswith("["):
        return host[1 : host.index("]")]
    return host.partition(":")[0]


def _port(url: URL) -> str:
    return url.host.rpartition("]")[2].partition(":")[2]


URLS: Final[Table] = {
    ("url", str): _read,
    ("isURL", str): readable(_read),
    ("getScheme", URL): lambda url: url.scheme,
    ("getHost", URL): lambda url: url.host,
    ("getHostname", URL): _hostname,
    ("getPort", URL): _port,
    ("getEscapedPath", URL): lambda url: quote(url.path, safe="/%:@!$&'()*+,;=~-._"),
    ("getQuery", URL): lambda url: parse_qs(url.query, keep_blank_values=True),
}
