"""The help of every command, as Markdown pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO

import click

from crdgen.cli import main as crdgen
from jobgate.cli import main as jobgate

#: Columns of a help text. argparse reads them from the environment.
_WIDTH = 100


def jobgate_page() -> str:
    """Return the page of `jobgate` and all its subcommands."""
    sections = (_section(name, text) for name, text in _helps(jobgate, "jobgate", None))
    return "\n\n".join(["# jobgate", *sections]) + "\n"


def crdgen_page() -> str:
    """Return the page of `python -m crdgen` and all its commands."""
    program = "python -m crdgen"
    overview = _crdgen_help(program)
    names = [line.split()[0] for line in overview.splitlines() if line.startswith("  ")]
    sections = (_section(f"{program} {name}", _crdgen_help(program, name)) for name in names)
    return "\n\n".join(["# crdgen", _block(overview), *sections]) + "\n"


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """Yield name and help of a command, then of its subcommands."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=_WIDTH, terminal_width=_WIDTH)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            subcommand = command.get_command(context, child)
            # `jobgate crdgen` passes its arguments on to crdgen, which has a page of its own.
            if subcommand is not None and child != "crdgen":
                yield from _helps(subcommand, child, context)


def _crdgen_help(program: str, *command: str) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(_WIDTH)
    try:
        with redirect_stdout(StringIO()) as out:
            crdgen([*command, "--help"], program=program)
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return out.getvalue()


def _section(name: str, text: str) -> str:
    return f"## {name}\n\n{_block(text)}"


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
