"""`jobgate serve`: the webhook server."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import fields
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jobgate.cli.cluster import listening, own_namespace, require_dns_name
from jobgate.cli.extras import not_installed
from jobgate.cli.settings import (
    BIND,
    CREDENTIALS,
    DENY,
    HEALTH_PORT,
    Configured,
    in_cluster,
    installation,
    log_lacking,
    setting,
)
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.schema import StructuralSchema
from jobgate.limits import KEPT, MIB, server_memory
from jobgate.serving.reload import settings_reloaders
from webhook import Registry

if TYPE_CHECKING:
    from jobgate.serving.certificate import SecretSource
    from jobgate.serving.cluster import ClusterView
    from jobgate.serving.metrics import ServingMetrics
    from webhook.server import Endpoint
    from webhook.server.certificates import Certificates
    from webhook.server.files import Poller
    from webhook.server.limits import Limits

_logger = logging.getLogger("jobgate")

#: The memory limit of this container, by cgroup v2.
_MEMORY = Path("/sys/fs/cgroup/memory.max")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@setting("--port", type=click.IntRange(0, 65535), default=9443, show_default=True, help="Port for admission, over TLS.")
@setting(
    "--tls-secret",
    metavar="[NAMESPACE/]NAME",
    help="Secret with the certificate. It is watched: a new certificate is served within a second.",
)
@setting(
    "--tls-cert", type=_FILE, help="Certificate chain, PEM. Reloaded when it changes, like ca.crt in its directory."
)
@setting("--tls-key", type=_FILE, help="Private key of the certificate, PEM.")
@setting(
    "--tls-name",
    callback=require_dns_name,
    metavar="NAME",
    help="Server name that API servers use. A certificate without it is rejected.  "
    "[default: jobgate-webhook.<namespace of the Secret>.svc; with files, any]",
)
@HEALTH_PORT
@BIND
@setting(
    "--drain-seconds",
    type=click.FloatRange(0, 300),
    default=0,
    show_default=True,
    help="Seconds to keep serving after SIGTERM, until endpoints are updated.",
)
@setting(
    "--cluster/--no-cluster",
    default=None,
    help="Look up objects and jobs in the cluster.  [default: if there are credentials]",
)
@setting(
    "--traces/--no-traces",
    default=False,
    help="Export a span for each request over OTLP, configured by the variables OTEL_EXPORTER_OTLP_….",
)
@setting(
    "--limit",
    multiple=True,
    metavar="NAME=VALUE",
    help="Limit of the server in bytes, seconds or items, for example review-time=1.5; repeatable. "
    "docs/explanation/security.md lists the limits.",
)
@setting(
    "--keep-reviews",
    type=click.IntRange(0, 10_000),
    default=0,
    show_default=True,
    metavar="N",
    help="Keep the last N reviews, without secret values, for `jobgate console`. Needs a cluster.",
)
@click.option("--print-reviews", is_flag=True, hidden=True, help="Print each review, for `jobgate dev`.")
@CREDENTIALS
@DENY
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
    cluster: bool | None,
    traces: bool,
    limit: tuple[str, ...],
    keep_reviews: int,
    print_reviews: bool,
    kubeconfig: Path | None,
    deny: tuple[str, ...],
    configured: Configured,
) -> None:
    """Run the webhook server, with or without a cluster, until SIGTERM or Ctrl-C."""
    from jobgate.serving import cluster as view
    from jobgate.serving.metrics import PRODUCT, ServingMetrics
    from webhook import server
    from webhook.server import log
    from webhook.server.listener import inherited, stop_with_parent
    from webhook.server.spans import OpenTelemetry

    limits, sockets = limits_of(limit), inherited()
    log.configure()
    metrics = ServingMetrics()
    certificates, source = _source(tls_secret, tls_cert, tls_key, tls_name, kubeconfig, metrics)
    warn_of_little_memory(limits, keep_reviews)
    kinds = _compiled(in_cluster(configured.kinds, deny))
    lacking = log_lacking(kinds)
    metrics.unusable.set(len(lacking))
    known = view.ClusterView(
        kinds,
        configured.settings,
        reached=_reached(wanted=cluster, kubeconfig=kubeconfig),
        kubeconfig=kubeconfig,
        metrics=metrics,
    )
    endpoint = server.Endpoint(
        kinds,
        configured.settings,
        product=PRODUCT,
        objects=known.cache,
        further=view.routes(known),
        limits=limits,
        metrics=metrics,
    )
    known.serve(endpoint)
    endpoint.lacking, endpoint.impaired = certificates.lacking, lacking
    if traces:
        endpoint.spans = OpenTelemetry.exporting(PRODUCT)
    if keep_reviews or print_reviews:
        _keep(endpoint, known, keep_reviews, printed=print_reviews)

    async def run() -> None:
        _freeze()
        stop = asyncio.Event()
        reloaders = settings_reloaders(endpoint, configured.kind_files)
        own = server.listen(bind, port, health_port) if sockets is None else nullcontext(sockets)
        with server.stopping_on_signals(stop), own as listened_on:
            if sockets is not None:
                stop_with_parent(stop)
            beside = [asyncio.create_task(service.run()) for service in (*reloaders, known, source)]
            try:
                await server.serve(endpoint, certificates.context, listened_on, stop=stop, delay=drain_seconds)
            finally:
                for task in beside:
                    task.cancel()
                await asyncio.wait(beside)

    with listening(f"{bind}, ports {port} and {health_port}"), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(run())


def limits_of(written: Iterable[str]) -> Limits:
    """Return the limits of the server, changed by texts of the form `review-time=1.5`."""
    from webhook.server.limits import Limits  # needs the extra `server`

    types = {field.name.replace("_", "-"): field.type for field in fields(Limits)}
    changed: dict[str, Any] = {}
    for entry in written:
        name, _, value = entry.partition("=")
        if name not in types:
            raise click.BadParameter(f"'{name}' must be one of {', '.join(types)}", param_hint="--limit")
        try:
            number: int | float = int(value) if types[name] == "int" else float(value)
        except ValueError:
            number = 0
        if not 0 < number < inf:
            sort = "a whole number" if types[name] == "int" else "a number"
            raise click.BadParameter(f"'{entry}': {name} must be {sort} above 0", param_hint="--limit")
        changed[name.replace("-", "_")] = number
    return Limits(**changed)


def warn_of_little_memory(limits: Limits, keep_reviews: int) -> None:
    """Warn if the container has less memory than the bounds allow the server to use."""
    try:
        memory = int(_MEMORY.read_text()) // MIB
    except (OSError, ValueError):  # not in a container, or without a limit: `max`
        return
    kept = KEPT if keep_reviews else 0
    needed = server_memory(kept, limits.body, limits.buffered, limits.small, limits.in_flight)
    if memory < needed:
        text = "the memory limit is %d MiB, but --limit and --keep-reviews need %d MiB: raise it or lower these"
        _logger.warning(text, memory, needed)


def _source(
    secret: str | None,
    cert: Path | None,
    key: Path | None,
    name: str | None,
    kubeconfig: Path | None,
    metrics: ServingMetrics,
) -> tuple[Certificates, SecretSource | Poller]:
    """Return the certificates to serve, and the task that keeps them up to date. Files are read once here."""
    from jobgate.serving.certificate import NAMESPACE, SecretName, SecretSource
    from webhook.server.candidate import BadCertificate, Fault
    from webhook.server.certificates import Certificates
    from webhook.server.files import Files, Poller

    if secret is not None and cert is None and key is None:
        _need_client()
        try:
            secret_name = SecretName.parse(secret, own_namespace() or NAMESPACE)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--tls-secret") from None
        certificates = Certificates(metrics, name or secret_name.server)
        return certificates, SecretSource(certificates, secret_name, kubeconfig, metrics)
    if secret is not None or cert is None or key is None:
        raise click.UsageError("either --tls-secret, or both --tls-cert and --tls-key, are required")
    certificates = Certificates(metrics, name or "")
    poller = Poller(certificates, Files(cert, key))
    try:
        poller.take()
    except BadCertificate as error:
        if error.fault not in {Fault.EXPIRED, Fault.EARLY}:  # time will not change others
            raise click.ClickException(f"{cert} and {key} cannot be served: {error}") from None
    return certificates, poller


def _need_client() -> None:
    if find_spec("kubernetes") is None:
        raise not_installed("kubernetes", "cluster")


def _reached(*, wanted: bool | None, kubeconfig: Path | None) -> bool:
    """Return whether a cluster is used; by default (`wanted` is None), if there are credentials."""
    if wanted is False:
        return False
    if wanted or kubeconfig is not None:
        _need_client()
        return True
    if "KUBERNETES_SERVICE_HOST" not in os.environ:
        return False
    if find_spec("kubernetes") is None:
        _logger.warning("cluster not watched", extra={"fields": {"reason": "jobgate[cluster] is not installed"}})
        return False
    return True


def _keep(endpoint: Endpoint[Any], known: ClusterView, most: int, *, printed: bool) -> None:
    """Keep the last reviews, or print each."""
    from jobgate.dev.reviews import PrintedReviews
    from jobgate.serving.readers import Readers
    from webhook.server.reviews import KeptReviews

    endpoint.reviews = PrintedReviews(100) if printed else KeptReviews(most)
    endpoint.may_read = Readers(lambda: known.client).may_read


def _compiled(kinds: Registry[CustomKind]) -> Registry[CustomKind]:
    """Compile schemas and models, so that the first requests need not wait; a kind that has none is not served."""
    whole: list[CustomKind] = []
    lacking = [*kinds.lacking]
    for kind in kinds:
        try:
            kind.spec.model_rebuild()
            if isinstance(kind.schema, StructuralSchema):
                kind.schema.compile()
            kind.schema.check({})
            whole.append(kind)
        except Exception as error:  # noqa: BLE001 - models of an installed package may raise anything
            lacking.append(f"{kind.qualified_plural} has no valid schema: {type(error).__name__}: {error}")
    return Registry(whole, lacking=lacking)


def _freeze() -> None:
    """Exclude all present objects from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    # Reviews make no cycles, but many containers: with the default threshold, collections take a tenth of their time.
    gc.set_threshold(10_000)


def _loop_factory() -> type[asyncio.AbstractEventLoop] | None:
    """Return uvloop's event loop if installed: a third faster over TLS."""
    try:
        import uvloop
    except ImportError:
        return None
    loop: type[asyncio.AbstractEventLoop] = uvloop.Loop
    return loop
