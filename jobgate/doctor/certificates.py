"""Checks the stored and the served certificates, the progress of the rotation, and the CA bundles of API servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from cryptography import x509

from certs import CLOCK_SKEW, Served, ServerNames, StoredCertificates
from certs.bundle import anchor, is_valid, read_certificates
from certs.generation import AUTHORITY_NAME, issuing_number
from certs.places import CERTIFICATE, KEY, NEXT, Stamp
from certs.state import elapsed, read_pair, read_state
from jobgate.cluster.bundles import CRDS, clients
from jobgate.cluster.secret import SECRETS, decoded
from jobgate.cluster.tls_secret import stored_of
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at, grouped
from jobgate.doctor.observed import CONFIGURATIONS, ClusterSnapshot, Handshake, place
from jobgate.installation.installation import RotationMode

#: Remaining part of the lifetime, and remaining time: a certificate is renewed late if less than the shorter remains.
LATE, LATE_DAYS = 1 / 6, timedelta(days=14)
#: Time without progress after which a rotation is stuck. Its own waits take minutes.
STANDSTILL = timedelta(hours=1)
#: Time after which all servers serve the certificate in the Secret.
RELOADED = timedelta(minutes=10)

_OURS = {RotationMode.WATCH, RotationMode.CRONJOB}


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the stored and the served certificates, and of bundles."""
    secret = _secret(observed, expected)
    chain = _chain(secret)
    yield from _secret_findings(observed, expected, secret)
    for shown in observed.handshakes:
        leaf = shown.served.leaf
        if leaf is None:
            if shown.certain:
                yield fault_at("server-unreachable", shown.served.address, shown.served.fault)
        elif leaf not in chain[:1]:
            yield from _leaf_findings(leaf, None, expected, observed.now, shown.served.address)
            if secret is not None and chain and not expected.outside and not _just_written(secret, observed.now):
                yield fault_at("server-serves-another", shown.served.address, _behind(leaf, chain[0]))
    served = _sources(observed, expected)
    yield from grouped(
        (fault, where, entry, what)
        for where, entry, bundle in _bundles(observed, expected)
        for fault, what in _bundle_faults(bundle, served, observed.now)
    )


def _sources(observed: ClusterSnapshot, expected: Expected) -> list[tuple[str, Sequence[x509.Certificate]]]:
    """Return all certificates that API servers may receive, with their places and known intermediate ones."""
    secret = _secret(observed, expected)
    chain = _chain(secret)
    sources: list[tuple[str, Sequence[x509.Certificate]]] = [(_where(expected), chain)] if chain else []
    # A handshake shows only the leaf: whether a foreign certificate has intermediate ones is not known.
    return sources + [
        (shown.served.address, shown.served.chain)
        for shown in observed.handshakes
        if (leaf := shown.served.leaf) is not None and leaf not in chain[:1]
        if secret is not None or leaf.issuer.rfc4514_string().startswith(f"CN={AUTHORITY_NAME}")
    ]


def _bundle_faults(
    pem: bytes, sources: Sequence[tuple[str, Sequence[x509.Certificate]]], now: datetime | None
) -> Iterator[tuple[str, str]]:
    if not pem:
        yield "bundle-empty", "caBundle is empty"
        return
    bundle = read_certificates(pem)
    if not bundle:
        yield "bundle-unreadable", "caBundle contains no certificate"
        return
    for where, chain in sources:
        if chain[0] in bundle:
            continue  # Go accepts a certificate that is itself in the bundle
        if anchor(chain, bundle) is None:
            yield "bundle-lacks-served-ca", f"no CA in caBundle signed the served certificate ({where})"
        elif now is not None:
            valid = [ca for ca in bundle if is_valid(ca, now)]
            if anchor(chain, valid) is None and not any(now < ca.not_valid_before_utc for ca in bundle):
                yield (
                    "bundle-ca-expired",
                    f"the CA in caBundle that signed the served certificate ({where}) has expired",
                )


def _bundles(observed: ClusterSnapshot, expected: Expected) -> Iterator[tuple[str, str, bytes]]:
    """Yield all bundles of clients of our Service: object, its part, and the PEM."""
    ours = (expected.namespace, expected.installation.service)
    refs = [*((resource, observed.name) for resource in CONFIGURATIONS), *((CRDS, name) for name in expected.names)]
    for resource, name in refs:
        for entry, client in clients(resource, observed.get(resource, name) or {}):
            service = client.get("service") or {}
            if (service.get("namespace"), service.get("name")) == ours:
                yield place(resource, name), entry, decoded(client.get("caBundle"))


def lacks(leaf: x509.Certificate, name: str) -> bool:
    """Return whether a certificate lacks a name; a wildcard for its domain is valid for it."""
    try:
        alternative_names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return True
    names = {alternative.lower() for alternative in alternative_names.get_values_for_type(x509.DNSName)}
    return not names & {name, f"*.{name.partition('.')[2]}"}


def _secret(observed: ClusterSnapshot, expected: Expected) -> StoredCertificates | None:
    secret = observed.get(SECRETS, expected.installation.secret, expected.namespace)
    return None if secret is None else stored_of(secret)


def _chain(secret: StoredCertificates | None) -> tuple[x509.Certificate, ...]:
    return read_certificates((secret.contents if secret else {}).get(CERTIFICATE, b""))


def _where(expected: Expected) -> str:
    return place(SECRETS, expected.installation.secret, expected.namespace)


def _secret_findings(
    observed: ClusterSnapshot, expected: Expected, secret: StoredCertificates | None
) -> Iterator[FoundFault]:
    where = _where(expected)
    if secret is None:
        missing = observed.missing(SECRETS, expected.installation.secret, expected.namespace)
        if missing and not expected.outside:  # outside, servers read files
            yield fault_at("secret-missing", where, "not found")
        return
    ours = expected.installation.rotation in _OURS
    if ours and secret.keeper:
        yield fault_at(
            "secret-kept-by-another",
            where,
            f"managed by {secret.keeper}, but rotation is {expected.installation.rotation}",
        )
    pair = read_pair(secret.contents, ServerNames(()), None)  # expiry is reported separately
    if pair is None or pair.leaf is None:
        yield fault_at("secret-unreadable", where, "tls.crt contains no readable certificate")
        return
    for fault in pair.faults:
        yield fault_at("key-mismatch" if fault.startswith(KEY) else "certificate-unfit", where, fault)
    yield from _leaf_findings(pair.leaf, pair.authority, expected, observed.now, where)
    if observed.now is not None and ours and not secret.keeper:
        yield from _standstill(secret, expected, observed.now, where)


def _leaf_findings(
    leaf: x509.Certificate, authority: x509.Certificate | None, expected: Expected, now: datetime | None, where: str
) -> Iterator[FoundFault]:
    if lacks(leaf, expected.server_name):
        yield fault_at("certificate-lacks-name", where, f"not valid for {expected.server_name}")
    if now is None:
        return
    both = [leaf, *([authority] if authority is not None else [])]
    begins = max(certificate.not_valid_before_utc for certificate in both)
    ends = min(certificate.not_valid_after_utc for certificate in both)
    if now > ends:
        yield fault_at("certificate-expired", where, f"expired at {_time(ends)}")
    elif now < begins:
        yield fault_at(
            "certificate-not-yet-valid", where, f"not valid before {_time(begins)}; the time is {_time(now)}"
        )
    elif ends - now < min(LATE_DAYS, (ends - begins) * LATE):
        yield fault_at("certificate-expires-soon", where, f"expires at {_time(ends)}")


def _standstill(secret: StoredCertificates, expected: Expected, now: datetime, where: str) -> Iterator[FoundFault]:
    state = read_state(secret, ServerNames((expected.server_name,)), now)
    staged = read_certificates(secret.contents.get(NEXT + CERTIFICATE, b""))
    if staged:
        begun = staged[0].not_valid_before_utc + CLOCK_SKEW
        if now - begun > STANDSTILL:
            number = issuing_number(staged[0])
            yield fault_at(
                "rotation-stands-still", where, f"generation {number} was staged at {_time(begun)} and is not promoted"
            )
    elif not state.verified and elapsed(state.stamped(Stamp.PROMOTED_AT), now) > STANDSTILL:
        promoted = state.stamped(Stamp.PROMOTED_AT)
        assert promoted is not None
        what = f"generation {state.number} was promoted at {_time(promoted)}, but not all servers serve it"
        yield fault_at("rotation-stands-still", where, what)


def _behind(leaf: x509.Certificate, stored: x509.Certificate) -> str:
    served_number, stored_number = issuing_number(leaf), issuing_number(stored)
    if served_number == stored_number:
        return "serves another certificate than the one in the Secret"
    return f"serves generation {served_number}; the Secret contains generation {stored_number}"


def _just_written(stored: StoredCertificates, now: datetime | None) -> bool:
    """Return whether servers may not have read the Secret yet."""
    if now is None:
        return True
    times = [entry.get("time", "") for entry in stored.origin["metadata"].get("managedFields") or ()]
    return any(now - datetime.fromisoformat(time) < RELOADED for time in times if time)


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def of_this_server(shown: Handshake, expected: Expected) -> Handshake:
    """Return a handshake without the certificate of another host, which may have the address of a pod elsewhere."""
    if shown.certain or shown.served.leaf is None or not lacks(shown.served.leaf, expected.server_name):
        return shown
    return Handshake(Served(shown.served.address, fault="another host responds"))
