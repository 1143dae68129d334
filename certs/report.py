"""A report on the rotation: generations, served and trusted certificates, problems, the next step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cryptography import x509

from certs.bundle import anchor, holds, read_certificates
from certs.generation import issuing_number, number_of
from certs.places import CERTIFICATE, Served, Target
from certs.plan import RotationSettings, RotationSnapshot, plan
from certs.rotation import unserved
from certs.state import expired, read_state
from certs.steps import Blocked, Step, Wait
from certs.validity import Validity, renewal


@dataclass(frozen=True)
class TargetReport:
    """One target: the generations that all its entries trust, CAs of others in it, and what is wrong."""

    name: str
    entries: int
    generations: tuple[int, ...]
    foreign: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class RotationReport:
    """The state of the rotation: the current generation, the staged one, problems (one line each), the next step.

    `skew` is by how much this machine's clock is ahead of the API server's.
    """

    generation: int | None
    validity: Validity | None
    renewal: datetime | None
    staged: int | None
    targets: tuple[TargetReport, ...]
    served: tuple[Served, ...]
    problems: tuple[str, ...]
    next: Step
    skew: timedelta


def report(observed: RotationSnapshot, served: Sequence[Served], settings: RotationSettings) -> RotationReport:
    """Report on what was seen."""
    now = observed.now
    state = read_state(observed.stored, settings.names, now)
    current, step = state.current, plan(observed, settings)
    # A handshake shows the leaf alone; what stands between it and its CA is in the Secret.
    chain = read_certificates(observed.stored.contents.get(CERTIFICATE, b""))
    served = [replace(one, chain=chain) if chain and one.leaf == chain[0] else one for one in served]
    targets = tuple(_target(target, served) for target in observed.targets)
    problems = (
        *_store_problems(observed),
        *(current.faults if current else ()),
        *(f"the certificate lacks the name {name}" for name in (current.missing if current else ())),
        *(problem for target in targets for problem in target.problems),
        *_served_problems(served, current.leaf if current else None, now),
        *(step.reasons if isinstance(step, Blocked) else ()),
        *([step.why] if isinstance(step, Wait) and step.overdue else []),
    )
    return RotationReport(
        generation=current.number if current else None,
        validity=current.validity if current else None,
        renewal=renewal(current.validity) if current and current.validity else None,
        staged=state.staged.number if state.staged else None,
        targets=targets,
        served=tuple(served),
        problems=tuple(dict.fromkeys(problems)),
        next=step,
        skew=observed.skew,
    )


def _store_problems(observed: RotationSnapshot) -> Iterator[str]:
    if not observed.stored.found:
        yield "the certificate Secret does not exist"
    elif not observed.stored.contents.get(CERTIFICATE):
        yield "the Secret contains no certificate"


def _target(target: Target, served: Sequence[Served]) -> TargetReport:
    bundles = [read_certificates(entry.bundle) for entry in target.entries]
    numbers = [{number for one in bundle if (number := number_of(one)) is not None} for bundle in bundles]
    foreign = {one for bundle in bundles for one in bundle if number_of(one) is None}
    return TargetReport(
        name=str(target),
        entries=len(target.entries),
        generations=tuple(sorted(set.intersection(*numbers))) if numbers else (),
        foreign=len(foreign),
        problems=tuple(_target_problems(target, bundles, served)),
    )


def _target_problems(
    target: Target, bundles: Sequence[tuple[x509.Certificate, ...]], served: Sequence[Served]
) -> Iterator[str]:
    if target.fault:
        yield target.fault
        return
    if not target.found:
        yield f"{target} does not exist"
        return
    for entry, bundle in zip(target.entries, bundles, strict=True):
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
