"""A certificate that is offered, and whether it may be served: judged before any client is shown it; TLS contexts."""

from __future__ import annotations

import hashlib
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

#: Largest chain, key or CA bundle that is read, in bytes: a Secret holds no more.
LARGEST = 1024 * 1024
#: Digits of a CA's SHA-256 that tell it from others, to a person.
SHORT = 16
#: OpenSSL's X509_V_FLAG_NO_CHECK_TIME: time is judged here, by the server's own clock and in words.
_NO_CHECK_TIME = 0x200000
#: Flights of messages after which a handshake in memory is over, or never will be. TLS 1.2 takes four.
_FLIGHTS = 8
#: What OpenSSL says of a key that belongs to another certificate: of the same type, or of another.
_OTHER_KEY = frozenset({"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED"})
#: OpenSSL's X509_V_ERR_*: see X509_STORE_CTX_get_error(3).
_HOSTNAME_MISMATCH, _IP_MISMATCH, _WRONG_PURPOSE = 62, 64, 26

#: The forward-secret AEAD suites of TLS 1.2; TLS 1.3 brings its own.
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Fault(StrEnum):
    """Why a candidate is not served."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    KEY = "key"
    AUTHORITY = "authority"
    NAME = "name"
    USAGE = "usage"
    EXPIRED = "expired"
    EARLY = "not-yet-valid"
    GENERATION = "generation"
    OLDER = "older"
    HANDSHAKE = "handshake"


class BadCertificate(Exception):
    """A candidate that is not served. Its text says why, and holds nothing of a key."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is offered.

    Attributes:
        certificate: the leaf, and what leads from it to its CA, PEM.
        key: of the leaf, PEM. Never in a log or a traceback.
        authority: the CAs that clients are to trust, PEM; empty where the source does not tell.
        generation: a count that only grows, as decimal text; empty or 0 where the source keeps none.
    """

    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    authority: bytes = b""
    generation: bytes = b""


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """A certificate that is fit to be served.

    Attributes:
        context: shows it.
        generation: 0 where there is no count.
        not_before, not_after: from when to when a client accepts it, in seconds since the epoch: leaf and CA both hold.
        authority: the beginning of the SHA-256 of its CA; empty where the CA is not known.
    """

    context: ssl.SSLContext
    generation: int
    not_before: float
    not_after: float
    authority: str


def judge(candidate: Candidate, name: str, now: float, served: ServingCertificate | None = None) -> ServingCertificate:
    """Return a candidate ready to be served.

    It is loaded into a context of its own, and shown to a client in memory, which checks it as the API server does.

    Args:
        candidate: what is offered.
        name: what the API server calls the server; empty where any name will do.
        now: in seconds since the epoch.
        served: what is served now. A generation that is older is rejected, lest a Secret that is restored from a backup
            brings back what clients are about to forget; unless what is served has expired.

    Raises:
        BadCertificate: says why it may not be served.
    """
    generation = _generation(candidate.generation)
    context = _loaded(candidate)
    client, authorities = _client(candidate, name)
    leaf = _shown(context, client, name)
    known = [authority for authority in authorities if authority["subject"] == leaf["issuer"]] or authorities
    not_before, not_after = _validity(leaf, known)
    if now >= not_after:
        raise BadCertificate(Fault.EXPIRED, f"it, or its CA, expired on {_date(not_after)}")
    if now < not_before:
        raise BadCertificate(
            Fault.EARLY, f"it, or its CA, is not valid before {_date(not_before)}; here it is {_date(now)}"
        )
    if served is not None and now < served.not_after and generation < served.generation:
        # By both: a store that was lost, and counts from 1 again, is not an older one.
        counted_anew = generation == 0 or not_before > served.not_before
        if not counted_anew:
            raise BadCertificate(
                Fault.OLDER, f"it is generation {generation}, and {served.generation} is served already"
            )
    der = client.get_ca_certs(binary_form=True)
    authority = hashlib.sha256(der[0]).hexdigest()[:SHORT] if der else ""
    return ServingCertificate(context, generation, not_before, not_after, authority)


def _generation(text: bytes) -> int:
    digits = text.strip()
    if not digits:
        return 0
    if not digits.isdigit() or len(digits) > 15:
        raise BadCertificate(Fault.GENERATION, "its generation must be a decimal number")
    return int(digits)


def _loaded(candidate: Candidate) -> ssl.SSLContext:
    parts = {"tls.crt": candidate.certificate, "tls.key": candidate.key, "ca.crt": candidate.authority}
    for part, content in parts.items():
        if len(content) > LARGEST:
            raise BadCertificate(Fault.UNREADABLE, f"{part} is larger than {LARGEST} bytes")
    for part in ("tls.crt", "tls.key"):
        if not parts[part].strip():
            raise BadCertificate(Fault.MISSING, f"{part} is missing or empty")
    try:
        return showing(candidate.certificate, candidate.key)
    except ssl.SSLError as error:
        if error.reason in _OTHER_KEY:
            raise BadCertificate(Fault.KEY, "tls.key must be the key of the first certificate of tls.crt") from None
        # OpenSSL's text quotes nothing of the files.
        wanted = "tls.crt and tls.key must be PEM certificates and a PEM private key"
        raise BadCertificate(Fault.UNREADABLE, f"{wanted}: {error.reason or 'unreadable'}") from None


def _client(candidate: Candidate, name: str) -> tuple[ssl.SSLContext, Sequence[Mapping[str, Any]]]:
    """Return a client that trusts what the candidate says is to be trusted, and the CAs among that."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.verify_flags |= _NO_CHECK_TIME
    client.check_hostname = bool(name)
    client.hostname_checks_common_name = False  # Go does not read it, either
    if not candidate.authority.strip():
        # Who signed it is not known: it is held to everything else.
        client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        _trust(client, "tls.crt", candidate.certificate)
        return client, ()
    _trust(client, "ca.crt", candidate.authority)
    authorities: list[Any] = client.get_ca_certs()
    if not authorities:
        raise BadCertificate(Fault.AUTHORITY, "ca.crt must hold a CA: there are only other certificates in it")
    return client, authorities


def _trust(client: ssl.SSLContext, part: str, certificates: bytes) -> None:
    try:
        client.load_verify_locations(cadata=certificates.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise BadCertificate(Fault.UNREADABLE, f"{part} must be PEM certificates, and nothing else") from None


def _shown(context: ssl.SSLContext, client: ssl.SSLContext, name: str) -> Mapping[str, Any]:
    """Return the leaf as a client sees it that has made a handshake with it."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name or None),
        context.wrap_bio(to_server, to_client, server_side=True),
    ]
    try:
        for _ in range(_FLIGHTS):
            over = [_done(end) for end in ends]
            if all(over):
                return ends[0].getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        raise _distrusted(error, name) from None
    except ssl.SSLError as error:
        raise BadCertificate(Fault.HANDSHAKE, f"no client can make a handshake with it: {error.reason}") from None
    raise BadCertificate(Fault.HANDSHAKE, "no client can make a handshake with it")


def _done(end: ssl.SSLObject) -> bool:
    try:
        end.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True


def _distrusted(error: ssl.SSLCertVerificationError, name: str) -> BadCertificate:
    match error.verify_code:
        case code if code in {_HOSTNAME_MISMATCH, _IP_MISMATCH}:
            return BadCertificate(Fault.NAME, f"the alternative names of the certificate must hold {name}")
        case code if code == _WRONG_PURPOSE:
            return BadCertificate(
                Fault.USAGE, "the certificate must be one for TLS servers, and its CA one that may sign it"
            )
        case _:
            return BadCertificate(
                Fault.AUTHORITY, f"the certificate must be signed by a CA of ca.crt: {error.verify_message}"
            )


def _validity(leaf: Mapping[str, Any], authorities: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return from when to when both the leaf and a CA hold: of several CAs, the one that holds for longest."""
    not_before, not_after = _times(leaf)
    if authorities:
        since, until = max(map(_times, authorities), key=lambda times: times[1])
        return max(not_before, since), min(not_after, until)
    return not_before, not_after


def _times(certificate: Mapping[str, Any]) -> tuple[float, float]:
    return (
        float(ssl.cert_time_to_seconds(certificate["notBefore"])),
        float(ssl.cert_time_to_seconds(certificate["notAfter"])),
    )


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def showing(certificate: bytes, key: bytes) -> ssl.SSLContext:
    """Return a server context that shows a certificate chain, given with its key, both PEM.

    Raises:
        BadCertificate: the key wants a password. Nobody is there to type it.
        ssl.SSLError: they are no certificate and key, or not of each other.
    """
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(CIPHERS)
    # The API server speaks HTTP/1.1 to webhooks; saying so closes the faults of HTTP/2 to everybody else.
    tls.set_alpn_protocols(["http/1.1"])
    # A session that is taken up again shows no certificate: its client would go on trusting one that was replaced. The
    # API server keeps connections, not sessions, so tickets serve nobody. Sessions of TLS 1.2 are also known by their
    # ID, which Python cannot switch off; they are kept in the context, so none outlives its certificate.
    tls.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
    tls.num_tickets = 0
    with _as_file(certificate) as chain, _as_file(key) as private:
        tls.load_cert_chain(chain, private, password=_no_password)
    return tls


def _no_password() -> str:
    raise BadCertificate(Fault.UNREADABLE, "tls.key is encrypted: it must be a key without a password")


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Give content a path, which the ssl module insists on: in memory, so that a read-only root is enough."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tls", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(content)
            yield f"/proc/self/fd/{descriptor}"
    else:  # not Linux: a developer's machine
        with tempfile.NamedTemporaryFile() as named:
            named.write(content)
            named.flush()
            yield named.name
