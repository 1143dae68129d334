"""`jobgate crdgen`: the same as `python -m crdgen`."""

from __future__ import annotations

import click

from crdgen.cli import main


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
    add_help_option=False,
    short_help="Generate, lint, compare and document CRDs.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def crdgen(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Generate, lint, compare and document CRDs: the same as `python -m crdgen`."""
    context.exit(main(arguments, program="jobgate crdgen"))
