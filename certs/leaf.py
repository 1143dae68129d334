"""A server certificate."""

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.authority import Authority, SerialSource, key_usage
from certs.keys import PublicKey, signature_hash
from certs.names import ServerNames
from certs.validity import Validity


def issue_leaf(
    authority: Authority,
    public_key: PublicKey,
    names: ServerNames,
    validity: Validity,
    *,
    new_serial: SerialSource = x509.random_serial_number,
) -> x509.Certificate:
    """A certificate for a TLS server of these names, signed by the authority.

    It has no common name (64 characters do not hold `<service>.<namespace>.svc`, and no verifier of ours reads one):
    its subject is empty, so that its alternative names are critical (RFC 5280 section 4.2.1.6).

    Raises:
        ValueError: there is no name, or the authority's certificate does not hold for the whole validity.
    """
    alternatives = [*map(x509.DNSName, names.dns_names), *map(x509.IPAddress, names.ip_addresses)]
    if not alternatives:
        raise ValueError("a server certificate must have at least one DNS name or IP address")
    if not authority.validity.covers(validity):
        raise ValueError(
            f"the validity of a leaf must lie within that of its CA: {validity} is not within {authority.validity}"
        )
    issuer = authority.certificate
    issuer_identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(issuer.subject)
        .public_key(public_key)
        .serial_number(new_serial())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=True)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        # An RSA key may also be asked to decrypt (TLS 1.2 without forward secrecy); an elliptic one only signs.
        .add_extension(
            key_usage(digital_signature=True, key_encipherment=isinstance(public_key, rsa.RSAPublicKey)), critical=True
        )
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer_identifier), critical=False
        )
        .sign(authority.key, signature_hash(authority.key))
    )
