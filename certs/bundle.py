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

# A Secret holds 1 MiB; what is longer than this, in bytes, is no certificate, key or bundle.
LONGEST = 128 * 1024

_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE-----")


def read_certificates(pem: bytes) -> tuple[x509.Certificate, ...]:
    """The certificates in a text, each once, in order; whatever else is in it is skipped, as in Go."""
    return () if len(pem) > LONGEST else _read(pem)


@lru_cache(maxsize=64)  # all entries of all targets have mostly the same bundle
def _read(pem: bytes) -> tuple[x509.Certificate, ...]:
    found = (_certificate(block[1]) for block in _BLOCK.finditer(pem))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _certificate(text: bytes) -> x509.Certificate | None:
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode(b"".join(text.split()), validate=True))
        # Parts are read when they are asked for only: what breaks then is no certificate either.
        _ = certificate.subject, certificate.issuer, certificate.extensions, certificate.not_valid_after_utc
        certificate.public_key()
    except (ValueError, TypeError, binascii.Error, x509.DuplicateExtension, UnsupportedAlgorithm):
        return None
    return certificate


def write_certificates(certificates: Iterable[x509.Certificate]) -> bytes:
    """The certificates as one PEM text."""
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def fingerprint(certificate: x509.Certificate) -> bytes:
    """The SHA-256 fingerprint of a certificate."""
    return certificate.fingerprint(SHA256())


def lacking(bundle: bytes, wanted: Iterable[x509.Certificate]) -> tuple[x509.Certificate, ...]:
    """The wanted certificates that the bundle lacks."""
    there = set(read_certificates(bundle))
    return tuple(certificate for certificate in wanted if certificate not in there)


def united(bundle: bytes, wanted: Iterable[x509.Certificate]) -> bytes:
    """All certificates of the bundle, and then the wanted ones."""
    return write_certificates(dict.fromkeys((*read_certificates(bundle), *wanted)))


def without(bundle: bytes, dropped: Collection[x509.Certificate]) -> bytes:
    """The bundle without some of its certificates."""
    return write_certificates(one for one in read_certificates(bundle) if one not in dropped)


def is_authority(certificate: x509.Certificate) -> bool:
    """Whether it may sign other certificates."""
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


@lru_cache(maxsize=256)
def signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether the authority, which must be one, signed the certificate."""
    if not is_authority(authority):
        return False
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def anchor(chain: Iterable[x509.Certificate], authorities: Collection[x509.Certificate]) -> x509.Certificate | None:
    """The authority that a chain, which begins with a leaf, leads to, if there is one."""
    rest = list(chain)
    here = rest.pop(0)
    while True:
        for authority in authorities:
            if signed_by(here, authority):
                return authority
        above = next((one for one in rest if signed_by(here, one)), None)
        if above is None:
            return None
        rest.remove(above)
        here = above


def holds(certificate: x509.Certificate, now: datetime) -> bool:
    """Whether the time is within its validity."""
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc
