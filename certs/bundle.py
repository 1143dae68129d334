"""Bundles: the certificates of several CAs, one after the other, as PEM."""

import base64
import binascii
import re
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

# Limit in bytes of a certificate, a key or a bundle. The limit of a Secret is 1 MiB.
PEM_LIMIT = 128 * 1024

_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----")


def read_certificates(pem: bytes) -> tuple[x509.Certificate, ...]:
    """Return the distinct certificates of a PEM text, in order. Like Go, skip everything else."""
    return () if len(pem) > PEM_LIMIT else _read(pem)


@lru_cache(maxsize=64)  # nearly all entries of all targets have the same bundle
def _read(pem: bytes) -> tuple[x509.Certificate, ...]:
    certificates = (_certificate(block[1]) for block in _BLOCK.finditer(pem))
    return tuple(dict.fromkeys(certificate for certificate in certificates if certificate is not None))


def _certificate(text: bytes) -> x509.Certificate | None:
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode(b"".join(text.split()), validate=True))
        # The library parses these parts lazily: read them here, so that broken ones are noticed.
        _ = certificate.subject, certificate.issuer, certificate.extensions, certificate.not_valid_after_utc
        certificate.public_key()
    except (ValueError, TypeError, binascii.Error, x509.DuplicateExtension, UnsupportedAlgorithm):
        return None
    return certificate


def write_certificates(certificates: Iterable[x509.Certificate]) -> bytes:
    """Return the certificates as one PEM text."""
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def fingerprint(certificate: x509.Certificate) -> bytes:
    """Return the SHA-256 fingerprint of a certificate."""
    return certificate.fingerprint(SHA256())


def missing_certificates(bundle: bytes, certificates: Iterable[x509.Certificate]) -> tuple[x509.Certificate, ...]:
    """Return the certificates that the bundle lacks."""
    present = set(read_certificates(bundle))
    return tuple(certificate for certificate in certificates if certificate not in present)


def add_certificates(bundle: bytes, certificates: Iterable[x509.Certificate]) -> bytes:
    """Return the bundle with more certificates at its end."""
    return write_certificates(dict.fromkeys((*read_certificates(bundle), *certificates)))


def remove_certificates(bundle: bytes, dropped: Collection[x509.Certificate]) -> bytes:
    """Return the bundle without some of its certificates."""
    return write_certificates(certificate for certificate in read_certificates(bundle) if certificate not in dropped)


def is_authority(certificate: x509.Certificate) -> bool:
    """Return whether a certificate may sign others."""
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


@lru_cache(maxsize=256)
def signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Return whether the authority is a CA and signed the certificate."""
    if not is_authority(authority):
        return False
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def anchor(chain: Iterable[x509.Certificate], authorities: Collection[x509.Certificate]) -> x509.Certificate | None:
    """Return the authority to which a chain leads. The chain starts with the leaf; the rest is in any order."""
    rest = list(chain)
    certificate = rest.pop(0)
    while True:
        for authority in authorities:
            if signed_by(certificate, authority):
                return authority
        issuer = next((candidate for candidate in rest if signed_by(certificate, candidate)), None)
        if issuer is None:
            return None
        rest.remove(issuer)
        certificate = issuer


def is_valid(certificate: x509.Certificate, now: datetime) -> bool:
    """Return whether a certificate is valid at a time."""
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc
