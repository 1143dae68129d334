"""A report on the rotation: generations, served and trusted certificates, problems, the next step."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from cryptography import x509

from certs.bundle import anchor, read_certificates
from certs.generation import issuing_number, number_of
from certs.places import CERTIFICATE, Served, Stamp, Target
from certs.plan import RotationSettings, RotationSnapshot, plan
from certs.rotation import describe_unserved
from certs.state import Pair, read_state, write_time
from certs.steps import Blocked, Wait
from certs.validity import renewal

#: What a rotation does with a generation, and the stamps of when it was done. While a generation is staged, all stamps
#: but the first are those of the rotation before.
_STAGES: Final = {"trusted": Stamp.TRUSTED_AT, "promoted": Stamp.PROMOTED_AT, "verified": Stamp.VERIFIED_AT}


def report(observed: RotationSnapshot, servers: Sequence[Served] | None, settings: RotationSettings) -> dict[str, Any]:
    """Return generations, stages, targets, servers, problems (a line each) and the next step, as JSON.

    `servers` is None if they cannot be reached from here: what they serve is then no problem. The clock skew says how
    far this machine's clock is ahead of the API server's.
    """
    state = read_state(observed.stored, settings.names, observed.now)
    current, step = state.current, plan(observed, settings)
    validity = current.validity if current else None
    chain = read_certificates(observed.stored.contents.get(CERTIFICATE, b""))
    problems = (
        *(_pair_problems(current, servers) if current else _nothing_stored(observed)),
        *(problem for target in observed.targets for problem in _target_problems(target, chain)),
        *(step.reasons if isinstance(step, Blocked) else ()),
        *([step.why] if isinstance(step, Wait) and step.overdue else []),
    )
    return {
        "generation": current.number if current else None,
        "staged": state.staged.number if state.staged else None,
        "notAfter": write_time(validity.not_after) if validity else None,
        "renewal": write_time(renewal(validity)) if validity else None,
        "generations": [
            _generation(name, pair) for name, pair in (("served", state.current), ("staged", state.staged)) if pair
        ],
        "stages": [
            {"name": name, "time": write_time(time) if time and (name == "trusted" or not state.staged) else None}
            for name, time in ((name, state.stamped(stamp)) for name, stamp in _STAGES.items())
        ],
        "clockSkewSeconds": round(observed.skew.total_seconds(), 1),
        "targets": [_target(target) for target in observed.targets],
        "served": [
            {
                "address": server.address,
                "generation": issuing_number(server.leaf) if server.leaf else None,
                "fault": server.fault,
            }
            for server in servers or ()
        ],
        "problems": list(dict.fromkeys(problems)),
        "next": {"step": type(step).__name__.lower(), "why": step.why},
    }


def _generation(name: str, pair: Pair) -> dict[str, Any]:
    times = {"notBefore": pair.validity.not_before, "notAfter": pair.validity.not_after} if pair.validity else {}
    return {"number": pair.number, "state": name, **{key: write_time(time) for key, time in times.items()}}


def _target(target: Target) -> dict[str, Any]:
    bundles = [read_certificates(entry.bundle) for entry in target.entries]
    numbers = [{number for ca in bundle if (number := number_of(ca)) is not None} for bundle in bundles]
    return {
        "name": str(target),
        "entries": len(bundles),
        "trustsGenerations": sorted(set.intersection(*numbers)) if numbers else [],
        "foreignCAs": len({ca for bundle in bundles for ca in bundle if number_of(ca) is None}),
    }


def _nothing_stored(observed: RotationSnapshot) -> Iterator[str]:
    yield "the Secret contains no certificate" if observed.stored.exists else "the certificate Secret does not exist"


def _pair_problems(current: Pair, servers: Sequence[Served] | None) -> Iterator[str]:
    yield from current.faults
    yield from (f"the certificate lacks the name {name}" for name in current.missing)
    if servers is not None and current.leaf is not None and (why := describe_unserved(servers, current.leaf)):
        yield why


def _target_problems(target: Target, chain: Sequence[x509.Certificate]) -> Iterator[str]:
    if target.fault or not target.exists:
        yield target.fault or f"{target} does not exist"
    elif chain:
        # The CA need not be in the Secret: users may provide a certificate without it.
        stored = f"generation {number}" if (number := issuing_number(chain[0])) else "the stored certificate"
        for entry in target.entries:
            if anchor(chain, read_certificates(entry.bundle)) is None:
                yield f"{target}: {entry.name} does not trust {stored}"
