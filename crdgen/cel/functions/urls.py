"""URLs in rules (k8s.io/apiserver, pkg/cel/library/urls.go)."""

from typing import Final

from crdgen import urls
from crdgen.cel.functions.overloads import Table
from crdgen.cel.times import Fault


class URL(urls.URL):
    """A URL that rules hold."""

    __slots__ = ()
    cel_type = "kubernetes.URL"


def _read(text: str) -> URL:
    try:
        found = urls.parse(text)
    except urls.BadURL as error:
        raise Fault(f"URL parse error during conversion from string: {error}") from None
    return URL(found.scheme, found.host, found.raw_path, found.raw_query)


URLS: Final[Table] = {
    ("url", str): _read,
    ("isURL", str): urls.is_uri,
    ("getScheme", URL): lambda url: url.scheme,
    ("getHost", URL): lambda url: url.host,
    ("getHostname", URL): lambda url: url.hostname,
    ("getPort", URL): lambda url: url.port,
    ("getEscapedPath", URL): lambda url: url.path,
    ("getQuery", URL): lambda url: url.query,
}
