"""`jobgate dev`: the webhook on this machine, for the cluster of a kubeconfig."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from crdgen.reading import read_value
from jobgate.cli.cluster import connect, listening
from jobgate.cli.settings import label_selector
from jobgate.names import dns_label
from jobgate.ownership import SYSTEM_NAMESPACES

if TYPE_CHECKING:
    from jobgate.cluster.client import Client
    from jobgate.dev.registration import Registration
    from jobgate.dev.server import Server

#: Seconds between two looks for changes, and seconds in which the API server should have called.
_LOOK, _CALLED = 0.5, 15
_PROBE = "jobgate-dev-probe"


@click.command()
@click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="KUBECONFIG",
    default=lambda: Path.home() / ".kube" / "config",
    help="Kubeconfig file; its current context is used.  [default: ~/.kube/config]",
)
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Namespace to serve; repeatable.")
@click.option(
    "--namespace-selector", "selector", metavar="YAML", callback=label_selector, help="Or a selector of namespaces."
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="PLURAL.GROUP",
    help="Kind to serve; repeatable.  [default: the kinds of installed packages]",
)
@click.option("--host", help="Host by which the API server reaches this machine.  [default: known for local clusters]")
@click.option("--url", metavar="https://HOST[:PORT]", help="Address of a tunnel of yours, which ends at --port here.")
@click.option("--public-certificate", is_flag=True, help="API servers trust the certificate of the tunnel anyway.")
@click.option("--port", type=click.IntRange(1, 65535), default=9443, show_default=True, help="Port to listen on.")
@click.option("--name", help="Name of the installation.  [default: dev-USER]")
@click.option(
    "--fail-closed", is_flag=True, help="Deny objects while this server does not answer (failurePolicy Fail)."
)
@click.option("--crds/--no-crds", default=True, show_default=True, help="Create and update the CRDs of the kinds.")
@click.option("--clean", is_flag=True, help="Only remove what a killed session with this name has left.")
def dev(*, kubeconfig: Path, name: str | None, port: int, clean: bool, **choices: Any) -> None:
    """Run the webhook on this machine for a cluster: print each review, and reload changed packages.

    For the namespaces to serve, it is registered with the API server, and the CRDs of the kinds are applied. All of
    that is removed at the end, except CRDs that existed before or have objects.
    """
    name = name or "dev-" + re.sub("[^a-z0-9]+", "-", getpass.getuser().lower()).strip("-")[:40]
    if dns_label(name) or name == "jobgate":
        raise click.BadParameter(f"{name!r} must be a DNS label, for example dev-ada", param_hint="--name")
    if clean:
        _run(_clean(kubeconfig, name, crds=choices["crds"]))
        return
    namespaces, selector = choices["namespaces"], choices["selector"]
    if bad := {*namespaces} & {*SYSTEM_NAMESPACES}:
        raise click.BadParameter(f"{min(bad)} is a system namespace: none is served", param_hint="--namespace")
    if bool(namespaces) == bool(selector):
        raise click.UsageError("either --namespace NAME or --namespace-selector YAML is required")
    named = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces}
    url, bind = _address(kubeconfig, choices["host"], choices["url"], port)
    if choices["public_certificate"] and not choices["url"]:
        raise click.UsageError("--public-certificate requires --url")
    # Only the user may read the folder, which has the key of the certificate.
    with tempfile.TemporaryDirectory(prefix="jobgate-dev-") as folder:
        ca = _issue(Path(folder), urlsplit(url).hostname or "")
        fields = {
            "name": name,
            "namespace": name,  # only in labels: nothing is installed there
            "namespace_selector": selector or {"matchExpressions": [named]},
            "rotation": "none",
            "ca_bundle": "" if choices["public_certificate"] else ca,
            "failure_policy": "Fail" if choices["fail_closed"] else "Ignore",
            "timeout_seconds": 3,
        }
        flags = [
            f"--kubeconfig={kubeconfig}",
            f"--tls-cert={folder}/tls.crt",
            f"--tls-key={folder}/tls.key",
            "--drain-seconds=1",
        ]
        wanted = {"fields": fields, "chosen": choices["kinds"], "url": url}
        session = _Session(wanted, flags, (bind, port), crds=choices["crds"])
        _run(session.run(kubeconfig, name, next(iter(namespaces), "")))


def _address(kubeconfig: Path, host: str | None, url: str | None, port: int) -> tuple[str, str]:
    """Return the URL that the API server calls, and the address to listen on."""
    from jobgate.dev.host import docker_gateway, host_of, is_address

    if url:
        parts = urlsplit(url)
        if host or parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
            raise click.BadParameter(f"{url!r} must be https://HOST[:PORT], and without --host", param_hint="--url")
        return url.rstrip("/"), "127.0.0.1"
    try:
        host = host or host_of(read_value(kubeconfig.read_bytes(), str(kubeconfig)), docker_gateway)
    except KeyError as error:
        raise click.UsageError(f"{kubeconfig} has no current context with a cluster: {error} is missing") from None
    except LookupError as error:
        raise click.UsageError(f"{error}: give --host HOST, or --url https://HOST:PORT of a tunnel of yours") from None
    return f"https://{f'[{host}]' if ':' in host else host}:{port}", host if is_address(host) else "0.0.0.0"  # noqa: S104


def _issue(folder: Path, host: str) -> str:
    """Write a certificate for a host, and return its CA, whose key is discarded."""
    from certs import ServerNames, issue_generation
    from jobgate.dev.host import is_address

    names = ServerNames((), (ip_address(host),)) if is_address(host) else ServerNames((host,))
    generation = issue_generation(names, datetime.now(UTC))
    (folder / "tls.crt").write_bytes(generation.certificate)
    (folder / "tls.key").write_bytes(generation.key)
    return generation.ca_certificate.decode()


async def _clean(kubeconfig: Path, name: str, *, crds: bool) -> None:
    from jobgate.dev.registration import Registration

    async with await connect(kubeconfig) as client:
        registration = Registration(client, name, f"jobgate dev --clean, process {os.getpid()}", crds=crds)
        await registration.acquire()
        await _remove(registration, name)


async def _remove(registration: Registration, name: str) -> None:
    for left in await registration.remove():
        click.echo(left)
    click.echo(f"{name} is removed from the cluster")


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a session, and report why it ends."""
    from jobgate.cluster import ApiError
    from jobgate.dev.registration import Taken

    try:
        asyncio.run(work)
    except (ApiError, OSError, Taken, ValueError) as error:
        raise click.ClickException(f"{error}") from None


class _Session:
    """A session: the server, and what replaces it when a package changes."""

    def __init__(self, wanted: Mapping[str, Any], flags: list[str], listens: tuple[str, int], *, crds: bool) -> None:
        """`wanted` are the arguments of `render`, `flags` those of the server, which `listens`."""
        self._wanted, self._flags, self._listens, self._crds = wanted, flags, listens, crds
        self._admission: socket.socket | None = None
        self._server: Server | None = None
        self._called = asyncio.Event()
        self._foreign: list[str] = []

    async def run(self, kubeconfig: Path, name: str, namespace: str) -> None:
        """Serve until a signal, or until another session has the name."""
        from jobgate.dev.registration import Registration, missing_rights
        from jobgate.dev.server import changes, sources

        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        async with await connect(kubeconfig) as client:
            if missing := await missing_rights(client, crds=self._crds):
                raise ValueError(f"you lack rights in this cluster (for CRDs, see --no-crds): {', '.join(missing)}")
            holder = f"{getpass.getuser()} on {socket.gethostname()}, process {os.getpid()}"
            registration = Registration(client, name, holder, crds=self._crds)
            folders = sources()
            known = changes(folders)
            rendered = await self._render()
            if await registration.acquire():
                click.echo(f"{name} was killed: this session takes what it has left")
            try:
                with listening(f"{self._listens[0]}, port {self._listens[1]} (--port)"):
                    self._admission = socket.create_server(self._listens)
                    self._admission.setblocking(False)
                await self._replace(registration, rendered)
                click.echo(f"{name} serves {', '.join(rendered['kinds'])}: the API server calls {self._wanted['url']}")
                keeping = asyncio.create_task(registration.keep())
                keeping.add_done_callback(lambda _: stop.set())
                probing = asyncio.create_task(self._probe(client, rendered, namespace))
                await self._follow(registration, stop, folders, known)
                keeping.cancel()
                probing.cancel()
            finally:
                try:
                    await _remove(registration, name)
                finally:
                    if self._server is not None:
                        await self._server.stop()

    async def _render(self) -> dict[str, Any]:
        """Return what is registered.

        Raises:
            ValueError: the code of a package is broken, or a kind is unknown.
        """
        command = (sys.executable, "-W", "ignore", "-m", "jobgate.dev.render")
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
        output, errors = await process.communicate(json.dumps(self._wanted).encode())
        if process.returncode != 0:
            raise ValueError(errors.decode(errors="replace").strip())
        rendered: dict[str, Any] = json.loads(output)
        return rendered

    async def _replace(self, registration: Registration, rendered: Mapping[str, Any]) -> None:
        """Register what is rendered, and replace the server.

        Raises:
            ValueError: the new server does not start.
            ApiError: the API server rejects a CRD or a webhook.
        """
        from jobgate.dev.server import Server

        assert self._admission is not None
        foreign = await registration.apply(rendered)
        if foreign and foreign != self._foreign:
            click.echo(f"left as they are, because they are not of this session: CRDs {', '.join(foreign)}")
        self._foreign = foreign
        flags = [*self._flags, *(f"--without-kind={name}" for name in rendered["others"])]
        server = await Server.start(flags, self._admission, self._show)
        if server is None:
            raise ValueError("the server does not start")
        before, self._server = self._server, server
        if before is not None:
            await before.stop()

    def _show(self, line: str) -> None:
        if _PROBE in line:
            self._called.set()
        else:
            click.echo(line)

    async def _follow(
        self, registration: Registration, stop: asyncio.Event, folders: list[Path], known: dict[Path, int]
    ) -> None:
        """Replace the server whenever a package changes, or the server has ended; return when `stop` is set."""
        from jobgate.cluster import ApiError
        from jobgate.dev.server import changes

        seen, broken = known, False
        while not stop.is_set():
            await asyncio.sleep(_LOOK)
            before, seen = seen, changes(folders)
            ended = self._server is None or self._server.ended
            if seen != before or (seen == known and (broken or not ended)):
                continue  # files are still being written, or nothing has changed
            known = seen
            try:
                await self._replace(registration, await self._render())
                broken = False
                click.echo("reloaded")
            except (ApiError, OSError, ValueError) as error:
                broken = True
                click.secho(f"not reloaded, the server from before goes on: {error}", fg="red", err=True)

    async def _probe(self, client: Client, rendered: Mapping[str, Any], namespace: str) -> None:
        """Warn if the API server does not call the server: with the failure policy Ignore, nobody would notice."""
        from jobgate.cluster import ApiError, Resource

        crd = rendered["crds"][0]["spec"]
        version, kind = crd["versions"][0]["name"], crd["names"]["kind"]
        metadata = {"name": _PROBE, **({"namespace": namespace} if crd["scope"] == "Namespaced" else {})}
        probe = {"apiVersion": f"{crd['group']}/{version}", "kind": kind, "metadata": metadata, "spec": {}}
        for _ in range(_CALLED if namespace else 0):
            with suppress(ApiError, OSError):
                await client.create(Resource(crd["names"]["plural"], version, crd["group"]), probe, dry=True)
            if self._called.is_set():
                return
            await asyncio.sleep(1)
        problem = "has not called yet" if namespace else "may not reach this server: no --namespace to try it in"
        click.secho(f"warning: the API server {problem}; see --host and --url", fg="yellow", err=True)
