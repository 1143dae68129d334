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
    "An entry has no `caBundle`: the API server trusts the machine's own CAs instead, which did not sign our "
    "certificate. A manifest that states it empty wipes it at each apply.",
    f"{ROTATE}; let GitOps ignore `caBundle`; with a CA of your own give `jobgate manifests --ca-bundle FILE`",
)
UNREADABLE = error(
    "bundle-unreadable",
    "An entry's `caBundle` holds no certificate, but a placeholder or garbage: each call fails.",
    f"{ROTATE}; with a CA of your own give `jobgate manifests --ca-bundle FILE`",
)
LACKS_CA = error(
    "bundle-lacks-served-ca",
    "The CA of the certificate that is served is not in an entry's `caBundle`: each call fails. Something replaced one "
    "without the other.",
    f"add that CA to the bundle, beside those that are in it; {ROTATE}",
)
CA_EXPIRED = error(
    "bundle-ca-expired",
    "The CA by which an entry trusts the server has expired: each call fails.",
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
        yield UNREADABLE, "caBundle holds no certificate"
        return
    for source in sources:
        if source.chain[0] in bundle:
            continue  # Go takes a certificate that is itself in the bundle
        if anchor(source.chain, bundle) is None:
            if source.whole:
                yield LACKS_CA, f"no CA in caBundle signed what is served ({source.where})"
        elif now is not None:
            valid = [one for one in bundle if holds(one, now)]
            if anchor(source.chain, valid) is None and not any(now < one.not_valid_before_utc for one in bundle):
                yield CA_EXPIRED, f"the CA in caBundle that signed what is served ({source.where}) has expired"
