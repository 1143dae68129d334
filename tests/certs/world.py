"""A cluster in memory: a Secret, targets, API servers that lag, servers that reload, and injected faults.

After each change, and whenever time passes, every API server tries a handshake with every server for every entry.
`failures` collects the handshakes that failed.
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
from certs.state import read_pair
from tests.certs.moments import NOW

NAMES = service_names("jobgate-webhook", "jobgate-system")
SETTINGS = RotationSettings(NAMES)
MUTATING, VALIDATING, CRD = "mutating/jobgate", "validating/jobgate", "crds/dijobs"

#: Called with verb and name before each call, and after each write; the caller gets the exception that it raises.
Fault = Callable[[str, str], None]


class Killed(BaseException):
    """The process was killed."""


@dataclass
class Object:
    """A stored target."""

    uid: int
    generation: int
    bundles: dict[str, bytes]
    past: list[tuple[datetime, dict[str, bytes]]] = field(default_factory=list)


@dataclass
class Server:
    """A server that serves the last valid pair that it read."""

    name: str
    reloads: bool = True
    chain: tuple[x509.Certificate, ...] = ()
    number: int = -1

    def read(self, contents: dict[str, bytes], now: datetime) -> None:
        pair = read_pair(contents, NAMES, now)
        if self.reloads and pair and not pair.faults and not pair.missing and pair.number >= self.number:
            self.chain, self.number = read_certificates(contents["tls.crt"]), pair.number


class World:
    """The cluster: a `Store`, `Targets`, `Probe` and `Clock`."""

    def __init__(self, now: datetime = NOW, *, lags: Sequence[float] = (0.0, 2.0), servers: int = 2) -> None:
        """`lags` are the seconds after which each API server sees a new bundle."""
        self.time = now
        self.own_ahead = timedelta()
        self.contents: dict[str, bytes] | None = {"tls.crt": b"", "tls.key": b""}
        #: The contents of the Secret before its last write, which a slow kubelet still mounts.
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

    # Actions of others.

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
        """Restart a server: it reads the Secret or, if its mount is `late`, the former contents of the Secret."""
        self.servers[number] = Server(self.servers[number].name)
        if late and self.former:
            self.servers[number].read(self.former, self.time)
            self.check("a server was started from an old mount")
        else:
            self.servers[number].read(self.contents or {}, self.time)
            self.check("a server was started")

    # The protocols of certs.

    async def read(self) -> Reading:
        self.called("get", "time")
        await asyncio.sleep(0)
        return Reading(self.time.replace(microsecond=0), self.own_ahead)

    async def sleep(self, seconds: float) -> None:
        """Let time pass in small steps, and check after each."""
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
            Served(server.name, server.chain) if server.chain else Served(server.name, fault="connection refused")
            for server in self.servers
        ]

    # Observation.

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
            authority = anchor(chain, read_certificates(bundle))
            self._verified[key] = (
                None
                if authority is None
                else (
                    max(chain[0].not_valid_before_utc, authority.not_valid_before_utc),
                    min(chain[0].not_valid_after_utc, authority.not_valid_after_utc),
                )
            )
        period = self._verified[key]
        return period is not None and period[0] <= self.time <= period[1]

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
        """The number of the current generation."""
        return int((self.contents or {}).get("generation", b"0"))

    def trusted(self, name: str = MUTATING) -> list[int]:
        """Return the number of CAs that each entry of a target trusts."""
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
            return StoredCertificates(exists=False, origin=self.world.version)
        return StoredCertificates(True, dict(self.world.contents), dict(self.world.stamps), origin=self.world.version)

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        world = self.world
        world.called("write", "secret")
        await asyncio.sleep(0)
        if seen.origin != world.version:
            raise Conflict("the Secret has changed")
        step = "stage" if changes.contents.get("next.tls.crt") else ""
        step = step or ("promote" if changes.contents.get("tls.crt") else "note")
        stamps = {key: value for key, value in {**world.stamps, **changes.stamps}.items() if value is not None}
        world._store({**(world.contents or {}), **changes.contents}, stamps)
        world.writes.append(step)
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
        kind, _, object_name = name.partition("/")
        if name not in self.world.objects:
            return Target(kind, object_name, exists=False)
        target = self.world.objects[name]
        version = f"{target.uid}/{target.generation}"
        return Target(kind, object_name, version, tuple(itertools.starmap(TargetEntry, target.bundles.items())))

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        self.world.called("write", str(seen))
        await asyncio.sleep(0)
        if self._target(str(seen)).version != seen.version:
            raise Conflict(f"{seen} has changed")
        names = [entry.name for entry in seen.entries]
        self.world.edit(str(seen), dict(zip(names, bundles, strict=True)))
        self.world.writes.append(str(seen))
        self.world.called("written", str(seen))


async def settle(world: World, settings: RotationSettings = SETTINGS, patience: float = 7200) -> Any:
    """Rotate until there is nothing left to do."""
    return await world.rotation(settings).run(timedelta(seconds=patience))


_INSTALLED: list[dict[str, Any]] = []


async def install(*, lags: Sequence[float] = (0.0, 2.0), servers: int = 2) -> World:
    """Return a cluster in which generation 1 is served and trusted."""
    if not _INSTALLED:
        first = World()
        await settle(first)
        bundles = {name: target.bundles for name, target in first.objects.items()}
        _INSTALLED.append({"time": first.time, "contents": first.contents, "stamps": first.stamps, "bundles": bundles})
    snapshot = _INSTALLED[0]
    world = World(snapshot["time"], lags=lags, servers=servers)
    world.contents, world.stamps = dict(snapshot["contents"]), dict(snapshot["stamps"])
    for name, bundles in snapshot["bundles"].items():
        world.create(name, dict(bundles))
    for number in range(servers):
        world.restart(number)
    await settle(world)
    world.failures.clear()
    world.writes.clear()
    assert world.number == 1
    return world


@contextmanager
def inject(world: World, fault: Fault) -> Iterator[None]:
    world.faults.append(fault)
    try:
        yield
    finally:
        world.faults.remove(fault)


def assert_healthy(world: World) -> None:
    """Assert that the rotation is complete, and that no handshake failed."""
    assert world.failures == []
    for name in world.objects:
        for bundle in world.objects[name].bundles.values():
            assert len(read_certificates(bundle)) <= 2, name
    assert {server.number for server in world.servers} == {world.number}
    assert "next.tls.crt" not in (world.contents or {})
