"""The rotation: observes, plans, and executes one step after the other."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeAlias

from cryptography import x509

from certs.bundle import PEM_LIMIT, add_certificates, anchor, fingerprint, is_valid, read_certificates
from certs.generation import Generation, issue_generation, issuing_number, marked_name
from certs.places import (
    AUTHORITY,
    BUNDLE,
    CERTIFICATE,
    KEY,
    NEXT,
    NUMBER,
    Changes,
    Conflict,
    Places,
    Refusal,
    Served,
    Stamp,
    Target,
    Unavailable,
)
from certs.plan import RotationSettings, RotationSnapshot, plan
from certs.state import RotationState, elapsed, read_state, write_time
from certs.steps import Blocked, Note, Promote, Retire, Stage, Step, Trust, Verify, Wait

# Conflicts and missing answers in a row before a pass gives up.
CONFLICTS_LIMIT, FAILURES_LIMIT = 100, 6
# Time after a promotion in which all servers should serve the new generation; later a warning is logged.
SERVING_TIMEOUT = timedelta(minutes=10)
# Limit of steps in one pass: a rotation of a hundred targets has some hundreds.
STEPS_LIMIT = 5000
# Limit of repairs of one target in one pass.
REPAIRS_LIMIT = 12
# Backoff in seconds: first and longest. The API server may ask for more, up to the last.
_CONFLICT_BACKOFF, _BACKOFF, _LONGEST_BACKOFF, _LONGEST_RETRY_AFTER = 0.05, 0.5, 15.0, 60.0
# Interval in seconds between checks of servers that do not serve the new generation yet: first and longest.
_CHECK_INTERVAL, _LONGEST_CHECK_INTERVAL = 1.0, 60.0

OnStep: TypeAlias = Callable[[Step], Awaitable[None]]


class Rotation:
    """Rotates certificates. Several may run at the same time, and each may stop at any point."""

    def __init__(
        self,
        places: Places,
        settings: RotationSettings,
        *,
        on_step: OnStep | None = None,
        issue: Callable[..., Generation] = issue_generation,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Create a rotation that has observed nothing yet.

        `on_step` is called after each step, and with each `Wait` and `Blocked`; `issue` has the signature of
        `issue_generation`; `chance` returns numbers from 0 to 1, for jitter.
        """
        self._places = places
        self._settings = settings
        self._on_step = on_step
        self._issue = issue
        self._chance = chance
        self._denied: dict[str, str] = {}
        # The latest observation.
        self.seen: RotationSnapshot | None = None

    async def observe(self) -> RotationSnapshot:
        """Read store, targets and time. The store is read first, so targets are never older than it."""
        stored = await self._places.store.read()
        targets = tuple(await self._places.targets.read())
        time = await self._places.clock.read()
        return RotationSnapshot(stored, targets, time.now, time.skew)

    async def run(self, patience: timedelta = timedelta()) -> Wait | Blocked:
        """Execute steps until the rotation is blocked, complete, or must wait for longer than `patience`.

        Raises:
            Conflict: other clients kept changing the store or the targets.
            Refusal: the store may not be read or written, or the addresses of servers are unknown.
            Unavailable: no answer after several retries.
        """
        self._denied.clear()
        conflicts = failures = 0
        repairs: Counter[str] = Counter()
        for _ in range(STEPS_LIMIT):
            try:
                step = await self.step()
            except Conflict:
                conflicts += 1
                if conflicts > CONFLICTS_LIMIT:
                    raise
                await self._pause(min(1.0, _CONFLICT_BACKOFF * conflicts))
                continue
            except Unavailable as error:
                failures += 1
                if failures > FAILURES_LIMIT:
                    raise
                await self._pause(min(_LONGEST_BACKOFF, _BACKOFF * 2.0**failures), least=error.after)
                continue
            conflicts = failures = 0
            if isinstance(step, Trust):
                await self._back_off(repairs, str(step.target))
            if isinstance(step, Blocked):
                return step
            if isinstance(step, Wait):
                assert self.seen is not None
                left = step.until - self.seen.now
                if step.settled or left > patience:
                    return step
                patience -= max(left, timedelta())
                # The API server's time has whole seconds: sleep a little longer.
                await self._places.clock.sleep(max(0.0, left.total_seconds()) + 0.05)
        raise Conflict(f"gave up after {STEPS_LIMIT} steps: another client keeps changing the targets or the Secret")

    async def _back_off(self, repairs: Counter[str], target: str) -> None:
        """Pause longer each time another client overwrites a target, and finally give up."""
        repairs[target] += 1
        if repairs[target] > REPAIRS_LIMIT:
            raise Conflict(
                f"gave up after repairing {target} {REPAIRS_LIMIT} times: another client overwrites its bundles"
            )
        if repairs[target] > 3:
            await self._pause(min(_LONGEST_BACKOFF, _BACKOFF * 1.5 ** repairs[target]))

    async def step(self) -> Step | None:
        """Observe, plan, and execute one step; return it.

        Returns None if a target may not be written; the next step omits it.

        Raises:
            Conflict, Refusal, Unavailable: as `run`, without retries.
        """
        observed = await self.observe()
        targets = (
            replace(target, fault=self._denied.get(str(target), "") or target.fault) for target in observed.targets
        )
        observed = self.seen = replace(observed, targets=tuple(targets))
        step = plan(observed, self._settings)
        executed = await self._execute(step, observed, observed.now)
        if executed is not None and self._on_step is not None:
            await self._on_step(executed)
        return executed

    async def _execute(self, step: Step, observed: RotationSnapshot, now: datetime) -> Step | None:
        match step:
            case Stage():
                await self._stage(step, observed, now)
            case Trust():
                return step if await self._write_target(step) else None
            case Note() | Promote():
                await self._places.store.write(observed.stored, step.changes)
            case Verify() | Retire():
                return await self._after_check(step, observed, now)
            case Wait() | Blocked():
                pass
        return step

    async def _stage(self, step: Stage, observed: RotationSnapshot, now: datetime) -> None:
        servers: Sequence[Served] = ()
        if step.emergency:
            try:
                servers = await self._places.probe.look()
            except (Refusal, Unavailable):
                servers = ()  # serving again is more urgent than knowing the servers
        number = max(step.number, *(issuing_number(server.leaf) + 1 for server in servers if server.leaf), 1)
        skip_soak = step.emergency and not still_served(servers, observed.targets, now)
        # In a thread: an RSA key takes a second, and a Lease may have to be renewed meanwhile.
        generation = await asyncio.to_thread(
            self._issue,
            self._settings.names,
            now,
            key_type=self._settings.key_type,
            lifetime=self._settings.lifetime,
            authority_name=marked_name(number),
        )
        state = read_state(observed.stored, self._settings.names, now)
        changes = staging(state, generation, number, skip_soak=skip_soak)
        if self._settings.revoke and self._settings.beyond is not None:
            changes = Changes(changes.contents, {**changes.stamps, Stamp.REVOKED: str(self._settings.beyond)})
        await self._places.store.write(observed.stored, changes)

    async def _write_target(self, step: Trust | Retire) -> bool:
        """Write a target; return False if that is denied. Later steps then see the fault, and go on with the others."""
        try:
            await self._places.targets.write(step.target, step.bundles)
        except Refusal as refusal:
            self._denied[str(step.target)] = str(refusal)
            return False
        return True

    async def _after_check(self, step: Verify | Retire, observed: RotationSnapshot, now: datetime) -> Step | None:
        state = read_state(observed.stored, self._settings.names, now)
        assert state.current is not None
        assert state.current.leaf is not None
        servers = await self._places.probe.look()
        if why := describe_unserved(servers, state.current.leaf):
            return self._wait_for_servers(why, state, now)
        if isinstance(step, Retire):
            return step if await self._write_target(step) else None
        stamps = {Stamp.VERIFIED: fingerprint(state.current.leaf).hex(), Stamp.VERIFIED_AT: write_time(now)}
        await self._places.store.write(observed.stored, Changes(stamps=stamps))
        return step

    def _wait_for_servers(self, why: str, state: RotationState, now: datetime) -> Wait:
        passed = elapsed(state.stamped(Stamp.PROMOTED_AT), now)
        interval = min(_LONGEST_CHECK_INTERVAL, max(_CHECK_INTERVAL, passed.total_seconds() / 4))
        return Wait(
            f"{why}; former CAs stay trusted",
            now + timedelta(seconds=interval),
            f"check again that all servers serve generation {state.number}",
            overdue=passed > SERVING_TIMEOUT,
        )

    async def _pause(self, seconds: float, least: float | None = None) -> None:
        """Sleep for half of a time to all of it, and at least for `least`."""
        jittered = seconds * (0.5 + self._chance() / 2)
        await self._places.clock.sleep(max(jittered, min(least or 0.0, _LONGEST_RETRY_AFTER)))


def staging(state: RotationState, generation: Generation, number: int, *, skip_soak: bool) -> Changes:
    """Return the changes that store a generation beside the current one."""
    authorities = read_certificates(generation.ca_certificate)
    contents: dict[str, bytes | None] = {
        NEXT + CERTIFICATE: generation.certificate,
        NEXT + KEY: generation.key,
        NEXT + AUTHORITY: generation.ca_certificate,
        NEXT + NUMBER: str(number).encode(),
        BUNDLE: add_certificates(state.bundle, authorities),
    }
    if not state.stored.exists:
        # A Secret of this type must have both. Servers treat an empty pair as absent.
        contents |= {CERTIFICATE: b"", KEY: b""}
    for name, content in state.stored.contents.items():
        # Too large to be a certificate, and would leave no room for ours.
        if len(content) > PEM_LIMIT and name not in contents:
            contents[name] = b"" if name in {CERTIFICATE, KEY} else None
    emergency = {Stamp.EMERGENCY: "true" if skip_soak else None}
    return Changes(contents, {Stamp.TRUSTED: None, Stamp.TRUSTED_AT: None, **emergency})


def describe_unserved(servers: Sequence[Served], leaf: x509.Certificate) -> str:
    """Return a text that lists the servers that do not serve a leaf; empty if all do."""
    if not servers:
        return "there are no servers"
    outdated = [server for server in servers if server.leaf != leaf]
    if not outdated:
        return ""
    named = ", ".join(f"{server.address} ({server.fault or 'another certificate'})" for server in outdated[:5])
    more = f" and {len(outdated) - 5} more" if len(outdated) > 5 else ""
    return f"{len(outdated)} of {len(servers)} servers do not serve the current certificate: {named}{more}"


def still_served(servers: Sequence[Served], targets: Sequence[Target], now: datetime) -> bool:
    """Return whether any server serves a certificate that all targets trust, so that a soak is needed."""
    bundles = {entry.bundle for target in targets for entry in target.entries}
    authorities = [read_certificates(bundle) for bundle in bundles]
    return any(
        server.leaf is not None
        and is_valid(server.leaf, now)
        and all(anchor(server.chain, trusted) for trusted in authorities)
        for server in servers
    )
