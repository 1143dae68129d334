"""Certificates, keys and kubeconfig files of one control plane."""

import base64
import datetime as dt
import ipaddress
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=30)
_SKEW = dt.timedelta(hours=1)
_PEM = Encoding.PEM


@dataclass(frozen=True)
class KeyPair:
    """A private key and its certificate, both as PEM."""

    key: bytes
    certificate: bytes


class Authority:
    """The CA of one control plane: a client that trusts only this CA cannot reach another API server by mistake."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("jobgate-controlplane")
        usage = x509.KeyUsage(
            digital_signature=False,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        self._certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def certificate(self) -> bytes:
        """The CA's certificate as PEM."""
        return self._certificate.public_bytes(_PEM)

    def serving(self) -> KeyPair:
        """The API server's pair, for loopback and the names that pods use."""
        names = [
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            *map(x509.DNSName, ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")),
        ]
        return self._leaf(_name("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, user: str, groups: Sequence[str]) -> KeyPair:
        """A user's pair: the common name is the user, and the organizations are the groups."""
        return self._leaf(_name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def _leaf(self, subject: x509.Name, usage: x509.ObjectIdentifier, names: list[x509.GeneralName]) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        builder = builder.add_extension(authority, critical=False)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return KeyPair(_private(key), builder.sign(self._key, hashes.SHA256()).public_bytes(_PEM))


def service_account_keys() -> tuple[bytes, bytes]:
    """The private key that signs service account tokens, and the public key that checks them."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _private(key), key.public_key().public_bytes(_PEM, PublicFormat.SubjectPublicKeyInfo)


def token_kubeconfig(url: str, ca: bytes, token: str) -> str:
    """The administrator's kubeconfig."""
    return _kubeconfig(url, ca, {"token": token})


def certificate_kubeconfig(url: str, ca: bytes, pair: KeyPair) -> str:
    """The kubeconfig of the user that the client certificate names."""
    user = {"client-certificate-data": _base64(pair.certificate), "client-key-data": _base64(pair.key)}
    return _kubeconfig(url, ca, user)


def write_private(path: Path, content: str | bytes) -> Path:
    """Write a file that only its owner can read, also while it is written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


def _kubeconfig(url: str, ca: bytes, user: dict[str, str]) -> str:
    """As JSON, which is YAML too."""
    name = "jobgate"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url, "certificate-authority-data": _base64(ca)}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }
    return json.dumps(config, indent=2) + "\n"


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFETIME)
    )


def _name(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(_PEM, PrivateFormat.PKCS8, NoEncryption())


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
