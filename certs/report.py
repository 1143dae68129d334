"""A report on the rotation: generations, served and trusted certificates, problems, the next step."""

from collections.abc import Iterator, Sequence
from typing import Any

from cryptography import x509

from certs.bundle import anchor, read_certificates
from certs.generation import issuing_number, number_of
from certs.places import CERTIFICATE, Served, Target
from certs.plan import RotationSettings, RotationSnapshot, plan
from certs.rotation import unserved
from certs.state import Pair, read_state, write_time
from certs.steps import Blocked, Wait
from certs.validity import renewal


def report(observed: RotationSnapshot, served: Sequence[Served], settings: RotationSettings) -> dict[str, Any]:
    """Return what was seen as JSON: generations, targets, servers, problems (one line each) and the next step.

    The clock skew is by how much this machine's clock is ahead of the API server's.
    """
    state = read_state(observed.stored, settings.names, observed.now)
    current, step = state.current, plan(observed, settings)
    validity = current.validity if current else None
    chain = read_certificates(observed.stored.contents.get(CERTIFICATE, b""))
    problems = (
        *(_pair_problems(current, served) if current else _nothing_stored(observed)),
        *(problem for target in observed.targets for problem in _target_problems(target, chain)),
        *(step.reasons if isinstance(step, Blocked) else ()),
        *([step.why] if isinstance(step, Wait) and step.overdue else []),
    )
    return {
        "generation": current.number if current else None,
        "staged": state.staged.number if state.staged else None,
        "notAfter": write_time(validity.not_after) if validity else None,
        "renewal": write_time(renewal(validity)) if validity else None,
        "clockSkewSeconds": round(observed.skew.total_seconds(), 1),
        "targets": [_target(target) for target in observed.targets],
        "served": [
            {"address": one.address, "generation": issuing_number(one.leaf) if one.leaf else None, "fault": one.fault}
            for one in served
        ],
        "problems": list(dict.fromkeys(problems)),
        "next": {"step": type(step).__name__.lower(), "why": step.why},
    }


def _target(target: Target) -> dict[str, Any]:
    bundles = [read_certificates(entry.bundle) for entry in target.entries]
    numbers = [{number for one in bundle if (number := number_of(one)) is not None} for bundle in bundles]
    return {
        "name": str(target),
        "entries": len(bundles),
        "trustsGenerations": sorted(set.intersection(*numbers)) if numbers else [],
        "foreignCAs": len({one for bundle in bundles for one in bundle if number_of(one) is None}),
    }


def _nothing_stored(observed: RotationSnapshot) -> Iterator[str]:
    yield "the Secret contains no certificate" if observed.stored.found else "the certificate Secret does not exist"


def _pair_problems(current: Pair, served: Sequence[Served]) -> Iterator[str]:
    yield from current.faults
    yield from (f"the certificate lacks the name {name}" for name in current.missing)
    if current.leaf is not None and (why := unserved(served, current.leaf)):
        yield why


def _target_problems(target: Target, chain: Sequence[x509.Certificate]) -> Iterator[str]:
    if target.fault or not target.found:
        yield target.fault or f"{target} does not exist"
    elif chain:
        # The CA need not be in the Secret: users may bring a certificate without it.
        stored = f"generation {number}" if (number := issuing_number(chain[0])) else "the stored certificate"
        for entry in target.entries:
            if anchor(chain, read_certificates(entry.bundle)) is None:
                yield f"{target}: {entry.name} does not trust {stored}"
