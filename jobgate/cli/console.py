"""`jobgate console`: serve one read-only page about an installation."""

from __future__ import annotations

import re
import secrets
import socket
from pathlib import Path

import click

from jobgate.cli.cluster import KUBECONFIG, connect, listening, require_dns_name
from jobgate.cli.settings import Configured, installation

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_DEFAULT = Path("~/.kube/config")


def _addresses(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    if wrong := next((value for value in values if not re.fullmatch(r"https?://[^/?#@\s]+/?", value)), None):
        raise click.BadParameter(f"{wrong!r} must be http://HOST:PORT")
    return tuple(value.rstrip("/") for value in values)


@click.command()
@KUBECONFIG
@click.option(
    "--in-cluster",
    is_flag=True,
    help="Serve many callers, each with a token and rights of their own. With --kubeconfig, its account is that of the "
    "console; without it, the pod's service account.",
)
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Show only jobs in this namespace; repeatable.")
@click.option("--name", default="jobgate", show_default=True, help="Name of the installation.")
@click.option("--install-namespace", help="Namespace of the installation.  [default: its name and -system]")
@click.option(
    "--server",
    "addresses",
    multiple=True,
    callback=_addresses,
    metavar="URL",
    help="Plain port of a server outside the cluster, for example http://127.0.0.1:8080; repeatable.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8007, show_default=True, help="Port of the page.")
@click.option("--bind", default="127.0.0.1", show_default=True, metavar="ADDR", help="Address to listen on.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    callback=lambda context, parameter, values: [require_dns_name(context, parameter, value) for value in values],
    metavar="NAME",
    help="Name under which browsers call the page, besides localhost; repeatable.",
)
@installation
def console(  # noqa: PLR0913 - one argument an option
    *,
    kubeconfig: Path | None,
    in_cluster: bool,
    namespaces: tuple[str, ...],
    name: str,
    install_namespace: str | None,
    addresses: tuple[str, ...],
    port: int,
    bind: str,
    hosts: list[str],
    configured: Configured,
) -> None:
    """Serve a read-only page: reviews as they happen, jobs, rules, health, and a place to try YAML.

    It listens on loopback, and prints its address with a token. What you may not list is not shown. Runs until Ctrl-C.
    """
    if not in_cluster and bind not in _LOOPBACK:
        raise click.BadParameter("must be a loopback address: the page has your rights", param_hint="--bind")
    if kubeconfig is None and not in_cluster and (default := _DEFAULT.expanduser()).is_file():
        kubeconfig = default
    if kubeconfig is None and not in_cluster:
        raise click.UsageError("set --kubeconfig FILE, or --in-cluster in a pod")
    token, namespace = "" if in_cluster else secrets.token_urlsafe(32), install_namespace or f"{name}-system"
    from aiohttp import web

    from webhook.server import log

    async def app() -> web.Application:
        from jobgate.console.app import LOOPBACK, Console
        from jobgate.console.commands import Trial
        from jobgate.console.jobs import Jobs

        client = await connect(kubeconfig)
        try:
            client.acting_as(token)
        except ValueError as error:
            if in_cluster:
                raise click.UsageError(f"--in-cluster needs an account with a token: {error}") from None
        trial, jobs = Trial(configured.kinds, configured.settings), Jobs(client, configured.kinds, namespaces)
        shown = Console(client, trial, jobs, token, LOOPBACK.union(hosts), name, namespace, addresses).app()
        host = f"[{bind}]" if ":" in bind else bind
        click.echo(f"http://{host}:{listener.getsockname()[1]}/{f'#token={token}' if token else ''}")
        return shown

    log.configure()
    with listening(f"{bind}, port {port}"):
        listener = socket.create_server((bind, port), family=socket.AF_INET6 if ":" in bind else socket.AF_INET)
    web.run_app(app(), sock=listener, print=None, access_log=None, shutdown_timeout=1.0)
