"""Settings: each is a long flag, a variable `JOBGATE_…` and a key of one YAML file; the first one given wins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from webhook import Settings

F = TypeVar("F", bound=Callable[..., Any])


def setting(flag: str, *names: str, **options: Any) -> Callable[[F], F]:
    """Return an option that is a setting: `--tls-cert` is also `JOBGATE_TLS_CERT`, and `tls-cert` in the file."""
    variable = "JOBGATE_" + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, show_envvar=True, **options)


def operator_can(command: F) -> F:
    """Add the setting that says what the installed operators can do beyond their profiles."""
    return setting(
        "--operator-can",
        multiple=True,
        metavar="PLURAL/WORD",
        help="What an operator of this installation can do beyond its profile, as dijobs/preemptible.",
    )(command)


def settings(operator_can: tuple[str, ...]) -> Settings:
    """Return the settings that a review asks for."""
    return Settings(operator_can=frozenset(operator_can))


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
