"""The bundles by which API servers trust the server, against what it serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from certs.bundle import anchor, holds, read_certificates
from jobgate.doctor.certificates import RENEW, ROTATE, Source, sources
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import Fault, Finding, error
from jobgate.doctor.observed import Observed
from jobgate.doctor.targets import Trust, targets

EMPTY = error(
    "bundle-empty",
    "A webhook has no `caBundle`, so the API server trusts only its system CAs, which did not sign the certificate. A "
    "manifest with an empty `caBundle` removes it at each apply.",
    f"{ROTATE}; make GitOps tools ignore `caBundle`; for a CA of your own use `jobgate manifests --ca-bundle FILE`",
)
UNREADABLE = error(
    "bundle-unreadable",
    "The `caBundle` of a webhook contains no certificate: every call fails.",
    f"{ROTATE}; for a CA of your own use `jobgate manifests --ca-bundle FILE`",
)
LACKS_CA = error(
    "bundle-lacks-served-ca",
    "The `caBundle` of a webhook lacks the CA of the served certificate: every call fails. One was replaced without "
    "the other.",
    f"add the CA to the bundle, in addition to those in it; {ROTATE}",
)
CA_EXPIRED = error(
    "bundle-ca-expired",
    "The CA in the `caBundle` of a webhook has expired: every call fails.",
    RENEW,
)

FAULTS = (EMPTY, UNREADABLE, LACKS_CA, CA_EXPIRED)


def check(observed: Observed, expected: Expected) -> Iterator[Finding]:
    """Yield what is wrong with bundles; what is the same in many entries, once."""
    served = sources(observed, expected)
    found: dict[tuple[str, Fault, str], list[str]] = {}
    for trust in targets(observed, expected):
        for fault, what in _faults(trust, served, observed.now):
            found.setdefault((trust.where, fault, what), []).append(trust.entry)
    for (where, fault, what), entries in found.items():
        yield fault.at(f"{where}: {', '.join(entries)}", what)


def _faults(trust: Trust, sources: Sequence[Source], now: datetime | None) -> Iterator[tuple[Fault, str]]:
    if trust.bundle == b"":
        yield EMPTY, "caBundle is empty"
        return
    bundle = read_certificates(trust.bundle or b"")
    if not bundle:
        yield UNREADABLE, "caBundle contains no certificate"
        return
    for source in sources:
        if source.chain[0] in bundle:
            continue  # Go takes a certificate that is itself in the bundle
        if anchor(source.chain, bundle) is None:
            if source.whole:
                yield LACKS_CA, f"no CA in caBundle signed the served certificate ({source.where})"
        elif now is not None:
            valid = [one for one in bundle if holds(one, now)]
            if anchor(source.chain, valid) is None and not any(now < one.not_valid_before_utc for one in bundle):
                yield CA_EXPIRED, f"the CA in caBundle that signed the served certificate ({source.where}) has expired"
