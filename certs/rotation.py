"""The rotation: observes, plans, and makes one step after the other."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeAlias

from cryptography import x509

from certs.bundle import LONGEST, anchor, fingerprint, holds, read_certificates, united
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

# How often in a row something may have changed under our hands, or not answered, before a pass gives up.
CONFLICTS, FAILURES = 100, 6
# How long after a promotion a warning is logged if a server does not serve the new generation.
PATIENCE = timedelta(minutes=10)
# How many steps one pass has at most: a rotation of a hundred targets has some hundreds.
STEPS = 5000
# How often one pass adds to the same target.
HEALS = 12
# Between two tries, in seconds: at first, and at most; the API server may ask for more, up to the last.
_CONFLICT_PAUSE, _PAUSE, _LONGEST_PAUSE, _ASKED_PAUSE = 0.05, 0.5, 15.0, 60.0
# Between two looks at servers that do not serve yet what they should, in seconds: often at first, then seldom.
_LOOK, _SELDOM = 1.0, 60.0

OnStep: TypeAlias = Callable[[Step], Awaitable[None]]


class Rotation:
    """Rotates. Any number of them may run at the same time, and each may end at any point."""

    def __init__(
        self,
        places: Places,
        settings: RotationSettings,
        *,
        on_step: OnStep | None = None,
        issue: Callable[..., Generation] = issue_generation,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Make one that has seen nothing yet.

        `on_step` is called with each step that was done, and with each wait and obstacle; `issue` makes a generation as
        `issue_generation` does; `chance` gives numbers from 0 to 1, for jitter.
        """
        self._places = places
        self._settings = settings
        self._on_step = on_step
        self._issue = issue
        self._chance = chance
        self._denied: dict[str, str] = {}
        # What was seen last.
        self.seen: RotationSnapshot | None = None

    async def observe(self) -> RotationSnapshot:
        """See what there is. The store comes first: what is read after it was there when it was so, or later."""
        stored = await self._places.store.read()
        targets = tuple(await self._places.targets.read())
        time = await self._places.clock.read()
        return RotationSnapshot(stored, targets, time.now, time.skew)

    async def run(self, patience: timedelta = timedelta()) -> Wait | Blocked:
        """Go on until there is nothing to do but wait for longer than patience lasts, and return that.

        Raises:
            Conflict: others changed things faster than this could, for long.
            Refusal: the store may not be read or written, or it is not known who serves.
            Unavailable: there was no answer, for long.
        """
        self._denied.clear()
        conflicts = failures = 0
        healed: Counter[str] = Counter()
        for _ in range(STEPS):
            try:
                done = await self.step()
            except Conflict:
                conflicts += 1
                if conflicts > CONFLICTS:
                    raise
                await self._pause(min(1.0, _CONFLICT_PAUSE * conflicts))
                continue
            except Unavailable as error:
                failures += 1
                if failures > FAILURES:
                    raise
                await self._pause(min(_LONGEST_PAUSE, _PAUSE * 2.0**failures), least=error.after)
                continue
            conflicts = failures = 0
            if isinstance(done, Trust):
                await self._give_way(healed, str(done.target))
            if isinstance(done, Blocked):
                return done
            if isinstance(done, Wait):
                assert self.seen is not None
                left = done.until - self.seen.now
                if done.settled or left > patience:
                    return done
                patience -= max(left, timedelta())
                # The API server's time has whole seconds: a little later it is surely over.
                await self._places.clock.sleep(max(0.0, left.total_seconds()) + 0.05)
        raise Conflict(f"gave up after {STEPS} steps: another client keeps changing the targets or the Secret")

    async def _give_way(self, healed: Counter[str], target: str) -> None:
        """Pause longer each time another client overwrites a target, and give up in the end."""
        healed[target] += 1
        if healed[target] > HEALS:
            raise Conflict(f"gave up after repairing {target} {HEALS} times: another client overwrites its bundles")
        if healed[target] > 3:
            await self._pause(min(_LONGEST_PAUSE, _PAUSE * 1.5 ** healed[target]))

    async def step(self) -> Step | None:
        """See, plan, and carry one step out; return what was done, or what is waited for.

        None is returned where a target could not be written; the next step leaves it out.

        Raises:
            Conflict, Refusal, Unavailable: as `run`, without trying again.
        """
        observed = await self.observe()
        targets = (replace(one, fault=self._denied.get(str(one), "") or one.fault) for one in observed.targets)
        observed = self.seen = replace(observed, targets=tuple(targets))
        step = plan(observed, self._settings)
        done = await self._carry_out(step, observed, observed.now)
        if done is not None and self._on_step is not None:
            await self._on_step(done)
        return done

    async def _carry_out(self, step: Step, observed: RotationSnapshot, now: datetime) -> Step | None:
        match step:
            case Stage():
                await self._stage(step, observed, now)
            case Trust():
                return step if await self._written(step) else None
            case Note() | Promote():
                await self._places.store.write(observed.stored, step.changes)
            case Verify() | Retire():
                return await self._look(step, observed, now)
            case Wait() | Blocked():
                pass
        return step

    async def _stage(self, step: Stage, observed: RotationSnapshot, now: datetime) -> None:
        served: Sequence[Served] = ()
        if step.emergency:
            try:
                served = await self._places.probe.look()
            except (Refusal, Unavailable):
                served = ()  # it is more urgent to serve than to know who does
        number = max(step.number, *(issuing_number(one.leaf) + 1 for one in served if one.leaf), 1)
        hasty = step.emergency and not still_served(served, observed.targets, now)
        # In a thread: RSA takes a second, in which a Lease may have to be renewed.
        generation = await asyncio.to_thread(
            self._issue,
            self._settings.names,
            now,
            key_type=self._settings.key_type,
            lifetime=self._settings.lifetime,
            authority_name=marked_name(number),
        )
        state = read_state(observed.stored, self._settings.names, now)
        changes = staging(state, generation, number, hasty=hasty)
        if self._settings.revoke and self._settings.beyond is not None:
            changes = Changes(changes.contents, {**changes.stamps, Stamp.REVOKED: str(self._settings.beyond)})
        await self._places.store.write(observed.stored, changes)

    async def _written(self, step: Trust | Retire) -> bool:
        """Write a target. If that is denied, the fault stays with this one and the others have their turn."""
        try:
            await self._places.targets.write(step.target, step.bundles)
        except Refusal as refusal:
            self._denied[str(step.target)] = str(refusal)
            return False
        return True

    async def _look(self, step: Verify | Retire, observed: RotationSnapshot, now: datetime) -> Step | None:
        state = read_state(observed.stored, self._settings.names, now)
        assert state.current is not None
        assert state.current.leaf is not None
        served = await self._places.probe.look()
        if why := unserved(served, state.current.leaf):
            return self._unserved_yet(why, state, now)
        if isinstance(step, Retire):
            return step if await self._written(step) else None
        stamps = {Stamp.VERIFIED: fingerprint(state.current.leaf).hex(), Stamp.VERIFIED_AT: write_time(now)}
        await self._places.store.write(observed.stored, Changes(stamps=stamps))
        return step

    def _unserved_yet(self, why: str, state: RotationState, now: datetime) -> Wait:
        passed = elapsed(state.stamped(Stamp.PROMOTED_AT), now)
        pause = min(_SELDOM, max(_LOOK, passed.total_seconds() / 4))
        return Wait(
            f"{why}; former CAs stay trusted",
            now + timedelta(seconds=pause),
            f"check again that all servers serve generation {state.number}",
            overdue=passed > PATIENCE,
        )

    async def _pause(self, seconds: float, least: float | None = None) -> None:
        """Sleep for between half and the whole of a time, but for as long as was asked for."""
        jittered = seconds * (0.5 + self._chance() / 2)
        await self._places.clock.sleep(max(jittered, min(least or 0.0, _ASKED_PAUSE)))


def staging(state: RotationState, generation: Generation, number: int, *, hasty: bool) -> Changes:
    """The changes that store a generation beside the current one."""
    authorities = read_certificates(generation.ca_certificate)
    contents: dict[str, bytes | None] = {
        NEXT + CERTIFICATE: generation.certificate,
        NEXT + KEY: generation.key,
        NEXT + AUTHORITY: generation.ca_certificate,
        NEXT + NUMBER: str(number).encode(),
        BUNDLE: united(state.bundle, authorities),
    }
    if not state.stored.found:
        # A Secret of this type must have them. Servers take an empty pair for none.
        contents |= {CERTIFICATE: b"", KEY: b""}
    for name, content in state.stored.contents.items():
        # There would be no room for ours beside it; it holds no certificates.
        if len(content) > LONGEST and name not in contents:
            contents[name] = b"" if name in {CERTIFICATE, KEY} else None
    emergency = {Stamp.EMERGENCY: "true" if hasty else None}
    return Changes(contents, {Stamp.TRUSTED: None, Stamp.TRUSTED_AT: None, **emergency})


def unserved(served: Sequence[Served], leaf: x509.Certificate) -> str:
    """Return which servers do not serve a leaf; empty if all do."""
    if not served:
        return "there are no servers"
    late = [one for one in served if one.leaf != leaf]
    if not late:
        return ""
    named = ", ".join(f"{one.address} ({one.fault or 'another certificate'})" for one in late[:5])
    more = f" and {len(late) - 5} more" if len(late) > 5 else ""
    return f"{len(late)} of {len(served)} servers do not serve the current certificate: {named}{more}"


def still_served(served: Sequence[Served], targets: Sequence[Target], now: datetime) -> bool:
    """Whether any server serves a certificate that all targets trust, so that a soak is needed."""
    bundles = {entry.bundle for target in targets for entry in target.entries}
    authorities = [read_certificates(bundle) for bundle in bundles]
    return any(
        one.leaf is not None and holds(one.leaf, now) and all(anchor(one.chain, trusted) for trusted in authorities)
        for one in served
    )
