"""The content of the certificates: authority, leaf, generation."""

from datetime import timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs import (
    Generation,
    KeyType,
    ServerNames,
    Validity,
    generate_key,
    issue_authority,
    issue_generation,
    validity_from,
)
from certs.generation import Authority
from tests.certs.moments import NAMES, NOW, generation_of


def authority_and_leaf(generation: Generation) -> tuple[x509.Certificate, x509.Certificate]:
    return x509.load_pem_x509_certificate(generation.ca_certificate), x509.load_pem_x509_certificate(
        generation.certificate
    )


def common_name(name: x509.Name) -> str:
    (attribute,) = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert isinstance(attribute.value, str)
    return attribute.value


def usages(certificate: x509.Certificate) -> set[str]:
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical
    always = ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"]
    return {name for name in [*always, "key_cert_sign", "crl_sign"] if getattr(usage.value, name)}


@pytest.fixture(params=list(KeyType))
def generation(request: pytest.FixtureRequest) -> Generation:
    return generation_of(request.param, NOW)


def test_an_authority_signs_leaves_and_no_authorities(generation: Generation) -> None:
    authority, _ = authority_and_leaf(generation)
    constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (constraints.critical, constraints.value) == (True, x509.BasicConstraints(ca=True, path_length=0))
    assert usages(authority) == {"key_cert_sign"}


def test_a_leaf_has_only_critical_alternative_names(generation: Generation) -> None:
    _, leaf = authority_and_leaf(generation)
    alternatives = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert leaf.subject == x509.Name([])
    assert alternatives.critical
    assert tuple(alternatives.value.get_values_for_type(x509.DNSName)) == NAMES.dns_names
    assert tuple(alternatives.value.get_values_for_type(x509.IPAddress)) == NAMES.ip_addresses


def test_a_leaf_is_for_servers_and_signs_nothing(generation: Generation) -> None:
    _, leaf = authority_and_leaf(generation)
    purpose = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    constraints = leaf.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert list(purpose) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert constraints == x509.BasicConstraints(ca=False, path_length=None)


@pytest.mark.parametrize(
    "key_type, expected",
    [
        (KeyType.P256, {"digital_signature"}),
        (KeyType.P384, {"digital_signature"}),
        (KeyType.RSA3072, {"digital_signature", "key_encipherment"}),
    ],
)
def test_only_an_rsa_leaf_may_decrypt(key_type: KeyType, expected: set[str]) -> None:
    _, leaf = authority_and_leaf(generation_of(key_type, NOW))
    assert usages(leaf) == expected


def test_authority_and_leaf_are_valid_from_an_hour_ago_for_ninety_days(generation: Generation) -> None:
    expected = Validity(NOW - timedelta(hours=1), NOW + timedelta(days=90))
    assert generation.validity == expected
    for certificate in authority_and_leaf(generation):
        assert Validity(certificate.not_valid_before_utc, certificate.not_valid_after_utc) == expected


def test_a_generation_is_valid_while_both_authority_and_leaf_are() -> None:
    long, short = issue_generation(NAMES, NOW), issue_generation(NAMES, NOW, lifetime=timedelta(days=1))
    assert Generation(long.ca_certificate, short.certificate, short.key).validity == short.validity
    assert Generation(short.ca_certificate, long.certificate, long.key).validity == short.validity


def test_no_two_generations_share_an_authoritys_name_identifier_or_key() -> None:
    first, second = (authority_and_leaf(issue_generation(NAMES, NOW))[0] for _ in range(2))
    identifiers = [
        a.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest for a in (first, second)
    ]
    assert first.subject != second.subject
    assert identifiers[0] != identifiers[1]
    assert first.public_key() != second.public_key()


def test_a_generation_keeps_the_leafs_key_and_not_the_authoritys() -> None:
    keys = [generate_key(KeyType.P256), generate_key(KeyType.P256)]
    remaining = iter(keys)
    generation = issue_generation(NAMES, NOW, new_key=lambda _: next(remaining))
    authority, leaf = authority_and_leaf(generation)
    stored_key = load_pem_private_key(generation.key, password=None)
    assert (authority.public_key(), leaf.public_key()) == (keys[0].public_key(), keys[1].public_key())
    assert stored_key.public_key() == keys[1].public_key()


def test_the_name_of_an_authority_ends_with_the_start_of_its_key_identifier() -> None:
    authority, leaf = authority_and_leaf(issue_generation(NAMES, NOW, authority_name="training"))
    digest = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    assert common_name(authority.subject) == f"training {digest.hex()[:16]}"
    assert leaf.issuer == authority.subject


def test_a_leaf_may_have_ip_addresses_only() -> None:
    _, leaf = authority_and_leaf(issue_generation(ServerNames((), (ip_address("10.0.0.1"),)), NOW))
    alternatives = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert list(alternatives) == [x509.IPAddress(ip_address("10.0.0.1"))]


def test_no_key_shows_in_a_repr() -> None:
    generation = issue_generation(NAMES, NOW)
    authority: Authority = issue_authority(generate_key(KeyType.P256), validity_from(NOW))
    assert "PRIVATE" not in repr(generation)
    assert "key" not in repr(authority).lower()
