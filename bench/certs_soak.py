"""`python -m bench.certs_soak`: certificates rotated again and again while the API server admits jobs.

    python -m bench.certs_soak [--rotations N] [--soak SECONDS] [--race-every N] [--racers N] [--pause SECONDS]
        [--seed N]

On a real API server: two `jobgate serve --tls-secret` behind one address; jobs are admitted, new handshakes are made
and connections are kept all the while. In each rotation one process after the other is killed (SIGKILL): in every
second one each at its first write, so that there is a death at every write of a rotation, else the n-th at its n-th
write. Half of them die with the answer, half before it; the last one comes to the end. In every N-th rotation many
rotate at the same time, to the end.

With `--race-every 1 --racers 1` nothing is killed and a rotation takes half a second: a thousand show whether memory
stays as it is.

Prints one line, a JSON object; on standard error how far it is, each tenth rotation, and what is wrong. Exit status 1
where anything is.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bench.certs_callers import CONFIGURATIONS, JOBS, Address, Callers, broken, refused
from bench.replica import Replica, grown, quarters, serving
from certs import KeyType, Rotation, RotationSettings, StoredCertificates, Target, Wait, service_names
from certs.bundle import read_certificates
from certs.generation import number_of
from certs.places import Changes, Store, Targets
from controlplane import ControlPlane, Terminal, find_or_build
from controlplane.client import ClusterApi
from controlplane.webhook import jobgate
from jobgate.cluster.bundles import RotationScope
from jobgate.cluster.client import Client
from jobgate.serving.rotation import places

NAMESPACE, SERVICE, SECRET = "jobgate-system", "jobgate-webhook", "jobgate-webhook-tls"
SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
SERVERS = 2
#: For a program to start on a busy machine, and for one process to rotate to the end, in seconds.
START, WORK = 120.0, 120.0
#: How many processes one rotation takes at most: it has about nine writes, and half of the kills may undo one.
PROCESSES = 60
#: How long a killed process leaves a request under way before it dies, at most, in seconds: about as long as one takes.
IN_FLIGHT = 0.015
#: Rotations between two reports of progress.
TOLD_EACH = 10
#: Between two looks at a server, in seconds.
LOOK = 1.0
#: What is seen in the first seconds is not compared with later: the API server makes new connections with each bundle,
#: and closes those that it does not use any more after 90 s (Go's IdleConnTimeout). Some 300 of 20 KiB each are open
#: from then on, however many rotations follow.
WARM = 100.0

# Forked from one that has imported everything: killed and followed by the next within a fraction of a second.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["bench.certs_callers", "jobgate.serving.rotation", "controlplane.webhook"])


@dataclass
class Doom:
    """At which write a process is killed: the `writes`-th, `seconds` after it was sent, or with its answer."""

    writes: int
    seconds: float | None

    async def around(self, write: Awaitable[None]) -> None:
        """Await a write, or die over it."""
        self.writes -= 1
        if self.writes:
            await write
            return
        await asyncio.wait([asyncio.ensure_future(write)], timeout=self.seconds)
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class DoomedStore:
    """A store whose writes are counted."""

    store: Store
    doom: Doom

    async def read(self) -> StoredCertificates:
        """Read it."""
        return await self.store.read()

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        """Write it, or die."""
        await self.doom.around(self.store.write(seen, changes))


@dataclass
class DoomedTargets:
    """Targets whose writes are counted."""

    targets: Targets
    doom: Doom

    async def read(self) -> Sequence[Target]:
        """Read them."""
        return await self.targets.read()

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Write one, or die."""
        await self.doom.around(self.targets.write(seen, bundles))


def rotate(kubeconfig: Path, scope: RotationScope, beyond: int, soak: float, doom: Doom | None, log: Path) -> None:
    """Rotate to the end, or until death; exit status 1 where neither comes. The work of a process."""
    names = service_names(SERVICE, NAMESPACE)
    settings = RotationSettings(names, KeyType.P256, soak=timedelta(seconds=soak), beyond=beyond)

    async def run() -> bool:
        async with await Client.connect(kubeconfig) as client:
            used = places(client, scope)
            if doom:
                store, targets = DoomedStore(used.store, doom), DoomedTargets(used.targets, doom)
                used = replace(used, store=store, targets=targets)
            end = await Rotation(used, settings).run(timedelta(seconds=WORK))
            if isinstance(end, Wait) and end.settled:
                return True
            raise RuntimeError(str(end))

    try:
        asyncio.run(run())
    except Exception as error:  # noqa: BLE001  # the starter reports it
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{error!r}\n")
        sys.exit(1)


class Soak:
    """Rotations, one after the other, and what came of them."""

    def __init__(
        self, api: ClusterApi, kubeconfig: Path, scope: RotationScope, command: argparse.Namespace, log: Path
    ) -> None:
        self._api, self._kubeconfig, self._scope = api, kubeconfig, scope
        self._command, self._log = command, log
        self._chance = random.Random(command.seed)
        self.kills = self.processes = self.races = 0
        self.seconds: list[float] = []
        self.wrong: list[str] = []

    async def bootstrap(self) -> None:
        """Issue the first generation."""
        await self._to_the_end([self._start(0, None)])

    async def all(self) -> None:
        """Do as many as were asked for."""
        for number in range(1, self._command.rotations + 1):
            before, began = self.generation(), time.monotonic()
            if number % self._command.race_every == 0:
                self.races += 1
                await self._to_the_end([self._start(before, None) for _ in range(self._command.racers)])
            else:
                await self._killed(before, at_each=bool(number % 2))
            self.seconds.append(time.monotonic() - began)
            self._check(number, before)
            if number % TOLD_EACH == 0:
                said = f"{number} of {self._command.rotations} rotations, {self.kills} killed, {len(self.wrong)} wrong"
                print(said, file=sys.stderr, flush=True)

    def generation(self) -> int:
        """Return the current one."""
        _, found = self._api.get(f"{SECRETS}/{SECRET}")
        return int(base64.b64decode(found["data"].get("generation", "MA==")))

    async def _killed(self, before: int, *, at_each: bool) -> None:
        for number in range(1, PROCESSES + 1):
            seconds = None if number % 2 else self._chance.uniform(0, IN_FLIGHT)
            process = self._start(before, Doom(1 if at_each else number, seconds))
            code = await ended(process)
            if code == 0:
                return
            if code != -signal.SIGKILL:
                raise RuntimeError(f"a rotation ends with {code}: {self._said()}")
            self.kills += 1
        self.wrong.append(f"generation {before + 1}: no end after {PROCESSES} processes")
        await self._to_the_end([self._start(before, None)])

    async def _to_the_end(self, processes: Sequence[BaseProcess]) -> None:
        codes = [await ended(process) for process in processes]
        if any(codes):
            self.wrong.append(f"{len(codes)} rotations at once end with {codes}: {self._said()}")

    def _start(self, beyond: int, doom: Doom | None) -> BaseProcess:
        arguments = (self._kubeconfig, self._scope, beyond, self._command.soak, doom, self._log)
        process = _processes.Process(target=rotate, args=arguments, daemon=True)
        process.start()
        self.processes += 1
        return process

    def _said(self) -> str:
        return self._log.read_text(encoding="utf-8")[-1000:] if self._log.exists() else "nothing was said"

    def _check(self, number: int, before: int) -> None:
        if (after := self.generation()) != before + 1:
            self.wrong.append(f"rotation {number}: from generation {before} to {after}")
        for path in CONFIGURATIONS:
            _, found = self._api.get(path)
            for entry in found["webhooks"]:
                bundle = base64.b64decode(entry["clientConfig"].get("caBundle", ""))
                trusted = [number_of(one) for one in read_certificates(bundle)]
                if trusted != [before, before + 1]:
                    self.wrong.append(f"rotation {number}: {path} {entry['name']} trusts {trusted}")


async def ended(process: BaseProcess) -> int:
    """Wait until a process has ended, and return its exit code."""
    try:
        await until(lambda: process.exitcode is not None, WORK, "a rotation ends", every=0.01)
    except TimeoutError:
        process.kill()
        raise
    process.join()
    assert process.exitcode is not None
    return process.exitcode


async def until(condition: Callable[[], bool | Awaitable[bool]], seconds: float, what: str, every: float = 0.1) -> None:
    """Wait until something holds.

    Raises:
        TimeoutError: it does not.
    """
    end = time.monotonic() + seconds
    while True:
        holds = condition()
        if holds if isinstance(holds, bool) else await holds:
            return
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not after {seconds:g} s")
        await asyncio.sleep(every)


def install(plane: ControlPlane, port: int) -> None:
    """Apply the manifests, and an empty Secret: nothing is trusted yet."""
    manifests = jobgate("manifests", "--rotation=cronjob", f"--service-port={port}", "--external-name=localhost")
    plane.kubectl("apply", "-f", "-", input=manifests)
    plane.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/name=jobgate")
    with plane.api() as api:
        data = {"tls.crt": "", "tls.key": ""}
        secret = {"metadata": {"name": SECRET}, "type": "kubernetes.io/tls", "data": data}
        status, answer = api.post(SECRETS, secret)
    if status >= 400:
        raise RuntimeError(str(answer))


async def looking(servers: Sequence[Replica], address: Address) -> None:
    """Look at the servers each second; forget what was before as many connections are closed as are made."""
    warm = time.monotonic() + WARM
    while True:
        if warm and time.monotonic() > warm:
            warm = 0.0
            for server in servers:
                server.forget()
        for server in servers:
            server.look(address.open[server.port])
        await asyncio.sleep(LOOK)


async def soak(plane: ControlPlane, command: argparse.Namespace, folder: Path) -> tuple[Mapping[str, Any], list[str]]:
    """Run it, and return the figures and what is wrong."""
    async with AsyncExitStack() as stack:
        logs = [folder / f"server-{number}.log" for number in range(SERVERS)]
        flags = (f"--tls-secret={NAMESPACE}/{SECRET}", f"--kubeconfig={plane.kubeconfig}")
        servers = [stack.enter_context(serving(log, *flags)) for log in logs]
        address = Address([server.port for server in servers])
        listener = await asyncio.start_server(address.forward, "127.0.0.1", 0)
        stack.callback(listener.close)
        port = listener.sockets[0].getsockname()[1]
        await asyncio.to_thread(install, plane, port)
        api = stack.enter_context(plane.api())
        # A Service that is another name has no endpoints: who serves is said outright, each by itself.
        addresses = tuple(("127.0.0.1", server.port) for server in servers)
        scope = RotationScope(NAMESPACE, SERVICE, "jobgate", SECRET, addresses=addresses)
        rotations = Soak(api, plane.kubeconfig, scope, command, folder / "rotations.log")
        await rotations.bootstrap()
        for server in servers:
            await until(partial(asyncio.to_thread, server.ready), START, "a server is ready")

        async def called() -> bool:
            return not refused(*await asyncio.to_thread(api.post, JOBS, broken(), {"dryRun": "All"}))

        await until(called, START, "the API server calls the webhook")
        first, began = rotations.generation(), time.monotonic()
        callers = stack.enter_context(Callers(plane, port, command.pause))
        watching = asyncio.create_task(looking(servers, address))
        stack.callback(watching.cancel)
        await rotations.all()
        seconds = time.monotonic() - began
        watching.cancel()
        tallies = await asyncio.to_thread(callers.join)
        advanced = rotations.generation() - first
    wrong = [*rotations.wrong, *grown(servers)]
    if watching.done() and not watching.cancelled():
        wrong.append(f"a server is gone: {watching.exception()!r}")
    if advanced != command.rotations:
        wrong.append(f"{command.rotations} rotations, and {advanced} generations")
    for name, tally in tallies.items():
        if not tally.done:
            wrong.append(f"{name}: none was made")
        wrong += tally.failures
    figures = {
        "rotations": command.rotations,
        "generations": advanced,
        "races": rotations.races,
        "processes": rotations.processes,
        "kills": rotations.kills,
        "seconds": round(seconds, 1),
        "rotation_seconds": round(statistics.median(rotations.seconds), 1),
        **{name: tally.done for name, tally in tallies.items()},
        "repeated": sum(tally.repeated for tally in tallies.values()),
        "failed": {name: tally.failed for name, tally in tallies.items()},
        "connections": address.made,
        "memory_mib": [[round(value, 1) for value in quarters(server.memory)] for server in servers],
        "descriptors": [list(quarters(server.descriptors)) for server in servers],
        "wrong": len(wrong),
    }
    return figures, wrong


@contextmanager
def terminable() -> Iterator[None]:
    """Take SIGTERM for Ctrl-C: what was started is stopped."""
    # A shell starts what runs in its background with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    former = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.certs_soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rotations", type=int, default=200)
    parser.add_argument("--soak", type=float, default=0.0, help="seconds, as of `jobgate certs rotate`")
    parser.add_argument("--race-every", type=int, default=5, help="in every N-th rotation many rotate at once")
    parser.add_argument("--racers", type=int, default=10, help="how many")
    parser.add_argument("--pause", type=float, default=0.05, help="between two calls of one of six callers, in seconds")
    parser.add_argument("--limit", type=float, help="seconds, of all rotations  [default: 120, and 60 each]")
    parser.add_argument("--seed", type=int, default=1, help="of all that is left to chance")
    command = parser.parse_args()
    limit = command.limit or START + 60.0 * command.rotations

    async def bounded(plane: ControlPlane, folder: Path) -> tuple[Mapping[str, Any], list[str]]:
        async with asyncio.timeout(limit):
            return await soak(plane, command, folder)

    try:
        with terminable(), tempfile.TemporaryDirectory() as folder, ControlPlane(find_or_build(Terminal())) as plane:
            figures, wrong = asyncio.run(bounded(plane, Path(folder)))
    except TimeoutError as error:
        figures, wrong = {"wrong": 1}, [str(error) or f"no end after {limit:g} s"]
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        figures, wrong = {"wrong": 1}, [repr(error)]
    except KeyboardInterrupt:
        return 130
    finally:
        for process in multiprocessing.active_children():
            process.kill()
    print(json.dumps(figures))
    for one in wrong:
        print(one, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
