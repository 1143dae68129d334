"""Issue certificates: a CA, a leaf, and a generation, which is a CA with its only leaf.

The number of a generation is in the name of its CA. So bundles contain it and, as the issuer, each leaf. It must
outlive the Secret: servers that have seen generation 7 do not accept generation 1.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.names import ServerNames
from certs.validity import LIFETIME, Validity, overlap, validity_from

_IDENTIFIER_DIGITS = 16

# Default name of a CA.
AUTHORITY_NAME = "webhook CA"
_SUBJECT = re.compile(re.escape(AUTHORITY_NAME) + r"(?: (?P<number>[0-9]{1,18}))? (?P<identifier>[0-9a-f]{16})")

_NO_USAGE = dict.fromkeys(
    (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ),
    False,
)  # fmt: skip

PrivateKey: TypeAlias = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey: TypeAlias = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


class KeyType(StrEnum):
    """Types of keys that every TLS stack and FIPS build accepts; Ed25519 is not one of them."""

    P256 = "p256"
    P384 = "p384"
    RSA3072 = "rsa3072"


KeySource: TypeAlias = Callable[[KeyType], PrivateKey]


def generate_key(key_type: KeyType) -> PrivateKey:
    """Generate a key from the system's randomness."""
    match key_type:
        case KeyType.P256:
            return ec.generate_private_key(ec.SECP256R1())
        case KeyType.P384:
            return ec.generate_private_key(ec.SECP384R1())
        case KeyType.RSA3072:
            return rsa.generate_private_key(public_exponent=65537, key_size=3072)


def signature_hash(key: PrivateKey) -> hashes.SHA256 | hashes.SHA384:
    """Return a hash as strong as the key: SHA-384 for P-384, else SHA-256 (NIST SP 800-57 part 1, table 3)."""
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP384R1):
        return hashes.SHA384()
    return hashes.SHA256()


def key_pem(key: PrivateKey) -> bytes:
    """Return the key as unencrypted PKCS #8: OpenSSL and Go read it for every type of key."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass(frozen=True)
class Authority:
    """A CA certificate and its key."""

    certificate: x509.Certificate
    # Must not appear in logs or tracebacks.
    key: PrivateKey = field(repr=False)


def issue_authority(key: PrivateKey, validity: Validity, *, name: str = AUTHORITY_NAME) -> Authority:
    """Issue a self-signed CA, which may sign server certificates, but no other CA.

    Its subject is `name`, of at most 47 characters, and the start of its key identifier. So two generations in one
    bundle differ in subject and identifier, and a verifier never tries the wrong CA.
    """
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
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**{**_NO_USAGE, "key_cert_sign": True}), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, signature_hash(key))
    )
    return Authority(certificate, key)


def issue_leaf(authority: Authority, public_key: PublicKey, names: ServerNames, validity: Validity) -> x509.Certificate:
    """Issue a certificate for a TLS server with these names, signed by the authority.

    It has no common name: `<service>.<namespace>.svc` may exceed the limit of 64 characters, and API servers ignore it.
    Since the subject is empty, the alternative names are critical (RFC 5280 section 4.2.1.6).
    """
    alternatives = [*map(x509.DNSName, names.dns_names), *map(x509.IPAddress, names.ip_addresses)]
    # RSA keys also decrypt, in TLS 1.2 without forward secrecy; elliptic keys only sign.
    encipherment = isinstance(public_key, rsa.RSAPublicKey)
    usage = {**_NO_USAGE, "digital_signature": True, "key_encipherment": encipherment}
    issuer = authority.certificate
    issuer_identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(issuer.subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=True)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer_identifier), critical=False
        )
        .sign(authority.key, signature_hash(authority.key))
    )


@dataclass(frozen=True)
class Generation:
    """The CA that clients trust, and the server's certificate and key, as PEM.

    The CA's key is discarded, so nobody can steal it, and each generation has a new CA.
    """

    ca_certificate: bytes
    certificate: bytes
    # Must not appear in logs or tracebacks.
    key: bytes = field(repr=False)

    @property
    def validity(self) -> Validity:
        """The time in which clients that trust the CA accept the leaf."""
        return overlap(*(x509.load_pem_x509_certificate(pem) for pem in (self.ca_certificate, self.certificate)))


def issue_generation(
    names: ServerNames,
    now: datetime,
    *,
    key_type: KeyType = KeyType.P256,
    lifetime: timedelta = LIFETIME,
    authority_name: str = AUTHORITY_NAME,
    new_key: KeySource = generate_key,
) -> Generation:
    """Issue a new CA and a leaf for a server with these names, valid from an hour ago until `lifetime` from now.

    Raises:
        ValueError: the time has no zone, or the authority's name is too long.
    """
    validity = validity_from(now, lifetime)
    authority = issue_authority(new_key(key_type), validity, name=authority_name)
    key = new_key(key_type)
    certificate = issue_leaf(authority, key.public_key(), names, validity)
    return Generation(
        ca_certificate=authority.certificate.public_bytes(Encoding.PEM),
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key_pem(key),
    )


def marked_name(number: int) -> str:
    """Return the name of the CA of a generation."""
    return f"{AUTHORITY_NAME} {number}"


@lru_cache(maxsize=256)
def number_of(authority: x509.Certificate) -> int | None:
    """Return the generation's number of a CA; 0 if it was issued without a number; None if it is not ours.

    The name of our CAs contains the identifier of the key. So other CAs with the same name are recognized.
    """
    match = _SUBJECT.fullmatch(_common_name(authority.subject))
    if match is None or authority.subject != authority.issuer:
        return None
    identifier = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    if not identifier.digest.hex().startswith(match["identifier"]):
        return None
    return int(match["number"] or 0)


def issuing_number(leaf: x509.Certificate) -> int:
    """Return the generation's number in the name of a leaf's issuer; 0 if there is none."""
    match = _SUBJECT.fullmatch(_common_name(leaf.issuer))
    return int(match["number"] or 0) if match else 0


def _common_name(name: x509.Name) -> str:
    names = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""
