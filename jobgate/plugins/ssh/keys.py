"""Key pairs as OpenSSH reads them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

KeyType: TypeAlias = Literal["ed25519", "rsa"]

#: Size of an RSA key, in bits: as strong as Ed25519, nearly (NIST SP 800-57: 128 bits of security).
RSA_BITS = 3072


class KeyPair(NamedTuple):
    """A key pair.

    Attributes:
        private: the private key as a PEM text, without a passphrase.
        public: the public key as it stands in a line of `authorized_keys` or `known_hosts`: its sort and the key.
    """

    private: str
    public: str


def new_pair(sort: KeyType) -> KeyPair:
    """Make a key pair: Ed25519 at once, RSA in a second or less.

    An RSA key is in PKCS #1, which what is too old for Ed25519 reads; so is Volcano's.
    """
    # Whoever only checks jobs needs no cryptography.
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa  # noqa: PLC0415

    key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
    if sort == "rsa":
        key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
        form = serialization.PrivateFormat.TraditionalOpenSSL
    else:
        key = ed25519.Ed25519PrivateKey.generate()
        form = serialization.PrivateFormat.OpenSSH
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return KeyPair(private.decode(), public.decode())
