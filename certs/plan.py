"""The next step of the rotation, as a pure function of the observed state.

Invariant: the CA of every served certificate is in all bundles. Therefore:

- A generation is promoted only after all targets trust it and API servers had time to load the bundles.
- A CA is removed only after all servers serve the current generation.
- Generation numbers only increase.

The phase is not stored, but derived from the store and the targets, so that any process can continue the rotation.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509

from certs.bundle import (
    add_certificates,
    fingerprint,
    missing_certificates,
    read_certificates,
    remove_certificates,
    write_certificates,
)
from certs.generation import KeyType, number_of
from certs.names import ServerNames
from certs.places import BUNDLE, NEXT, NUMBER, PARTS, PREVIOUS, Changes, Stamp, StoredCertificates, Target
from certs.state import RotationState, elapsed, expired, highest_number, read_state, write_time
from certs.steps import Blocked, Note, Promote, Retire, Stage, Step, Trust, Verify, Wait
from certs.validity import LIFETIME, renewal

# Soak if no server works anyway, at most the configured soak.
EMERGENCY_SOAK = timedelta(seconds=5)
# Largest difference between this machine's clock and the API server's.
SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class RotationSettings:
    """Settings of the rotation.

    Attributes:
        names: names of the server's certificate.
        key_type: type of new keys.
        lifetime: lifetime of new certificates.
        soak: time for API servers to load a new CA before it is used, and for all servers to serve a generation before
            former CAs are removed.
        beyond: rotate if the generation's number is not higher than this, due or not.
        revoke: whether generations up to `beyond` lose trust after that.
    """

    names: ServerNames
    key_type: KeyType = KeyType.P256
    lifetime: timedelta = LIFETIME
    soak: timedelta = timedelta(minutes=5)
    beyond: int | None = None
    revoke: bool = False


@dataclass(frozen=True)
class RotationSnapshot:
    """Store and targets as observed, the API server's time, and how far this machine's clock is ahead of it."""

    stored: StoredCertificates
    targets: tuple[Target, ...]
    now: datetime
    skew: timedelta = timedelta()


def plan(observed: RotationSnapshot, settings: RotationSettings) -> Step:
    """Return the next step, or how long to wait."""
    now = observed.now
    if keeper := observed.stored.keeper:
        problem = f"the Secret is managed by {keeper}: use another --secret-name, or leave the rotation to {keeper}"
        return Blocked((problem,))
    state = read_state(observed.stored, settings.names, now)
    return (
        # First: adding stored CAs to bundles is always safe, even if clocks are wrong or something else fails.
        _heal(state, observed.targets)
        or _clock_problem(observed.skew)
        or _revocation(state, settings)
        or _promote(state, observed.targets, now, settings)
        or _stage(state, observed.targets, now, settings)
        or _finish(state, observed.targets, now, settings)
    )


def _heal(state: RotationState, targets: Sequence[Target]) -> Trust | None:
    """Return the step that adds missing CAs to the first target that lacks any."""
    for target in targets:
        incomplete = [entry.name for entry in target.entries if missing_certificates(entry.bundle, state.trusted)]
        if target.fault or not incomplete:
            continue
        bundles = tuple(add_certificates(entry.bundle, state.trusted) for entry in target.entries)
        return Trust(f"{target} does not trust every generation in {', '.join(incomplete)}", target, bundles)
    return None


def _stage(state: RotationState, targets: Sequence[Target], now: datetime, settings: RotationSettings) -> Stage | None:
    """Return the step that starts a rotation, if there is a reason to rotate."""
    why = next(_reasons(state, targets, now, settings), "")
    if not why:
        return None
    number = max(state.number, highest_number(targets)) + 1
    return Stage(why, number, emergency=state.current is None or bool(state.current.faults))


def _reasons(
    state: RotationState, targets: Sequence[Target], now: datetime, settings: RotationSettings
) -> Iterator[str]:
    """Yield the reasons to replace the current generation, the most urgent first."""
    current = state.current
    if current is None:
        yield "no certificate has been issued" if state.stored.exists else "the certificate Secret does not exist"
        return
    if current.faults:
        yield "; ".join(current.faults)
    if current.missing:
        yield f"the certificate lacks the names {', '.join(current.missing)}"
    if (ahead := highest_number(targets)) > current.number:
        yield f"generation {ahead} is already trusted, but the Secret was reset to {current.number}"
    if settings.beyond is not None and current.number <= settings.beyond:
        yield "rotation was requested"
    if current.validity is not None and now >= renewal(current.validity):
        yield f"the certificate expires at {write_time(current.validity.not_after)}"


def _revocation(state: RotationState, settings: RotationSettings) -> Note | None:
    """Return the step that notes a revocation, if a later generation exists; else staging notes it."""
    if not settings.revoke or settings.beyond is None or state.revoked >= settings.beyond:
        return None
    if state.staged is None:
        former = None if state.previous is None else number_of(state.previous) or 0
        if former is None or former > settings.beyond or state.number <= settings.beyond:
            return None
    changes = Changes(stamps={Stamp.REVOKED: str(settings.beyond)})
    return Note(f"revoking generations up to {settings.beyond}", changes)


def _promote(state: RotationState, targets: Sequence[Target], now: datetime, settings: RotationSettings) -> Step | None:
    """Return the step after staging: all targets that can be written trust the staged generation."""
    staged = state.staged
    if staged is None or staged.authority is None:
        return None
    if faults := tuple(target.fault for target in targets if target.fault):
        return Blocked(faults)
    seen = _digest(staged.authority, targets)
    since = state.stamped(Stamp.TRUSTED_AT)
    if state.stored.stamps.get(Stamp.TRUSTED) != seen or since is None or since > now + SKEW:
        changes = Changes(stamps={Stamp.TRUSTED: seen, Stamp.TRUSTED_AT: write_time(now)})
        return Note(f"every target trusts generation {staged.number}", changes)
    soak = settings.soak
    if _is_emergency(state, now):
        soak = min(soak, EMERGENCY_SOAK)
    if elapsed(since, now) < soak:
        why = f"API servers get {_seconds(soak)} to load the CA of generation {staged.number}"
        return Wait(why, since + soak, f"promote generation {staged.number}")
    return Promote(f"generation {staged.number} has been trusted since {write_time(since)}", promotion(state, now))


def _is_emergency(state: RotationState, now: datetime) -> bool:
    """Return whether no server worked when the generation was staged, or the current certificate is invalid now."""
    if state.stored.stamps.get(Stamp.EMERGENCY) == "true":
        return True
    validity = state.current.validity if state.current else None
    return validity is not None and not validity.not_before <= now <= validity.not_after


def promotion(state: RotationState, now: datetime) -> Changes:
    """Return the write that makes the staged generation the current one."""
    staged = state.staged
    assert staged is not None
    contents: dict[str, bytes | None] = {part: state.stored.contents[NEXT + part] for part in PARTS if part != NUMBER}
    contents |= {NUMBER: str(staged.number).encode(), BUNDLE: state.bundle}
    contents |= {NEXT + part: None for part in PARTS}
    former = state.current.authority if state.current else None
    contents[PREVIOUS] = None if former is None or expired(former, now) else write_certificates([former])
    stamps: dict[str, str | None] = dict.fromkeys(
        (Stamp.TRUSTED, Stamp.TRUSTED_AT, Stamp.EMERGENCY, Stamp.VERIFIED, Stamp.VERIFIED_AT)
    )
    return Changes(contents, {**stamps, Stamp.PROMOTED_AT: write_time(now)})


def _digest(authority: x509.Certificate, targets: Sequence[Target]) -> str:
    """Return a digest that changes with targets and staged CA; then the soak starts again."""
    parts = sorted(f"{target} {target.version}" for target in targets)
    return hashlib.sha256("\n".join([fingerprint(authority).hex(), *parts]).encode()).hexdigest()


def _finish(state: RotationState, targets: Sequence[Target], now: datetime, settings: RotationSettings) -> Step:
    """Return the step that verifies the current generation, removes former generations, or waits for the renewal."""
    current = state.current
    assert current is not None
    if not state.verified:
        return Verify(f"checking that all servers serve generation {current.number}")
    if faults := tuple(target.fault for target in targets if target.fault):
        return Blocked(faults)
    if step := _retire(state, targets, now, settings):
        return step
    if changes := _tidy(state):
        return Note("removing data of former generations", changes)
    assert current.validity is not None
    return Wait(
        f"generation {current.number} is served and trusted",
        renewal(current.validity),
        "stage the next generation",
        settled=True,
    )


def _retire(state: RotationState, targets: Sequence[Target], now: datetime, settings: RotationSettings) -> Step | None:
    """Return the step that removes unneeded CAs from the first target that has any, after the soak."""
    retirement = next((step for target in targets if (step := _retirement(state, target, now))), None)
    if retirement is None:
        return None
    since = state.stamped(Stamp.VERIFIED_AT)
    if since is None or since > now + SKEW:
        return Note("all servers serve the current generation", Changes(stamps={Stamp.VERIFIED_AT: write_time(now)}))
    soak = timedelta() if state.revoked >= 0 else settings.soak
    if elapsed(since, now) < soak:
        why = f"all servers have served generation {state.number} since {write_time(since)}"
        return Wait(why, since + soak, "remove CAs of former generations")
    return retirement


def _retirement(state: RotationState, target: Target, now: datetime) -> Retire | None:
    """Return the step that removes our former CAs, and expired CAs, from a target. Valid CAs of others stay."""
    ending = state.previous if state.previous_ends else None
    bundles = []
    for entry in target.entries:
        dropped = [
            ca
            for ca in read_certificates(entry.bundle)
            if ca not in state.trusted and (number_of(ca) is not None or expired(ca, now) or ca == ending)
        ]
        bundles.append(remove_certificates(entry.bundle, dropped) if dropped else entry.bundle)
    if bundles == [entry.bundle for entry in target.entries]:
        return None
    return Retire(f"{target} trusts CAs that are no longer needed", target, tuple(bundles))


def _tidy(state: RotationState) -> Changes | None:
    """Return the changes that remove data of former generations from the store."""
    contents: dict[str, bytes | None] = {}
    stamps: dict[str, str | None] = {}
    if state.previous_ends or (state.previous is None and PREVIOUS in state.stored.contents):
        contents[PREVIOUS] = None
    if 0 <= state.revoked < state.number:
        stamps[Stamp.REVOKED] = None
    for part in PARTS:
        if NEXT + part in state.stored.contents:
            contents[NEXT + part] = None
    if state.stored.contents.get(BUNDLE, b"") != state.bundle:
        contents[BUNDLE] = state.bundle
    number = str(state.number).encode()
    if state.stored.contents.get(NUMBER) != number and (state.number or NUMBER in state.stored.contents):
        contents[NUMBER] = number
    return Changes(contents, stamps) if contents or stamps else None


def _clock_problem(skew: timedelta) -> Blocked | None:
    """Return an obstacle if this machine's clock or the API server's is wrong."""
    if abs(skew) <= SKEW:
        return None
    side = "ahead of" if skew > timedelta() else "behind"
    problem = (
        f"this machine's clock is {_seconds(abs(skew))} {side} the API server's: synchronize the clocks; they may "
        f"differ by {_seconds(SKEW)}"
    )
    return Blocked((problem,))


def _seconds(duration: timedelta) -> str:
    return f"{round(duration.total_seconds())}s"
