"""`jobgate crdgen`: the same as `python -m crdgen`."""

from __future__ import annotations

import click

from crdgen.cli import main


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
    add_help_option=False,
    short_help="CRDs of Pydantic models, and of anybody: made, checked, compared, documented.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def crdgen(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Make, check, compare and document CRDs: the same as `python -m crdgen`."""
    context.exit(main(arguments, program="jobgate crdgen"))
