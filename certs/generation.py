"""A generation: CA and leaf that came into being together."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from certs.authority import AUTHORITY_NAME, SerialSource, issue_authority
from certs.keys import KeySource, KeyType, generate_key, key_pem
from certs.leaf import issue_leaf
from certs.names import ServerNames
from certs.validity import LIFETIME, Validity, validity_from


@dataclass(frozen=True)
class Generation:
    """What clients trust and what a server shows them, each as PEM.

    The CA's key is not here: it signed the leaf and was forgotten, so nobody can steal it and every renewal is also a
    renewal of trust.
    """

    ca_certificate: bytes
    certificate: bytes
    # Never in a log or a traceback.
    key: bytes = field(repr=False)

    @property
    def validity(self) -> Validity:
        """From when to when a client that trusts the CA accepts the leaf."""
        both = [x509.load_pem_x509_certificate(pem) for pem in (self.ca_certificate, self.certificate)]
        return Validity(
            max(certificate.not_valid_before_utc for certificate in both),
            min(certificate.not_valid_after_utc for certificate in both),
        )


def issue_generation(
    names: ServerNames,
    now: datetime,
    *,
    key_type: KeyType = KeyType.P256,
    lifetime: timedelta = LIFETIME,
    authority_name: str = AUTHORITY_NAME,
    new_key: KeySource = generate_key,
    new_serial: SerialSource = x509.random_serial_number,
) -> Generation:
    """A new CA, and a leaf of it for a server of these names; both hold from an hour ago for `lifetime`.

    Raises:
        ValueError: no names, a time without zone, or a lifetime or authority name out of bounds.
    """
    validity = validity_from(now, lifetime)
    authority = issue_authority(new_key(key_type), validity, name=authority_name, new_serial=new_serial)
    key = new_key(key_type)
    certificate = issue_leaf(authority, key.public_key(), names, validity, new_serial=new_serial)
    return Generation(
        ca_certificate=authority.certificate.public_bytes(Encoding.PEM),
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key_pem(key),
    )
