"""The command `jobgate`: one file per command, which reads its arguments, calls the library and prints."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from jobgate import __version__
from jobgate.cli.config import load
from jobgate.cli.extras import BrokenPackage, import_fault
from jobgate.packages import Unusable

__all__ = ["main"]

#: Commands and where they are. A file is imported when its command is called: kinds and servers are slow to import.
_COMMANDS = {
    "review": "jobgate.cli.review:review",
    "explain": "jobgate.cli.explain:explain",
    "convert": "jobgate.cli.convert:convert",
    "import": "jobgate.cli.importing:import_group",
    "audit": "jobgate.cli.audit:audit_command",
    "fit": "jobgate.cli.fit:fit",
    "serve": "jobgate.cli.serve:serve",
    "control": "jobgate.cli.control:control",
    "run": "jobgate.cli.run:run",
    "render": "jobgate.cli.render:render",
    "manifests": "jobgate.cli.manifests:manifests",
    "crdgen": "jobgate.cli.crdgen:crdgen",
    "certs": "jobgate.cli.certs:certs_group",
    "doctor": "jobgate.cli.doctor:doctor",
}
#: Extras that a command needs; a command that is not listed needs none.
_EXTRAS = {
    "audit": "cluster",
    "fit": "cluster",
    "serve": "server",
    "control": "server,cluster",
    "run": "server,cluster",
    "certs": "server,certs,cluster",
    "doctor": "all",
}


#: Sections of the help, with a line about each command that fits into 80 columns.
_SECTIONS = {
    "Commands for jobs, without a cluster": {
        "review": "Review jobs as the webhook would.",
        "explain": "Show the pods of jobs.",
        "render": "Print what the runner would create for jobs.",
        "convert": "Convert jobs to the version that their operator reads.",
        "import": "Import jobs of other systems.",
    },
    "Commands for a cluster": {
        "manifests": "Print all objects of an installation.",
        "doctor": "Diagnose an installation.",
        "audit": "Review the jobs that are stored in a cluster.",
        "fit": "Check installed CRDs against the kinds of jobs.",
        "certs": "Issue and rotate the webhook's certificates.",
    },
    "Commands that run in a cluster": {
        "serve": "Run the webhook server.",
        "control": "Run the companion controller.",
        "run": "Run jobs without their operator.",
    },
    "Commands for CRDs of your own": {
        "crdgen": "Generate, lint, compare and document CRDs.",
    },
}


class _Commands(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for section, commands in _SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command.

        Raises:
            click.ClickException: a package that the command needs is missing or overwritten, or an entry point of an
                installed package is broken.
        """
        try:
            return super().invoke(ctx)
        except ImportError as error:
            if fault := import_fault(error, _EXTRAS.get(ctx.invoked_subcommand or "", "all")):
                raise fault from error
            raise
        except Unusable as error:
            raise BrokenPackage(str(error)) from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="To start, run: jobgate review FILE",
)
@click.version_option(__version__, prog_name="jobgate")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="JOBGATE_CONFIG",
    show_envvar=True,
    is_eager=True,
    expose_value=False,
    callback=load,
    help="YAML file with settings. Flags and environment variables take precedence.",
)
def main() -> None:
    """Admission webhook and CRD toolkit for distributed training jobs on Kubernetes.

    Checks DIJobs, MxJobs, TorchJobs and Jobs of Volcano when they are applied, before an operator creates pods.
    """
