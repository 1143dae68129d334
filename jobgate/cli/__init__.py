"""The command `jobgate`: one file per command, which reads its arguments, calls the library and prints.

What several commands share: `cluster`, `extras`, `report` and `settings`; `rotation` is part of `certs`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from jobgate import __version__
from jobgate.cli.extras import import_fault
from jobgate.packages import UnusablePackage

__all__ = ["main"]


class _CommandEntry(NamedTuple):
    """A command in the help.

    Attributes:
        target: where it is, as `module:function` below `jobgate.cli`. It is imported when the command is called: kinds
            and servers are slow to import.
        about: its line in the help, which fits into 80 columns.
        extras: the extras of jobgate that it needs.
    """

    target: str
    about: str
    extras: str = ""


#: All commands, by section of the help.
_SECTIONS = {
    "Commands for jobs, without a cluster": {
        "review": _CommandEntry("review:review", "Review jobs as the webhook would."),
        "explain": _CommandEntry("explain:explain", "Show the pods of jobs."),
        "render": _CommandEntry("render:render", "Print what the runner would create for jobs."),
        "convert": _CommandEntry("convert:convert", "Convert objects to another version."),
        "import": _CommandEntry("importing:import_group", "Import jobs of other systems."),
    },
    "Commands for a cluster": {
        "manifests": _CommandEntry("manifests:manifests", "Print all objects of an installation."),
        "doctor": _CommandEntry("doctor:doctor", "Diagnose an installation.", "all"),
        "why": _CommandEntry("why:why", "Report why a job waits.", "all"),
        "console": _CommandEntry("console:console", "Serve a page about reviews and jobs.", "all"),
        "audit": _CommandEntry("audit:audit_command", "Review the jobs that are stored in a cluster.", "cluster"),
        "fit": _CommandEntry("fit:fit", "Check installed CRDs against the kinds of jobs.", "cluster"),
        "migrate": _CommandEntry("migrate:migrate", "Rewrite stored objects in the storage version.", "cluster"),
        "certs": _CommandEntry(
            "certs:certs_group", "Issue and rotate the webhook's certificates.", "server,certs,cluster"
        ),
    },
    "Commands that run in a cluster": {
        "serve": _CommandEntry("serve:serve", "Run the webhook server.", "server"),
        "control": _CommandEntry("controllers:control", "Run the companion controller.", "server,cluster"),
        "run": _CommandEntry("controllers:run", "Run jobs without their operator.", "server,cluster"),
    },
    "Commands for kinds of your own": {
        "new": _CommandEntry("new:new_group", "Write a package with a kind or a plugin."),
        "dev": _CommandEntry("dev:dev", "Run the webhook on this machine for a cluster.", "all"),
        "kinds": _CommandEntry("kinds:kinds", "List the kinds and plugins that are installed."),
        "crdgen": _CommandEntry("crdgen:crdgen", "Generate, lint, compare and document CRDs."),
    },
}
_COMMANDS = {name: entry for section in _SECTIONS.values() for name, entry in section.items()}


#: Key of the path of the settings file in the state of a call.
_CONFIG = "jobgate.config"


class _Commands(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].target.split(":")
        command: click.Command = getattr(import_module(f"jobgate.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; an unknown one is reported with similar commands."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=list(_COMMANDS), ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section, commands in _SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name, entry.about) for name, entry in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command, and print each warning of a broken package once.

        Raises:
            click.ClickException: a package that the command needs is missing or overwritten.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UnusablePackage)
                warnings.showwarning = partial(_show, warnings.showwarning)
                return super().invoke(ctx)
        except click.BadParameter as error:
            if not _from_file(error):
                raise
            hint = f"{str(error.param and error.param.opts[0]).removeprefix('--')} in {ctx.meta[_CONFIG]}"
            raise click.BadParameter(error.message, error.ctx, param_hint=hint) from None
        except ImportError as error:
            entry = _COMMANDS.get(ctx.invoked_subcommand or "")
            if fault := import_fault(error, (entry and entry.extras) or "all"):
                raise fault from error
            raise


def _show(otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Print a warning of a broken package as one line."""
    from webhook.text import line

    if category is UnusablePackage:
        click.echo(f"warning: {line(str(message))}", err=True)
    else:
        otherwise(message, category, *place)


def _from_file(error: click.BadParameter) -> bool:
    """Return whether an invalid value is from the settings file."""
    if error.ctx is None or error.param is None or error.param.name is None:
        return False
    return error.ctx.get_parameter_source(error.param.name) is ParameterSource.DEFAULT_MAP


def _load(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Use the settings of a file as the defaults of every command."""
    from crdgen.reading import UnreadableManifest, read_value

    if path is None:
        return
    try:
        content = read_value(path.read_bytes(), str(path)) or {}
    except UnreadableManifest as error:
        raise click.BadParameter(str(error)) from None
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise click.BadParameter(f"{path} must contain a mapping of settings, for example `port: 9443`")
    root = context.command
    assert isinstance(root, click.Group)
    known = {name: _keys(root.get_command(context, name)) for name in root.list_commands(context)}
    every = sorted(set().union(*known.values()))
    if unknown := sorted(map(str, set(content) - set(every))):
        near = (get_close_matches(name, every, 1) for name in unknown)
        named = [
            f"{name} (did you mean {match[0]}?)" if match else name for name, match in zip(unknown, near, strict=True)
        ]
        raise click.BadParameter(f"{path} has unknown settings: {', '.join(named)}; known settings: {', '.join(every)}")
    context.meta[_CONFIG] = path
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


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog="To start, run: jobgate review FILE"
)
@click.version_option(__version__, prog_name="jobgate")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="JOBGATE_CONFIG",
    show_envvar=True,
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="YAML file with settings. Flags and environment variables take precedence.",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Admission webhook and CRD toolkit for distributed training jobs on Kubernetes.

    Checks DIJobs, MxJobs, TorchJobs and Jobs of Volcano when they are applied, before an operator creates pods.
    """
    if os.environ.get("NO_COLOR"):
        context.color = False
