import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from certs import KeyType, generate_key
from certs.generation import key_pem, signature_hash


@pytest.mark.parametrize(
    "key_type, expected",
    [
        (KeyType.P256, ("secp256r1", "sha256")),
        (KeyType.P384, ("secp384r1", "sha384")),
        (KeyType.RSA3072, (3072, "sha256")),
    ],
)
def test_each_key_type_has_its_curve_or_size_and_hash(key_type: KeyType, expected: tuple[str | int, str]) -> None:
    key = generate_key(key_type)
    kind = key.curve.name if isinstance(key, ec.EllipticCurvePrivateKey) else key.key_size
    assert (kind, signature_hash(key).name) == expected


@pytest.mark.parametrize("key_type", KeyType)
def test_a_key_survives_a_round_trip_through_pem(key_type: KeyType) -> None:
    key = generate_key(key_type)
    pem = key_pem(key)
    assert pem.startswith(b"-----BEGIN PRIVATE KEY-----\n")
    loaded = load_pem_private_key(pem, password=None)
    assert isinstance(loaded, (ec.EllipticCurvePrivateKey, rsa.RSAPrivateKey))
    assert loaded.private_numbers() == key.private_numbers()
