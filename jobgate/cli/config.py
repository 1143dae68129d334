"""The settings file, `--config`."""

from __future__ import annotations

from pathlib import Path

import click
import yaml


def load(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Use the settings of a file as the defaults of every command.

    Raises:
        click.BadParameter: the file is not a mapping of known settings.
    """
    if path is None:
        return
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise click.BadParameter(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise click.BadParameter(f"{path} must contain a mapping of settings, for example `port: 9443`")
    root = context.command
    assert isinstance(root, click.Group)
    known = {name: _keys(root.get_command(context, name)) for name in root.list_commands(context)}
    if unknown := sorted(map(str, set(content) - set().union(*known.values()))):
        every = ", ".join(sorted(set().union(*known.values())))
        raise click.BadParameter(f"{path} has unknown settings: {', '.join(unknown)}; known settings: {every}")
    context.default_map = {
        name: {keys[key]: value for key, value in content.items() if key in keys} for name, keys in known.items()
    }


def _keys(command: click.Command | None) -> dict[str, str]:
    """Return the parameter of each setting of a command, by its name in the file."""
    return {
        parameter.opts[0].removeprefix("--"): str(parameter.name)
        for parameter in (command.params if command else ())
        if isinstance(parameter, click.Option) and parameter.envvar
    }
