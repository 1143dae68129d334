"""Settings: each is a long flag, a variable `JOBGATE_…` and a key of one YAML file; the first one given wins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from jobgate.cli.kind_settings import KindFile, Unfit, kind_files
from jobgate.kinds.common.names import dns_label, dns_subdomain
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


def load(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take the settings of a file as the defaults of every command.

    Raises:
        click.BadParameter: the file is no mapping of known settings.
    """
    if path is None:
        return
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise click.BadParameter(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise click.BadParameter(f"{path} must hold a mapping of settings, as `port: 9443`")
    root = context.command
    assert isinstance(root, click.Group)
    known = {name: _keys(command) for name, command in root.commands.items()}
    if unknown := sorted(map(str, set(content) - set().union(*known.values()))):
        every = ", ".join(sorted(set().union(*known.values())))
        raise click.BadParameter(f"{path} has unknown settings: {', '.join(unknown)}; the settings are: {every}")
    context.default_map = {
        name: {keys[key]: value for key, value in content.items() if key in keys} for name, keys in known.items()
    }


def _keys(command: click.Command) -> dict[str, str]:
    """Return the settings of a command, by their name in the file: the parameter of each."""
    return {
        parameter.opts[0].removeprefix("--"): str(parameter.name)
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.envvar
    }
