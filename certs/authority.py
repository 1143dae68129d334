"""A certificate authority that signs one leaf."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from cryptography import x509
from cryptography.x509.oid import NameOID

from certs.keys import PrivateKey, signature_hash
from certs.validity import Validity

# X.520's limit of a common name.
COMMON_NAME_LENGTH = 64
_IDENTIFIER_DIGITS = 16

# What a CA is called where its maker gives no name.
AUTHORITY_NAME = "webhook CA"

# Gives serial numbers; cryptography's own has 159 random bits (RFC 5280: positive, at most 20 octets).
SerialSource: TypeAlias = Callable[[], int]


@dataclass(frozen=True)
class Authority:
    """A CA certificate and the key that signs with it."""

    certificate: x509.Certificate
    # Never in a log or a traceback.
    key: PrivateKey = field(repr=False)

    @property
    def validity(self) -> Validity:
        """From when to when its certificate holds."""
        return Validity(self.certificate.not_valid_before_utc, self.certificate.not_valid_after_utc)


def issue_authority(
    key: PrivateKey,
    validity: Validity,
    *,
    name: str = AUTHORITY_NAME,
    new_serial: SerialSource = x509.random_serial_number,
) -> Authority:
    """A self-signed CA of this key that may sign server certificates and no further CA.

    Its subject is `name` and the start of its key identifier. So two generations in one bundle differ in subject and
    identifier, and a verifier never tries the wrong one.

    Raises:
        ValueError: the name is empty or too long.
    """
    room = COMMON_NAME_LENGTH - _IDENTIFIER_DIGITS - 1
    if not 0 < len(name) <= room:
        raise ValueError(f"a CA's name must have 1 to {room} characters, and {name!r} has {len(name)}")
    public_key = key.public_key()
    identifier = x509.SubjectKeyIdentifier.from_public_key(public_key)
    subject = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, f"{name} {identifier.digest.hex()[:_IDENTIFIER_DIGITS]}")]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(public_key)
        .serial_number(new_serial())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage(key_cert_sign=True), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, signature_hash(key))
    )
    return Authority(certificate, key)


def key_usage(
    *, digital_signature: bool = False, key_encipherment: bool = False, key_cert_sign: bool = False
) -> x509.KeyUsage:
    """The usages that certificates of this package have; every other one is off."""
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_encipherment=key_encipherment,
        key_cert_sign=key_cert_sign,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
