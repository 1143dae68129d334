"""A report on the rotation: generations, served and trusted certificates, problems, the next step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cryptography import x509

from certs.bundle import anchor, holds, read_certificates
from certs.generation import issuing_number, number_of
from certs.places import CERTIFICATE, Served, Target
from certs.plan import RotationSettings, RotationSnapshot, plan
from certs.rotation import unserved
from certs.state import expired, read_state, write_time
from certs.steps import Blocked, Wait
from certs.validity import renewal


def report(observed: RotationSnapshot, served: Sequence[Served], settings: RotationSettings) -> dict[str, Any]:
    """Return what was seen as JSON: generations, targets, servers, problems (one line each) and the next step.

    The clock skew is by how much this machine's clock is ahead of the API server's.
    """
    now = observed.now
    state = read_state(observed.stored, settings.names, now)
    current, step = state.current, plan(observed, settings)
    validity = current.validity if current else None
    # A handshake shows the leaf alone; what stands between it and its CA is in the Secret.
    chain = read_certificates(observed.stored.contents.get(CERTIFICATE, b""))
    served = [replace(one, chain=chain) if chain and one.leaf == chain[0] else one for one in served]
    problems = (
        *_store_problems(observed),
        *(current.faults if current else ()),
        *(f"the certificate lacks the name {name}" for name in (current.missing if current else ())),
        *(problem for target in observed.targets for problem in _target_problems(target, served)),
        *_served_problems(served, current.leaf if current else None, now),
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


def _store_problems(observed: RotationSnapshot) -> Iterator[str]:
    if not observed.stored.found:
        yield "the certificate Secret does not exist"
    elif not observed.stored.contents.get(CERTIFICATE):
        yield "the Secret contains no certificate"


def _target_problems(target: Target, served: Sequence[Served]) -> Iterator[str]:
    if target.fault:
        yield target.fault
        return
    if not target.found:
        yield f"{target} does not exist"
        return
    for entry in target.entries:
        bundle = read_certificates(entry.bundle)
        if not bundle:
            yield f"{target}: the caBundle of {entry.name} contains no certificate"
            continue
        for one in served:
            if one.leaf is not None and anchor(one.chain, bundle) is None:
                number = issuing_number(one.leaf)
                yield f"{target}: {entry.name} does not trust the certificate of {one.address} (generation {number})"


def _served_problems(served: Sequence[Served], leaf: x509.Certificate | None, now: datetime) -> Iterator[str]:
    if leaf is not None and (why := unserved(served, leaf)):
        yield why
    for one in served:
        if one.leaf is None:
            yield f"{one.address} cannot be reached: {one.fault}"
        elif expired(one.leaf, now):
            yield f"{one.address} serves a certificate that expired at {one.leaf.not_valid_after_utc.isoformat()}"
        elif not holds(one.leaf, now):
            yield f"{one.address} serves a certificate that is not valid yet"
