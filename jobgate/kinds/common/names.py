"""The formats of names in Kubernetes. Each function returns what is wrong with a text, or None.

Formats and limits are those of `k8s.io/apimachinery/pkg/util/validation` and `k8s.io/apimachinery/pkg/api/validation`.
"""

from __future__ import annotations

import re

#: RFC 1123 and RFC 1035: longest label, longest whole name, in characters.
LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_ENVIRONMENT = re.compile(r"[ -<>-~]+\Z")
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]+\Z")
_PORT_NAME = re.compile(r"[a-z0-9-]+\Z")
_HTTP_HEADER = re.compile(r"[-A-Za-z0-9]+\Z")


def dns_label(text: str) -> str | None:
    """Check an RFC 1123 label: the name of a container, a volume, a host."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} characters"
    if not _LABEL.match(text):
        return "must consist of lower case letters, digits and '-', and begin and end with a letter or a digit"
    return None


def dns_1035_label(text: str) -> str | None:
    """Check an RFC 1035 label: the name of a Service."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} characters"
    if not _LABEL_1035.match(text):
        return (
            "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or a digit"
        )
    return None


def dns_subdomain(text: str) -> str | None:
    """Check an RFC 1123 subdomain: the name of most objects."""
    if len(text) > SUBDOMAIN_LIMIT:
        return f"must be no more than {SUBDOMAIN_LIMIT} characters"
    if not _SUBDOMAIN.match(text):
        return (
            "must consist of lower case letters, digits, '-' and '.', and each part between dots must begin and end "
            "with a letter or a digit"
        )
    return None


def qualified_name(text: str) -> str | None:
    """Check a label's or an annotation's key, a resource's or a condition's name: `[prefix/]name`."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or "/" in prefix):
        return "must be a name with at most one '/', as in example.com/name"
    if slash and (fault := dns_subdomain(prefix)):
        return f"the part before '/' {fault}"
    if not name:
        return "the name must not be empty"
    if len(name) > LABEL_LIMIT:
        return f"the name must be no more than {LABEL_LIMIT} characters"
    if not _QUALIFIED.match(name):
        return "the name must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or a digit"
    return None


def label_value(text: str) -> str | None:
    """Check the value of a label; it may be empty."""
    if len(text) > LABEL_LIMIT:
        return f"must be no more than {LABEL_LIMIT} characters"
    if text and not _QUALIFIED.match(text):
        return "must be empty, or begin and end with a letter or digit and hold letters, digits, '-', '_' and '.'"
    return None


def environment_name(text: str) -> str | None:
    """Check the name of an environment variable: printable ASCII without '='."""
    if not _ENVIRONMENT.match(text):
        return "must be printable ASCII characters other than '='"
    return None


def config_key(text: str) -> str | None:
    """Check a key of a ConfigMap or a Secret."""
    if len(text) > SUBDOMAIN_LIMIT:
        return f"must be no more than {SUBDOMAIN_LIMIT} characters"
    if not _CONFIG_KEY.match(text):
        return "must consist of letters, digits, '-', '_' and '.'"
    if text in {".", ".."} or text.startswith(".."):
        return "must not be '.', nor begin with '..'"
    return None


def port_name(text: str) -> str | None:
    """Check the name of a port (IANA service name): at most 15 characters, one of them a letter."""
    if len(text) > 15:
        return "must be no more than 15 characters"
    if not _PORT_NAME.match(text):
        return "must consist of lower case letters, digits and '-'"
    if not re.search(r"[a-z]", text):
        return "must contain at least one letter"
    if "--" in text or text.startswith("-") or text.endswith("-"):
        return "must not begin or end with '-', nor hold '--'"
    return None


def port_number(number: int) -> str | None:
    """Check the number of a port."""
    return None if 1 <= number <= 65535 else "must be between 1 and 65535"


def http_header(text: str) -> str | None:
    """Check the name of an HTTP header."""
    return None if _HTTP_HEADER.match(text) else "must consist of letters, digits and '-'"
