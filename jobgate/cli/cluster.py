"""Options that commands share, and how they reach a cluster."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from jobgate.names import dns_subdomain

if TYPE_CHECKING:
    from jobgate.cluster.client import Client

F = TypeVar("F", bound=Callable[..., Any])

_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_OUTSIDE: Final = "not running in a pod: set --kubeconfig FILE"


class Address(click.ParamType["tuple[str, int]"]):
    """A host and a port. An IPv6 address is written in brackets."""

    name = "HOST:PORT"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the host, without brackets, and the port."""
        host, _, port = str(value).rpartition(":")
        if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
            self.fail(f"{value!r} must be HOST:PORT, for example 10.0.0.1:9443 or [fd00::1]:9443", param, ctx)
        return host.strip("[]"), int(port)


ADDRESSES: Final = click.option(
    "--address",
    "addresses",
    multiple=True,
    type=Address(),
    metavar="HOST:PORT",
    help="Address of a server, used instead of the Service's endpoints; repeatable.",
)
KUBECONFIG: Final = click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="KUBECONFIG",
    help="Kubeconfig file to use instead of the pod's service account.",
)
OUTPUT: Final = click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)


def grouped(collect: Callable[..., Mapping[str, Any]], *options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Add options to a command. It receives the result of `collect`, which is called with their values."""
    names = signature(collect).parameters

    def add(command: F) -> F:
        @functools.wraps(command)
        def collected(*args: Any, **values: Any) -> Any:
            taken = {name: values.pop(name) for name in names if name in values}
            return command(*args, **collect(**taken), **values)

        wrapped: Any = collected
        for option in reversed(options):
            wrapped = option(wrapped)
        return cast("F", wrapped)

    return add


@contextmanager
def listening(where: str) -> Iterator[None]:
    """Report an address that cannot be listened on."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot listen on {where}: {error}") from None


class CannotRead(click.ClickException):
    """The cluster or a file cannot be read; exit status 2."""

    exit_code = 2


@asynccontextmanager
async def reached(kubeconfig: Path | None) -> AsyncIterator[Client]:
    """Connect to a cluster.

    Raises:
        ImportError: the client is not installed.
        CannotRead: the cluster cannot be reached.
    """
    from jobgate.cluster.client import Client  # takes seconds, and may be missing

    try:
        async with await Client.connect(kubeconfig) as client:
            yield client
    except (CannotRead, ImportError):
        raise
    except Exception as error:
        fault = f"the cluster cannot be reached: {type(error).__qualname__}: {error}"
        raise CannotRead(_OUTSIDE if _outside(kubeconfig) else fault) from error


async def connect(kubeconfig: Path | None) -> Client:
    """Return a client with the credentials of a kubeconfig, or of the pod's service account.

    Raises:
        click.ClickException: there are no credentials.
    """
    from jobgate.cluster.client import Client

    try:
        return await Client.connect(kubeconfig)
    except Exception as error:
        fault = f"no credentials for a cluster: {error}"
        raise click.ClickException(_OUTSIDE if _outside(kubeconfig) else fault) from error


def _outside(kubeconfig: Path | None) -> bool:
    """Return whether there are no credentials at all: neither a kubeconfig nor a pod's service account."""
    return kubeconfig is None and "KUBERNETES_SERVICE_HOST" not in os.environ


def own_namespace() -> str | None:
    """Return the namespace of the pod; None outside a pod."""
    try:
        return _NAMESPACE.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def require_dns_name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Require a DNS name, if a value is given."""
    if value is not None and (fault := dns_subdomain(value)):
        raise click.BadParameter(fault)
    return value
