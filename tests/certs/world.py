"""A cluster in memory: a Secret, targets, API servers that learn late, servers that reload, and every fault wished for.

After each change and each passing of time every API server tries a handshake with every server for every entry. What
fails is kept in `failures`.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cryptography import x509

from certs import Conflict, Reading, Rotation, RotationSettings, Served, StoredCertificates, Target, service_names
from certs.bundle import anchor, fingerprint, read_certificates
from certs.places import Changes, Places, TargetEntry
from certs.state import judged
from tests.certs.moments import NOW

NAMES = service_names("jobgate-webhook", "jobgate-system")
SETTINGS = RotationSettings(NAMES)
MUTATING, VALIDATING, CRD = "mutating/jobgate", "validating/jobgate", "crds/dijobs"

#: Called with each call before it is carried out, by verb and name; what it raises, the caller gets.
Fault = Callable[[str, str], None]


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Object:
    """A target, as it is stored."""

    uid: int
    generation: int
    bundles: dict[str, bytes]
    past: list[tuple[datetime, dict[str, bytes]]] = field(default_factory=list)


@dataclass
class Server:
    """Serves from memory the last good pair that it read."""

    name: str
    reloads: bool = True
    chain: tuple[x509.Certificate, ...] = ()
    number: int = -1

    def read(self, contents: dict[str, bytes], now: datetime) -> None:
        pair = judged(contents, NAMES, now)
        if self.reloads and pair and not pair.faults and not pair.missing and pair.number >= self.number:
            self.chain, self.number = read_certificates(contents["tls.crt"]), pair.number


class World:
    """The cluster: a `Store`, `Targets`, `Probe` and `Clock`."""

    def __init__(self, now: datetime = NOW, *, lags: Sequence[float] = (0.0, 2.0), servers: int = 2) -> None:
        """`lags` has the seconds after which each API server learns of a bundle."""
        self.time = now
        self.own_ahead = timedelta()
        self.contents: dict[str, bytes] | None = {"tls.crt": b"", "tls.key": b""}
        #: What the Secret held before its last write: what a kubelet that is late still mounts.
        self.former: dict[str, bytes] | None = None
        self.stamps: dict[str, str] = {}
        self.version = 1
        self.objects: dict[str, Object] = {}
        self.servers = [Server(f"10.0.0.{number}:9443") for number in range(1, servers + 1)]
        self.lags = lags
        self.faults: list[Fault] = []
        self.writes: list[str] = []
        self.failures: list[str] = []
        self.slept = 0.0
        self.watching = True
        self._uids = itertools.count(1)
        self._verified: dict[Any, tuple[datetime, datetime] | None] = {}
        for name, entries in ((MUTATING, "ab"), (VALIDATING, "ab"), (CRD, ["conversion"])):
            self.create(name, dict.fromkeys(entries, b""))

    # What others do.

    def create(self, name: str, bundles: dict[str, bytes]) -> None:
        """Create a target, or delete it and create it again."""
        self.objects[name] = Object(next(self._uids), 1, bundles, [(self.time, bundles)])

    def edit(self, name: str, bundles: dict[str, bytes]) -> None:
        """Write a target's entries and bundles."""
        target = self.objects[name]
        target.bundles, target.generation = bundles, target.generation + 1
        target.past.append((self.time, bundles))
        self.check(f"{name} was written")

    def wipe(self, name: str, bundle: bytes = b"") -> None:
        """Write the same bundle into all entries."""
        self.edit(name, dict.fromkeys(self.objects[name].bundles, bundle))

    def put(self, **contents: bytes | None) -> None:
        """Change the Secret's contents, `tls_crt` for `tls.crt`; None removes."""
        named = {key.replace("_", "."): value for key, value in contents.items()}
        self._store({**(self.contents or {}), **named}, self.stamps)

    def delete_secret(self) -> None:
        self.contents, self.stamps = None, {}
        self.version += 1

    def restart(self, number: int = 0, *, late: bool = False) -> None:
        """Restart a server; it knows only what the Secret holds, or, of a late mount, what it held before."""
        self.servers[number] = Server(self.servers[number].name)
        if late and self.former:
            self.servers[number].read(self.former, self.time)
            self.check("a server was started from an old mount")
        else:
            self.servers[number].read(self.contents or {}, self.time)
            self.check("a server was started")

    # Certs' protocols.

    async def read(self) -> Reading:
        self.called("get", "time")
        await asyncio.sleep(0)
        return Reading(self.time.replace(microsecond=0), self.own_ahead)

    async def sleep(self, seconds: float) -> None:
        """Let time pass in small parts, so that all that happens meanwhile is seen."""
        end = self.time + timedelta(seconds=seconds)
        self.slept += seconds
        await asyncio.sleep(0)
        while self.time < end:
            self.time = min(end, self.time + max(timedelta(seconds=1), (end - self.time) / 4))
            self.check("time passed")
            await asyncio.sleep(0)

    async def look(self) -> Sequence[Served]:
        self.called("look", "endpoints")
        await asyncio.sleep(0)
        return [
            Served(one.name, one.chain) if one.chain else Served(one.name, fault="connection refused")
            for one in self.servers
        ]

    # How it is seen.

    def called(self, verb: str, name: str) -> None:
        for fault in tuple(self.faults):
            fault(verb, name)

    def check(self, why: str) -> None:
        """Make all handshakes that API servers might make now."""
        for server, lag, (name, target) in itertools.product(self.servers, self.lags, self.objects.items()):
            if not server.chain:
                continue
            seen = [bundles for at, bundles in target.past if at + timedelta(seconds=lag) <= self.time]
            bundles = seen[-1] if seen else target.past[0][1]
            for entry in target.bundles:
                if entry in bundles and not self._trusts(bundles[entry], server.chain):
                    self.failures.append(f"{why}: {name} {entry} does not trust generation {server.number}")

    def _trusts(self, bundle: bytes, chain: tuple[x509.Certificate, ...]) -> bool:
        key = (bundle, fingerprint(chain[0]))
        if key not in self._verified:
            found = anchor(chain, read_certificates(bundle))
            self._verified[key] = (
                None
                if found is None
                else (
                    max(chain[0].not_valid_before_utc, found.not_valid_before_utc),
                    min(chain[0].not_valid_after_utc, found.not_valid_after_utc),
                )
            )
        held = self._verified[key]
        return held is not None and held[0] <= self.time <= held[1]

    def _store(self, contents: dict[str, bytes | None], stamps: dict[str, str]) -> None:
        self.former = self.contents
        self.contents = {key: value for key, value in contents.items() if value is not None}
        self.stamps = stamps
        self.version += 1
        if self.watching:
            for server in self.servers:
                server.read(self.contents, self.time)
        self.check("the Secret was written")

    @property
    def number(self) -> int:
        """The current generation's number."""
        return int((self.contents or {}).get("generation", b"0"))

    def trusted(self, name: str = MUTATING) -> list[int]:
        """How many CAs each entry of a target trusts."""
        return [len(read_certificates(bundle)) for bundle in self.objects[name].bundles.values()]

    def places(self) -> Places:
        return Places(MemoryStore(self), MemoryTargets(self), self, self)

    def rotation(self, settings: RotationSettings = SETTINGS, **options: Any) -> Rotation:
        return Rotation(self.places(), settings, chance=lambda: 0.5, **options)


class MemoryStore:
    """The world's Secret."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def read(self) -> StoredCertificates:
        self.world.called("get", "secret")
        await asyncio.sleep(0)
        if self.world.contents is None:
            return StoredCertificates(found=False, origin=self.world.version)
        return StoredCertificates(True, dict(self.world.contents), dict(self.world.stamps), origin=self.world.version)

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        world = self.world
        world.called("write", "secret")
        await asyncio.sleep(0)
        if seen.origin != world.version:
            raise Conflict("the Secret has changed")
        kinds = "stage" if changes.contents.get("next.tls.crt") else ""
        kinds = kinds or ("promote" if changes.contents.get("tls.crt") else "note")
        stamps = {key: value for key, value in {**world.stamps, **changes.stamps}.items() if value is not None}
        world._store({**(world.contents or {}), **changes.contents}, stamps)
        world.writes.append(kinds)
        world.called("written", "secret")


class MemoryTargets:
    """The world's targets."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def read(self) -> Sequence[Target]:
        self.world.called("get", "targets")
        await asyncio.sleep(0)
        return [self._target(name) for name in (MUTATING, VALIDATING, CRD)]

    def _target(self, name: str) -> Target:
        kind, _, called = name.partition("/")
        if name not in self.world.objects:
            return Target(kind, called, found=False)
        found = self.world.objects[name]
        version = f"{found.uid}/{found.generation}"
        return Target(kind, called, version, tuple(itertools.starmap(TargetEntry, found.bundles.items())))

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        self.world.called("write", str(seen))
        await asyncio.sleep(0)
        if self._target(str(seen)).version != seen.version:
            raise Conflict(f"{seen} has changed")
        names = [entry.name for entry in seen.entries]
        self.world.edit(str(seen), dict(zip(names, bundles, strict=True)))
        self.world.writes.append(str(seen))
        self.world.called("written", str(seen))


async def settled(world: World, settings: RotationSettings = SETTINGS, patience: float = 7200) -> Any:
    """Rotate until there is nothing left to do."""
    return await world.rotation(settings).run(timedelta(seconds=patience))


_INSTALLED: list[dict[str, Any]] = []


async def installed(*, lags: Sequence[float] = (0.0, 2.0), servers: int = 2) -> World:
    """A cluster in which generation 1 is served and trusted."""
    if not _INSTALLED:
        first = World()
        await settled(first)
        bundles = {name: target.bundles for name, target in first.objects.items()}
        _INSTALLED.append({"time": first.time, "contents": first.contents, "stamps": first.stamps, "bundles": bundles})
    known = _INSTALLED[0]
    world = World(known["time"], lags=lags, servers=servers)
    world.contents, world.stamps = dict(known["contents"]), dict(known["stamps"])
    for name, given in known["bundles"].items():
        world.create(name, dict(given))
    for number in range(servers):
        world.restart(number)
    await settled(world)
    world.failures.clear()
    world.writes.clear()
    assert world.number == 1
    return world


@contextmanager
def fault(world: World, reported: Fault) -> Iterator[None]:
    world.faults.append(reported)
    try:
        yield
    finally:
        world.faults.remove(reported)


def sound(world: World) -> None:
    """Everything is as after a rotation, and no handshake failed."""
    assert world.failures == []
    for name in world.objects:
        for bundle in world.objects[name].bundles.values():
            assert len(read_certificates(bundle)) <= 2, name
    assert {server.number for server in world.servers} == {world.number}
    assert "next.tls.crt" not in (world.contents or {})
