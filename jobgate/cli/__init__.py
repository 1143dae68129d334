"""The command `jobgate`. One file a command; each reads its arguments, calls the library and prints."""

from __future__ import annotations

from pathlib import Path

import click

from jobgate import __version__
from jobgate.cli.certs import certs_group
from jobgate.cli.convert import convert
from jobgate.cli.manifests import manifests
from jobgate.cli.review import review
from jobgate.cli.serve import serve
from jobgate.cli.settings import load

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="jobgate")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="JOBGATE_CONFIG",
    show_envvar=True,
    is_eager=True,
    expose_value=False,
    callback=load,
    help="A YAML file of settings; flags and environment variables win over it.",
)
def main() -> None:
    """Admission webhook and CRD toolkit for distributed training jobs on Kubernetes."""


for _command in (review, convert, serve, manifests, certs_group):
    main.add_command(_command)
