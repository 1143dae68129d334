"""Valid and invalid certificates, as a Secret or files offer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs import (
    Generation,
    KeyType,
    Validity,
    generate_key,
    issue_authority,
    issue_generation,
    service_names,
    validity_from,
)
from certs.generation import Authority, key_pem, signature_hash
from certs.validity import overlap
from webhook.server.candidate import Candidate

#: The name that the API server calls by.
NAME = "jobgate-webhook.jobgate-system.svc"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAYS = timedelta(days=90)


def issued(
    now: datetime = NOW, *, namespace: str = "jobgate-system", key_type: KeyType = KeyType.P256, days: timedelta = DAYS
) -> Generation:
    """A generation as the rotation makes it."""
    return issue_generation(service_names("jobgate-webhook", namespace), now, key_type=key_type, lifetime=days)


def offered(generation: Generation, number: int | str = 0) -> Candidate:
    """What its Secret offers."""
    return Candidate(generation.certificate, generation.key, generation.ca_certificate, str(number).encode())


def without_authority(generation: Generation) -> Candidate:
    """What its Secret offers without the CA."""
    return replace(offered(generation), authority=b"")


def issued_with(
    *,
    names: Sequence[str] = (NAME,),
    common_name: str = "",
    usage: x509.ObjectIdentifier | None = ExtendedKeyUsageOID.SERVER_AUTH,
    leaf: Validity | None = None,
    authority: Validity | None = None,
    intermediate: bool = False,
) -> Candidate:
    """A certificate that our own rotation never issues."""
    authority_key = generate_key(KeyType.P256)
    root = _root(authority or validity_from(NOW, DAYS)) if intermediate else None
    signer = issue_authority(authority_key, authority or validity_from(NOW, DAYS)) if root is None else _below(root)
    key = generate_key(KeyType.P256)
    validity = leaf or validity_from(NOW, DAYS)
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)] if common_name else []
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(subject))
        .issuer_name(signer.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), True)
    if usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    certificate = _pem(builder.sign(signer.key, signature_hash(signer.key)))
    if root is None:
        return Candidate(certificate, key_pem(key), _pem(signer.certificate))
    return Candidate(certificate + _pem(signer.certificate), key_pem(key), _pem(root.certificate))


def encrypted(generation: Generation) -> bytes:
    """Its key, encrypted with a password."""
    key = serialization.load_pem_private_key(generation.key, password=None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"a password"),
    )


def _root(validity: Validity) -> Authority:
    key = generate_key(KeyType.P256)
    return _authority("root", key, validity, None)


def _below(root: Authority) -> Authority:
    return _authority("intermediate", generate_key(KeyType.P256), overlap(root.certificate), root)


def _authority(name: str, key: object, validity: Validity, issuer: Authority | None) -> Authority:
    private = key
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer = issuer.key if issuer else private
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(private.public_key())  # type: ignore[attr-defined]
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(signer, signature_hash(signer))  # type: ignore[arg-type]
    )
    return Authority(certificate, private)  # type: ignore[arg-type]


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
