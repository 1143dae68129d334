"""Settings: each is a long flag, a variable `JOBGATE_…` and a key of one file (`config.py`); the first given wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from jobgate.cli.kind_settings import KindFile, Unfit, kind_files
from jobgate.names import dns_label, dns_subdomain
from webhook import Settings

F = TypeVar("F", bound=Callable[..., Any])


def setting(flag: str, *names: str, **options: Any) -> Callable[[F], F]:
    """Return an option that is a setting: `--tls-cert` is also `JOBGATE_TLS_CERT`, and `tls-cert` in the file."""
    variable = "JOBGATE_" + flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **options)


def installation(command: F) -> F:
    """Add the settings that say what an installation is like; `settings` makes of them what a review asks for."""
    for option in (_KIND_SETTINGS, _FORGETFUL_WRITER, _OPERATOR_CAN):
        command = option(command)
    return command


def settings(
    operator_can: tuple[str, ...], forgetful_writer: tuple[str, ...] = (), kind_settings: tuple[KindFile, ...] = ()
) -> Settings:
    """Return the settings that a review asks for.

    Raises:
        click.BadParameter: a file of a kind's settings does not fit.
    """
    try:
        kinds = {file.plural: file.read() for file in kind_settings}
    except Unfit as error:
        raise click.BadParameter(str(error), param_hint="--kind-settings") from None
    return Settings(operator_can=frozenset(operator_can), forgetful_writers=frozenset(forgetful_writer), kinds=kinds)


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
