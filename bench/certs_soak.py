"""`python -m bench.certs_soak`: rotates certificates again and again while the API server admits jobs.

    python -m bench.certs_soak [--rotations N] [--soak SECONDS] [--race-every N] [--racers N] [--pause SECONDS]
        [--seed N]

On a real API server, with two `jobgate serve --tls-secret` behind one address. All the time jobs are admitted, new
handshakes are made and connections are kept open. In each rotation, processes are killed (SIGKILL) one after the other
until one succeeds. In every second rotation each process is killed at its first write, so that a process dies at every
write of the rotation; in the others the n-th process is killed at its n-th write. Half of them die after the response,
half before it. In every N-th rotation many processes rotate at the same time, and none is killed.

With `--race-every 1 --racers 1` nothing is killed and a rotation takes half a second: a thousand rotations show
whether memory grows.

Prints one line, a JSON object. Progress (every ten rotations) and faults go to standard error. The exit status is 1 if
there is a fault.
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
#: Limits in seconds: for a program to start on a busy machine, and for a process to complete a rotation.
START, WORK = 120.0, 120.0
#: Maximum number of processes in a rotation: it has about nine writes, and half of the kills may undo a write.
PROCESSES = 60
#: Maximum time between sending a request and the kill, in seconds: about the duration of a request.
IN_FLIGHT = 0.015
#: Rotations between two reports of progress.
REPORT_EVERY = 10
#: Seconds between two measurements of a server.
LOOK = 1.0
#: Measurements of the first seconds are discarded. The API server opens new connections with each bundle, and closes
#: unused ones after 90 s (Go's IdleConnTimeout). After that, about 300 are open, 20 KiB each, and no more.
WARM = 100.0

# Forked from a process that has imported everything, so that a killed process is replaced in a fraction of a second.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["bench.certs_callers", "jobgate.serving.rotation", "controlplane.webhook"])


@dataclass
class Doom:
    """Kills the process at its `writes`-th write: `seconds` after sending it, or after the response if None."""

    writes: int
    seconds: float | None

    async def around(self, write: Awaitable[None]) -> None:
        """Await a write, or kill the process."""
        self.writes -= 1
        if self.writes:
            await write
            return
        await asyncio.wait([asyncio.ensure_future(write)], timeout=self.seconds)
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class DoomedStore:
    """A store that may kill the process at a write."""

    store: Store
    doom: Doom

    async def read(self) -> StoredCertificates:
        """Read it."""
        return await self.store.read()

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        """Write it, or kill the process."""
        await self.doom.around(self.store.write(seen, changes))


@dataclass
class DoomedTargets:
    """Targets that may kill the process at a write."""

    targets: Targets
    doom: Doom

    async def read(self) -> Sequence[Target]:
        """Read them."""
        return await self.targets.read()

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Write one of them, or kill the process."""
        await self.doom.around(self.targets.write(seen, bundles))


def rotate(kubeconfig: Path, scope: RotationScope, beyond: int, soak: float, doom: Doom | None, log: Path) -> None:
    """Complete a rotation, or be killed; else exit with status 1. This is the main function of a process."""
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
    """Runs the rotations, one after the other, and collects the results."""

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
        """Run all rotations."""
        for number in range(1, self._command.rotations + 1):
            before, began = self.generation(), time.monotonic()
            if number % self._command.race_every == 0:
                self.races += 1
                await self._to_the_end([self._start(before, None) for _ in range(self._command.racers)])
            else:
                await self._killed(before, at_each=bool(number % 2))
            self.seconds.append(time.monotonic() - began)
            self._check(number, before)
            if number % REPORT_EVERY == 0:
                line = f"{number} of {self._command.rotations} rotations, {self.kills} killed, {len(self.wrong)} wrong"
                print(line, file=sys.stderr, flush=True)

    def generation(self) -> int:
        """Return the current generation of the certificate."""
        _, secret = self._api.get(f"{SECRETS}/{SECRET}")
        return int(base64.b64decode(secret["data"].get("generation", "MA==")))

    async def _killed(self, before: int, *, at_each: bool) -> None:
        for number in range(1, PROCESSES + 1):
            seconds = None if number % 2 else self._chance.uniform(0, IN_FLIGHT)
            process = self._start(before, Doom(1 if at_each else number, seconds))
            code = await ended(process)
            if code == 0:
                return
            if code != -signal.SIGKILL:
                raise RuntimeError(f"a rotation ends with {code}: {self._log_tail()}")
            self.kills += 1
        self.wrong.append(f"generation {before + 1}: no end after {PROCESSES} processes")
        await self._to_the_end([self._start(before, None)])

    async def _to_the_end(self, processes: Sequence[BaseProcess]) -> None:
        codes = [await ended(process) for process in processes]
        if any(codes):
            self.wrong.append(f"{len(codes)} rotations at once end with {codes}: {self._log_tail()}")

    def _start(self, beyond: int, doom: Doom | None) -> BaseProcess:
        arguments = (self._kubeconfig, self._scope, beyond, self._command.soak, doom, self._log)
        process = _processes.Process(target=rotate, args=arguments, daemon=True)
        process.start()
        self.processes += 1
        return process

    def _log_tail(self) -> str:
        return self._log.read_text(encoding="utf-8")[-1000:] if self._log.exists() else "nothing was logged"

    def _check(self, number: int, before: int) -> None:
        if (after := self.generation()) != before + 1:
            self.wrong.append(f"rotation {number}: from generation {before} to {after}")
        for path in CONFIGURATIONS:
            _, configuration = self._api.get(path)
            for entry in configuration["webhooks"]:
                bundle = base64.b64decode(entry["clientConfig"].get("caBundle", ""))
                trusted = [number_of(certificate) for certificate in read_certificates(bundle)]
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
        TimeoutError: it does not hold in time.
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
    """Measure the servers each second; discard the measurements of the first seconds."""
    warm = time.monotonic() + WARM
    while True:
        if warm and time.monotonic() > warm:
            warm = 0.0
            for server in servers:
                server.forget()
        for server in servers:
            server.measure(address.open[server.port])
        await asyncio.sleep(LOOK)


async def soak(plane: ControlPlane, command: argparse.Namespace, folder: Path) -> tuple[Mapping[str, Any], list[str]]:
    """Run the soak test, and return the figures and the faults."""
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
        # An ExternalName Service has no endpoints, so the addresses of the servers are given here.
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
        "connections": address.connections,
        "memory_mib": [[round(value, 1) for value in quarters(server.memory)] for server in servers],
        "descriptors": [list(quarters(server.descriptors)) for server in servers],
        "wrong": len(wrong),
    }
    return figures, wrong


@contextmanager
def terminable() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C, so that all processes are stopped."""
    # A shell starts background processes with SIGINT ignored.
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
    parser.add_argument("--seed", type=int, default=1, help="seed of all random choices")
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
    for fault in wrong:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
