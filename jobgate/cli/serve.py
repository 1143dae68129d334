"""`jobgate serve`: the webhook server."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from jobgate.cli.limits import limits_of
from jobgate.cli.reload import Reloader
from jobgate.cli.settings import Told, installation, setting
from jobgate.names import dns_subdomain
from webhook import Kind


def _host(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and (fault := dns_subdomain(value)):
        raise click.BadParameter(fault)
    return value


#: What starts a worker.
_COMMAND = (sys.executable, "-c", "from jobgate.cli import main; main()")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@setting("--port", type=click.IntRange(0, 65535), default=9443, show_default=True, help="Admission, over TLS.")
@setting(
    "--tls-secret",
    metavar="[NAMESPACE/]NAME",
    help="The Secret of the certificate, watched through the API: a new one is served within a second.",
)
@setting("--tls-cert", type=_FILE, help="The certificate chain, PEM; read again when it changes, as is ca.crt beside.")
@setting("--tls-key", type=_FILE, help="Its private key, PEM.")
@setting(
    "--tls-name",
    callback=_host,
    metavar="NAME",
    help="By what name the API server calls: no certificate without it is served.  "
    "[default: jobgate-webhook.<namespace of the Secret>.svc; with files, any]",
)
@setting(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="/healthz, /readyz and /metrics, over plain HTTP.",
)
@setting("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="The address to listen on.")  # noqa: S104
@setting(
    "--drain-seconds",
    type=click.FloatRange(0, 300),
    default=0,
    show_default=True,
    help="How long to go on serving after SIGTERM, so that callers move elsewhere first.",
)
@setting(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that answer admission, one for each core. Each has connections, memory and caches of its own.",
)
@setting(
    "--cluster/--no-cluster",
    default=None,
    help="Look up what rules ask for, and the jobs that pods belong to.  [default: where credentials are at hand]",
)
@setting(
    "--traces/--no-traces",
    default=False,
    help="Record each request as a span, and send it by OTLP where the variables OTEL_EXPORTER_OTLP_… say.",
)
@setting(
    "--limit",
    multiple=True,
    metavar="NAME=VALUE",
    help="A bound of the server, in bytes, seconds or numbers, as review-time=1.5; may be given several times. "
    "docs/explanation/security.md lists them.",
)
@setting("--kubeconfig", type=_FILE, help="Credentials for the cluster, in the place of the pod's own.")
@installation
def serve(  # noqa: PLR0913 - one argument an option
    *,
    port: int,
    tls_secret: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_name: str | None,
    health_port: int,
    bind: str,
    drain_seconds: float,
    workers: int,
    cluster: bool | None,
    traces: bool,
    limit: tuple[str, ...],
    kubeconfig: Path | None,
    told: Told,
) -> None:
    """Run the webhook server, with or without a cluster, until SIGTERM or Ctrl-C."""
    from jobgate.cli import certificate, watching
    from webhook import server
    from webhook.server import log
    from webhook.server.metrics import Metrics
    from webhook.server.spans import OpenTelemetry
    from webhook.server.workers import inherited, stop_with_parent, supervise

    log.configure()
    metrics = Metrics()
    origin = certificate.origin(tls_secret, tls_cert, tls_key)
    certificates, source = certificate.opened(origin, metrics, tls_name, kubeconfig)
    sockets = inherited()

    async def parent() -> None:
        stop = asyncio.Event()
        with server.stopping_on_signals(stop):
            await supervise(workers, [*_COMMAND, *sys.argv[1:]], bind, port, health_port, stop=stop)

    if workers > 1 and sockets is None:
        with _listening(bind, port, health_port):
            asyncio.run(parent())
        return
    kinds = told.kinds
    _compile(kinds)
    limits, pages = limits_of(limit)
    known = watching.Cluster(
        kinds,
        told.settings,
        reached=watching.reached(wanted=cluster, kubeconfig=kubeconfig),
        kubeconfig=kubeconfig,
        metrics=metrics,
        pages=pages,
    )
    endpoint = server.Endpoint(
        kinds,
        told.settings,
        objects=known.cache,
        further=watching.routes(known),
        limits=limits,
        metrics=metrics,
    )
    known.serve(endpoint)
    endpoint.lacking = certificates.lacking
    if traces:
        endpoint.spans = OpenTelemetry.exporting()
    addresses = server.Addresses(bind=bind, port=port, health_port=health_port)

    async def run() -> None:
        _freeze()
        stop = asyncio.Event()
        async with AsyncExitStack() as stack:
            stack.enter_context(server.stopping_on_signals(stop))
            if sockets is not None:
                stop_with_parent(stop)
            await stack.enter_async_context(_beside(Reloader(endpoint, told.kind_files).run()))
            await stack.enter_async_context(_beside(known.run()))
            await stack.enter_async_context(_beside(source.run()))
            drain = server.Drain(delay=drain_seconds)
            await server.serve(endpoint, certificates.context, addresses, drain, stop=stop, sockets=sockets)

    with _listening(bind, port, health_port), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(run())


def _compile(kinds: Iterable[Kind]) -> None:
    """Compile the schemas now: the first request would wait for them, three times."""
    for kind in kinds:
        for judge in (kind.schema.check, kind.schema.fits, kind.schema.plain):
            judge({})


def _freeze() -> None:
    """Keep the garbage collector from what has been made until now, and from looking at every review."""
    gc.collect()
    gc.freeze()
    # Reviews make no cycles, but more containers than the collector lets pass by default: a tenth of their time.
    gc.set_threshold(10_000)


@contextmanager
def _listening(bind: str, port: int, health_port: int) -> Iterator[None]:
    """Say in plain words that an address cannot be listened on."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}, ports {port} and {health_port}: {error}") from None


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do work beside the server, and end it with it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop, a third faster over TLS, where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    loop: type[asyncio.AbstractEventLoop] = uvloop.Loop
    return loop
