"""The mark of a generation: its number, in the name of its CA.

The number must outlive the Secret: servers that have seen 7 do not accept 1. In the CA's subject it is in each bundle
that trusts the CA, and as the issuer in each leaf.
"""

import re
from functools import lru_cache

from cryptography import x509
from cryptography.x509.oid import NameOID

from certs.generation import AUTHORITY_NAME

_SUBJECT = re.compile(re.escape(AUTHORITY_NAME) + r"(?: (?P<number>[0-9]{1,18}))? (?P<identifier>[0-9a-f]{16})")


def marked_name(number: int) -> str:
    """The name of the CA of a generation."""
    return f"{AUTHORITY_NAME} {number}"


@lru_cache(maxsize=256)
def number_of(authority: x509.Certificate) -> int | None:
    """The number of the generation of a CA; 0 if it was issued without one; None if it is not ours.

    The name of ours contains the identifier of its key, which distinguishes it from a CA with the same name.
    """
    found = _SUBJECT.fullmatch(_common_name(authority.subject))
    if found is None or authority.subject != authority.issuer:
        return None
    identifier = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    if not identifier.digest.hex().startswith(found["identifier"]):
        return None
    return int(found["number"] or 0)


def issuing_number(leaf: x509.Certificate) -> int:
    """The number that a leaf's issuer has in its name; 0 where it has none."""
    found = _SUBJECT.fullmatch(_common_name(leaf.issuer))
    return int(found["number"] or 0) if found else 0


def _common_name(name: x509.Name) -> str:
    names = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""
