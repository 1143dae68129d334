"""Settings: each is a long flag, a variable `JOBGATE_…` and a key of one file (`config.py`); the first given wins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import click

from jobgate.cli.kind_settings import KindFile, Unfit, kind_files
from jobgate.names import dns_label, dns_subdomain
from jobgate.plugins import Arguments, parse
from jobgate.plugins.queueing import Queueing, QueueingArguments
from webhook import Path, Settings
from webhook.context import DOMAIN

F = TypeVar("F", bound=Callable[..., Any])


def setting(flag: str, *names: str, **options: Any) -> Callable[[F], F]:
    """Return an option that is a setting: `--tls-cert` is also `JOBGATE_TLS_CERT`, and `tls-cert` in the file."""
    variable = "JOBGATE_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **options)


@dataclass(frozen=True, slots=True)
class Told:
    """What the installation says of itself.

    Attributes:
        settings: what a review, and whoever wires pods, asks for.
        kind_files: the files that the settings of kinds come from.
    """

    settings: Settings
    kind_files: tuple[KindFile, ...] = ()


def installation(command: F) -> F:
    """Add the settings that say what an installation is like; the command gets them as one argument, `told`."""

    @functools.wraps(command)
    def collected(
        *args: Any,
        operator_can: tuple[str, ...],
        forgetful_writer: tuple[str, ...],
        kind_settings: tuple[KindFile, ...],
        queueing: Mapping[str, Arguments],
        cluster_domain: str,
        **rest: Any,
    ) -> Any:
        try:
            kinds = {file.plural: file.read() for file in kind_settings}
        except Unfit as error:
            raise click.BadParameter(str(error), param_hint="--kind-settings") from None
        said = Settings(
            operator_can=frozenset(operator_can),
            forgetful_writers=frozenset(forgetful_writer),
            kinds=kinds,
            plugins=queueing,
            domain=cluster_domain,
        )
        return command(*args, told=Told(said, kind_settings), **rest)

    for option in (CLUSTER_DOMAIN, QUEUEING, _KIND_SETTINGS, _FORGETFUL_WRITER, _OPERATOR_CAN):
        collected = option(collected)
    return cast("F", collected)


def _queueing(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Mapping[str, Arguments]:
    """Read `SYSTEM` or `SYSTEM=SCHEDULER`.

    Raises:
        click.BadParameter: it is neither.
    """
    if value is None:
        return {}
    system, _, scheduler = value.partition("=")
    written = {"system": system, **({"scheduler": scheduler} if scheduler else {})}
    arguments, causes = parse(QueueingArguments, Queueing.name, written, Path("queueing"))
    if arguments is None:
        raise click.BadParameter("; ".join(cause.message for cause in causes))
    return {Queueing.name: arguments}


def checked_queueing(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Take what `--queueing` takes, as it is written.

    Raises:
        click.BadParameter: it is nothing of the kind.
    """
    _queueing(context, parameter, value or None)
    return value


def _domain(_: click.Context, __: click.Parameter, value: str) -> str:
    if fault := dns_subdomain(value):
        raise click.BadParameter(fault)
    return value


def _service_accounts(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Take the user names of service accounts only.

    Raises:
        click.BadParameter: somebody else is named: a person who removes a field means it, and would get it back.
    """
    for value in values:
        system, account, namespace, name = [*value.split(":"), "", "", ""][:4]
        exact = value.count(":") == 3 and (system, account) == ("system", "serviceaccount")
        if not exact or dns_label(namespace) or dns_subdomain(name):
            raise click.BadParameter(
                f"{value!r} must be one service account, as system:serviceaccount:<namespace>:<name>: what a forgetful "
                "writer removes is put back, and a person, or a whole group, may mean it"
            )
    return values


#: Where the pods of jobs are queued whose operator knows no queues.
QUEUEING = setting(
    "--queueing",
    metavar="SYSTEM[=SCHEDULER]",
    callback=_queueing,
    help="What queues the pods of jobs whose operator knows no queues and gangs: kueue, coscheduling or volcano; and "
    "the scheduler of their pods, where it has another name than usual.",
)
CLUSTER_DOMAIN = setting(
    "--cluster-domain",
    default=DOMAIN,
    show_default=True,
    callback=_domain,
    help="The domain of the cluster's Services.",
)
_OPERATOR_CAN = setting(
    "--operator-can",
    multiple=True,
    metavar="PLURAL/WORD",
    help="What an operator of this installation can do beyond its profile, as dijobs/preemptible.",
)
_FORGETFUL_WRITER = setting(
    "--forgetful-writer",
    multiple=True,
    metavar="SERVICE-ACCOUNT",
    callback=_service_accounts,
    help="A client whose full updates erase fields that it does not know: they are put back. "
    "As system:serviceaccount:<namespace>:<name>.",
)
_KIND_SETTINGS = setting(
    "--kind-settings",
    multiple=True,
    metavar="PLURAL.GROUP=FILE",
    callback=kind_files,
    help="A YAML file of what this installation says of one kind.",
)
