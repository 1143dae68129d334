"""The conversion stanza: who turns objects of one version into another."""

import base64
import binascii
import re
from typing import Any, Final
from urllib.parse import urlsplit

from crdgen.dns import is_label, is_subdomain
from crdgen.generate.errors import SchemaError
from crdgen.resource.resource import Conversion, Service
from crdgen.schema.limits import CONVERSION_REVIEWS

_PORTS: Final = range(1, 65_536)
_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----\s(?P<body>[^-]*)-----END CERTIFICATE-----")
_SEQUENCE: Final = b"\x30"  # what a certificate begins with in DER


def stanza(conversion: Conversion, kind: str) -> dict[str, Any]:
    """Return `spec.conversion` of the CRD.

    Raises:
        SchemaError: When not exactly one of Service and URL is given, or the API server would refuse what is.
    """
    at = f"{kind} conversion"
    if (conversion.service is None) == (not conversion.url):
        given = "neither a Service nor a URL" if conversion.service is None else "a Service and a URL"
        raise SchemaError(at, f"has {given}", "give one of the two")
    client: dict[str, Any] = {"url": conversion.url}
    if conversion.service is not None:
        client = {"service": _service(conversion.service, at)}
    else:
        _check_url(conversion.url, at)
    if conversion.ca_bundle:
        client["caBundle"] = _bundle(conversion.ca_bundle, at)
    reviews = conversion.review_versions
    if not set(reviews) & set(CONVERSION_REVIEWS) or len(set(reviews)) < len(reviews):
        fix = 'use ("v1",)'
        raise SchemaError(at, f"the API server knows none of the review versions {', '.join(reviews) or '(none)'}", fix)
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": list(reviews)}}


def _service(service: Service, at: str) -> dict[str, Any]:
    for word, name in (("name", service.name), ("namespace", service.namespace)):
        if not is_label(name):
            raise SchemaError(at, f"{name!r} is no {word} of a Service", "use lower-case letters, digits and dashes")
    if service.port not in _PORTS:
        raise SchemaError(at, f"{service.port} is no port", "use one from 1 to 65535")
    # Each part of the path has the form of a DNS subdomain.
    if service.path and not all(is_subdomain(part) for part in service.path.removeprefix("/").split("/") if part):
        raise SchemaError(at, f"{service.path!r} is no path of a Service", "use parts of lower-case letters and digits")
    if service.path and (not service.path.startswith("/") or "//" in service.path):
        raise SchemaError(at, f"{service.path!r} is no path of a Service", "begin it with one slash, as `/convert`")
    entry = {"name": service.name, "namespace": service.namespace, "path": service.path, "port": service.port}
    return {key: value for key, value in entry.items() if value}


def _check_url(url: str, at: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise SchemaError(at, f"{url} is no https address", "write it as `https://convert.example.com/path`")
    for word, there in (
        ("a user", parts.username is not None),
        ("a query", bool(parts.query)),
        ("a fragment", bool(parts.fragment)),
    ):
        if there:
            raise SchemaError(at, f"the URL has {word}", "the API server takes host, port and path only")


def _bundle(bundle: str | bytes, at: str) -> str:
    text = bundle.decode("ascii", "replace") if isinstance(bundle, bytes) else bundle
    bodies = [found["body"] for found in _CERTIFICATE.finditer(text)]
    if not bodies or not all(_is_certificate(body) for body in bodies):
        fix = "give the PEM text itself, which begins with -----BEGIN CERTIFICATE-----, not in base64"
        raise SchemaError(at, "the CA bundle holds no certificate as PEM", fix)
    return base64.b64encode(text.encode()).decode()


def _is_certificate(body: str) -> bool:
    try:
        return base64.b64decode("".join(body.split()), validate=True).startswith(_SEQUENCE)
    except binascii.Error:
        return False
