"""Options and calls of the commands that read a cluster."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from jobgate.cluster.client import Client

_NOT_FOUND = 404


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


class CannotRead(Exception):
    """What a command needs cannot be read, from the cluster or from files."""


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
        raise CannotRead(f"the cluster cannot be reached: {type(error).__qualname__}: {error}") from error


async def listed(client: Client, resource: str) -> list[dict[str, Any]] | None:
    """Return all objects of a resource, or None if it is not served.

    Raises:
        CannotRead: the API server denies the request.
    """
    from jobgate.cluster import ApiError, Resource

    try:
        return (await client.list(Resource.parse(resource)))[0]
    except ApiError as error:
        if error.code == _NOT_FOUND:
            return None
        raise CannotRead(f"{resource.rstrip('.')} cannot be listed: {error}") from error
