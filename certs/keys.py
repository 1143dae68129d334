"""Private keys: which kinds there are, making one, writing one down."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

PrivateKey: TypeAlias = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey: TypeAlias = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


class KeyType(StrEnum):
    """Kinds of key that every TLS stack and FIPS build takes; Ed25519 is not among those."""

    P256 = "p256"
    P384 = "p384"
    RSA3072 = "rsa3072"


KeySource: TypeAlias = Callable[[KeyType], PrivateKey]


def generate_key(key_type: KeyType) -> PrivateKey:
    """A new key from the system's randomness."""
    match key_type:
        case KeyType.P256:
            return ec.generate_private_key(ec.SECP256R1())
        case KeyType.P384:
            return ec.generate_private_key(ec.SECP384R1())
        case KeyType.RSA3072:
            return rsa.generate_private_key(public_exponent=65537, key_size=3072)


def signature_hash(key: PrivateKey) -> hashes.SHA256 | hashes.SHA384:
    """The hash as strong as the key: SHA-384 for P-384, SHA-256 for the others (NIST SP 800-57 part 1, table 3)."""
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP384R1):
        return hashes.SHA384()
    return hashes.SHA256()


def key_pem(key: PrivateKey) -> bytes:
    """The key as unencrypted PKCS #8, the form that both OpenSSL and Go read for every kind of key."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
