"""New certificates: whether one may be served is decided before any client sees it. TLS contexts."""

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

#: Largest chain, key or CA bundle, in bytes: a Secret can hold no more.
LARGEST = 1024 * 1024
#: Digits of the SHA-256 of a CA by which a person can distinguish it from others.
SHORT = 16
#: OpenSSL's X509_V_FLAG_NO_CHECK_TIME: times are checked here, by the clock of the server and with a clear message.
_NO_CHECK_TIME = 0x200000
#: Most flights of messages in a handshake in memory. TLS 1.2 needs four.
_FLIGHTS = 8
#: OpenSSL's reasons if a key belongs to another certificate, of the same type or of another.
_OTHER_KEY = frozenset({"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED"})
#: OpenSSL's X509_V_ERR_*: see X509_STORE_CTX_get_error(3).
_HOSTNAME_MISMATCH, _IP_MISMATCH, _WRONG_PURPOSE = 62, 64, 26

#: The forward-secret AEAD suites of TLS 1.2; TLS 1.3 brings its own.
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Fault(StrEnum):
    """Why a new certificate is not served."""

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
    """A new certificate cannot be served. The message says why, and contains nothing of a key."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Candidate:
    """A new certificate.

    Attributes:
        certificate: the chain in PEM: the leaf, and the certificates between it and its CA.
        key: the key of the leaf, PEM. Never in a log or a traceback.
        authority: the CAs that clients trust, PEM; empty if they are not known.
        generation: a count that only grows, as decimal text; empty or 0 if there is none.
    """

    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    authority: bytes = b""
    generation: bytes = b""


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """A certificate that can be served.

    Attributes:
        context: the TLS context that shows it.
        generation: its generation; 0 if there is none.
        not_before, not_after: the time in which leaf and CA are both valid, in seconds since the epoch.
        authority: the beginning of the SHA-256 of its CA; empty if the CA is not known.
    """

    context: ssl.SSLContext
    generation: int
    not_before: float
    not_after: float
    authority: str


def judge(candidate: Candidate, name: str, now: float, served: ServingCertificate | None = None) -> ServingCertificate:
    """Return a new certificate, ready to be served.

    It is loaded into a context of its own, and shown to a client in memory, which checks it as the API server does.

    Args:
        candidate: the new certificate.
        name: the server name that the API server uses; empty if any name is accepted.
        now: the time, in seconds since the epoch.
        served: the certificate that is served now. Unless it has expired, an older generation is rejected: a Secret
            restored from a backup must not bring back a certificate that clients are about to distrust.

    Raises:
        BadCertificate: it cannot be served; the message says why.
    """
    generation = _generation(candidate.generation)
    context = _loaded(candidate)
    client, authorities = _client(candidate, name)
    leaf = _shown(context, client, name)
    issuers = [authority for authority in authorities if authority["subject"] == leaf["issuer"]] or authorities
    not_before, not_after = _validity(leaf, issuers)
    if now >= not_after:
        raise BadCertificate(Fault.EXPIRED, f"it, or its CA, expired on {_date(not_after)}")
    if now < not_before:
        raise BadCertificate(
            Fault.EARLY, f"it, or its CA, is not valid before {_date(not_before)}; here it is {_date(now)}"
        )
    if served is not None and now < served.not_after and generation < served.generation:
        # By generation and by time: a store that was lost counts from 1 again, but is not older.
        counts_again = generation == 0 or not_before > served.not_before
        if not counts_again:
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
        # OpenSSL's reason quotes nothing of the files.
        wanted = "tls.crt and tls.key must be PEM certificates and a PEM private key"
        raise BadCertificate(Fault.UNREADABLE, f"{wanted}: {error.reason or 'unreadable'}") from None


def _client(candidate: Candidate, name: str) -> tuple[ssl.SSLContext, Sequence[Mapping[str, Any]]]:
    """Return a client that trusts the CAs of the new certificate, and these CAs."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.verify_flags |= _NO_CHECK_TIME
    client.check_hostname = bool(name)
    client.hostname_checks_common_name = False  # Go does not read it, either
    if not candidate.authority.strip():
        # The CA is not known: everything else is checked.
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
    """Return the leaf as a client gets it in a handshake."""
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
    """Return the time in which the leaf and a CA are both valid. Of several CAs, the one that expires last counts."""
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
    """Return a server context with a certificate chain and its key, both PEM.

    Raises:
        BadCertificate: the key needs a password.
        ssl.SSLError: they are not a certificate and its key.
    """
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(CIPHERS)
    # The API server speaks HTTP/1.1 to webhooks. Nothing else is offered, so faults of HTTP/2 do not matter.
    tls.set_alpn_protocols(["http/1.1"])
    # A resumed session shows no certificate: its client would go on trusting a replaced one. The API server keeps
    # connections, not sessions, so nobody needs tickets. Python cannot switch off session IDs of TLS 1.2. They are kept
    # in the context, so no session outlives its certificate.
    tls.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
    tls.num_tickets = 0
    with _as_file(certificate) as chain, _as_file(key) as private:
        tls.load_cert_chain(chain, private, password=_no_password)
    return tls


def _no_password() -> str:
    raise BadCertificate(Fault.UNREADABLE, "tls.key is encrypted: it must be a key without a password")


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Give content a path, which the ssl module needs: in memory, so that the file system can be read-only."""
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
