"""Names that Kubernetes accepts (k8s.io/apimachinery, pkg/util/validation and pkg/api/validate/content).

The patterns have no anchors and no limit of length. Python, JSON Schema and CEL, also in its strings, read them alike.
"""

import re
from typing import Final

LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
LABEL_1123: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN_1123: Final = f"{LABEL_1123}([.]{LABEL_1123})*"

_LABEL_1035: Final = re.compile(LABEL_1035)
_LABEL_1123: Final = re.compile(LABEL_1123)
_SUBDOMAIN: Final = re.compile(SUBDOMAIN_1123)
_KEY_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253

LABEL: Final = f"at most {LABEL_LENGTH} lower-case letters, digits and dashes, beginning with a letter"
SUBDOMAIN: Final = f"at most {SUBDOMAIN_LENGTH} lower-case letters, digits, dashes and dots: example.com"
KEY: Final = f"name or prefix.example.com/name; the name has at most {LABEL_LENGTH} letters, digits, dashes, _ and dots"


def is_label(text: str) -> bool:
    """Return whether the text is a DNS label that starts with a letter (RFC 1035)."""
    return len(text) <= LABEL_LENGTH and _LABEL_1035.fullmatch(text) is not None


def is_any_label(text: str) -> bool:
    """Return whether the text is a DNS label (RFC 1123)."""
    return len(text) <= LABEL_LENGTH and _LABEL_1123.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Return whether the text is a DNS name (RFC 1123)."""
    return len(text) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Return whether the text may be a finalizer, the key of a label or, in lower case, of an annotation."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(name) <= LABEL_LENGTH and _KEY_NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Return whether the text may be the value of a label, such as an empty text."""
    return not text or (len(text) <= LABEL_LENGTH and _KEY_NAME.fullmatch(text) is not None)


def mask_trailing_dash(prefix: str) -> str:
    """Return a prefix of names so that it can be checked as a name, although it may end with a dash.

    Like Kubernetes, this replaces the last two characters by a letter, whatever the first of them is.
    """
    return f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
