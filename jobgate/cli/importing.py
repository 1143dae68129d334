"""`jobgate import`: imports jobs and prerequisites of other systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

import click

from crdgen import to_yaml
from crdgen.cli.sources import UsageError, content
from jobgate.cli.report import OUTPUT_FILE
from jobgate.importing import Imported, ImportedKind, InvalidDocument, imported
from webhook.text import line


@click.group("import")
def import_group() -> None:
    """Import jobs of other systems as Kubernetes objects."""


@import_group.command(short_help="Import OpenPAI jobs and marketplace items.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--to",
    "target",
    type=click.Choice([result.value for result in ImportedKind]),
    help="Kind to convert imported jobs to.",
)
@OUTPUT_FILE
@click.pass_context
def openpai(context: click.Context, *, files: tuple[str, ...], target: str | None, output_file: TextIO) -> None:
    """Import the OpenPAI jobs and marketplace items in FILEs as Prerequisites and jobs.

    A marketplace item becomes a ClusterPrerequisite, and what a job defines itself, Prerequisites. A job becomes a Job
    (batch/v1) if it has one task role, else a DIJob. Comments above the objects list what was changed and why. FILE may
    be - for standard input. Exit status: 0 if everything was imported; 2 if something cannot be imported, which is
    reported, and nothing is written.
    """
    results: list[Imported] = []
    faults: list[str] = []
    for file in files:
        try:
            results += imported(content(file).decode(), file, ImportedKind(target) if target else None)
        except (InvalidDocument, UsageError) as error:
            faults += str(error).splitlines()
        except UnicodeDecodeError as error:
            faults.append(f"{file}: {error}")
    faults += [f"{result.where}: {fault}" for result in results for fault in result.faults]
    if faults:
        click.echo("\n".join(line(fault) for fault in faults), err=True)
        context.exit(2)
    written = "---\n".join(_texts(results))
    output_file.write(written)
    objects = sum(len(result.objects) for result in results)
    click.echo(f"jobs and marketplace items: {len(results)}; objects written: {objects}", err=True)


def _texts(results: list[Imported]) -> Iterator[str]:
    """Yield the objects as YAML; the first of each job or item has a comment with its changes."""
    for result in results:
        report = "".join(f"# - {line(change)}\n" for change in result.changes)
        head = f"# Imported from {line(result.where)}{', with these changes:' if report else '.'}\n{report}"
        for place, manifest in enumerate(result.objects):
            yield to_yaml(manifest) if place else f"{head}{to_yaml(manifest)}"
