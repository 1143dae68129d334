"""The formats of names in Kubernetes. Each function returns what is wrong with a text, or None.

Formats and limits are those of `k8s.io/apimachinery/pkg/util/validation` and `k8s.io/apimachinery/pkg/api/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from ipaddress import IPv6Address, ip_address
from typing import Final, TypeAlias

from crdgen.dns import LABEL_1035, LABEL_LENGTH, SUBDOMAIN_LENGTH, mask_trailing_dash

#: RFC 1123 and RFC 1035: longest label, longest whole name, in characters.
LABEL_LIMIT = LABEL_LENGTH
SUBDOMAIN_LIMIT = SUBDOMAIN_LENGTH

#: Characters of `generateName` that the API server keeps: it adds five random ones, up to 63.
GENERATED_LIMIT = 58

#: Longest name and highest number of a port.
PORT_NAME_LIMIT = 15
PORT_LIMIT = 65535

#: Patterns of formats, without limits of length: an RFC 1123 label and subdomain, the value of a label (and its key
#: after the '/'), `[prefix/]name`, an environment variable, a key of a ConfigMap, the name of a port. Runs of
#: characters are possessive, which saves a third of the time of those in `crdgen.dns`; groups are not, because Python
#: before 3.11.5 matches those wrongly.
LABEL = r"[a-z0-9][-a-z0-9]*+(?<!-)"
SUBDOMAIN = rf"{LABEL}(?:\.{LABEL})*"
QUALIFIED = r"[A-Za-z0-9][-_.A-Za-z0-9]*+(?<![-_.])"
QUALIFIED_NAME = rf"(?:{QUALIFIED}|{SUBDOMAIN}/{QUALIFIED})"
ENVIRONMENT = r"[ -<>-~]+"
CONFIG_KEY = r"[-._a-zA-Z0-9]+"
#: A URL with http or https, without a user or a fragment.
HTTP_ADDRESS = r"^https?://[-.:\[\]A-Za-z0-9]+([/?][!\"$-~]*)?$"
PORT_NAME = r"(?=[0-9-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*"

#: Returns the fault of a text, or None.
Check: TypeAlias = Callable[[str], str | None]


def _format(pattern: str, message: str, limit: int | None = None) -> Check:
    """Return a check of the form and the length of a text."""
    too_long = f"must be no more than {limit} characters"

    @cache
    def form() -> re.Pattern[str]:
        return re.compile(rf"(?:{pattern})\Z")

    def check(text: str) -> str | None:
        if limit is not None and len(text) > limit:
            return too_long
        return None if form().match(text) else message

    return check


#: An RFC 1123 label: the name of a container, a volume, a host.
dns_label = _format(
    LABEL, "must consist of lower case letters, digits and '-', and begin and end with a letter or a digit", LABEL_LIMIT
)
#: An RFC 1035 label: the name of a Service.
dns_1035_label = _format(
    LABEL_1035,
    "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or a digit",
    LABEL_LIMIT,
)
#: An RFC 1123 subdomain: the name of most objects.
dns_subdomain = _format(
    SUBDOMAIN,
    "must consist of lower case letters, digits, '-' and '.', and each part between dots must begin and end "
    "with a letter or a digit",
    SUBDOMAIN_LIMIT,
)
#: The value of a label; it may be empty.
label_value = _format(
    rf"(?:{QUALIFIED})?",
    "must be empty, or begin and end with a letter or digit and hold letters, digits, '-', '_' and '.'",
    LABEL_LIMIT,
)
#: The name of an environment variable.
environment_name = _format(ENVIRONMENT, "must be printable ASCII characters other than '='")
#: The name of a port (IANA service name).
port_name = _format(
    PORT_NAME,
    "must consist of lower case letters, digits and '-', with at least one letter, and not begin or end with '-' nor "
    "hold '--'",
    PORT_NAME_LIMIT,
)
#: The name of an HTTP header.
http_header = _format(r"[-A-Za-z0-9]+", "must consist of letters, digits and '-'")

_qualified = _format(
    QUALIFIED, "the name must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or a digit"
)
_config_key = _format(CONFIG_KEY, "must consist of letters, digits, '-', '_' and '.'", SUBDOMAIN_LIMIT)
_search = _format(
    r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
    "must be a domain of lower case letters, digits, '-', '_' and '.', as in svc.cluster.local, or '.' for the "
    "root; each part between dots must begin with a letter, a digit or one '_' and end with a letter or a digit",
    SUBDOMAIN_LIMIT,
)


def generate_name(text: str) -> str | None:
    """Check `generateName`, to which the API server adds five characters.

    The API server checks it as a DNS subdomain, with "a" for the last two characters if it ends in '-', and then checks
    the generated name. Both must be valid.
    """
    return dns_subdomain(mask_trailing_dash(text)) or dns_subdomain(text[:GENERATED_LIMIT] + "aaaaa")


def search_domain(text: str) -> str | None:
    """Check a search domain of DNS: a DNS subdomain that may contain '_' and end in '.', or the root '.'."""
    return None if text == "." else _search(text.removesuffix("."))


def qualified_name(text: str) -> str | None:
    """Check `[prefix/]name`: the key of a label or an annotation, the name of a resource or a condition."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or "/" in prefix):
        return "must be a name with at most one '/', as in example.com/name"
    if slash and (fault := dns_subdomain(prefix)):
        return f"the part before '/' {fault}"
    if not name:
        return "the name must not be empty"
    if len(name) > LABEL_LIMIT:
        return f"the name must be no more than {LABEL_LIMIT} characters"
    return _qualified(name)


def annotation_key(text: str) -> str | None:
    """Check the key of an annotation: like that of a label, but the prefix may have upper-case letters."""
    if not qualified_name(text):
        return None
    # Go converts letter by letter: a dotted capital I becomes a plain i.
    return qualified_name(text.replace("\u0130", "i").lower())


def config_key(text: str) -> str | None:
    """Check a key of a ConfigMap or a Secret."""
    if fault := _config_key(text):
        return fault
    return "must not be '.', nor begin with '..'" if text == "." or text.startswith("..") else None


def port_number(number: int) -> str | None:
    """Check the number of a port."""
    return None if 1 <= number <= PORT_LIMIT else f"must be between 1 and {PORT_LIMIT}"


def ip(text: str) -> str | None:
    """Check an IPv4 or IPv6 address: without a zone, leading zeros or an IPv4 address mapped into IPv6.

    Checked since Kubernetes 1.36 (feature gate `StrictIPCIDRValidation`).
    """
    try:
        address = ip_address(text)
    except ValueError:
        return "must be an IP address without leading zeros, as in 10.9.8.7 or 2001:db8::ffff"
    if isinstance(address, IPv6Address):
        if address.scope_id is not None or "%" in text:
            return "must be an IP address without a zone"
        if address.ipv4_mapped is not None:
            return "must be the plain IPv4 address, not one mapped into IPv6"
    return None


#: The domain of Services, unless the cluster has another.
DOMAIN: Final = "svc.cluster.local"
