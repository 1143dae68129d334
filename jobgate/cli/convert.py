"""`jobgate convert`: jobs of older shapes, written in the shape of today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from crdgen import to_yaml
from crdgen.cli.command import UsageError
from crdgen.cli.sources import objects
from crdgen.reading import Manifest
from jobgate.kinds import installed
from jobgate.offline.judge import Circumstances, judge
from webhook import Conversion, Registry


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--output-file", type=click.Path(dir_okay=False, path_type=Path), help="Where to write; else standard output."
)
@click.pass_context
def convert(context: click.Context, *, file: str, output_file: Path | None) -> None:
    """Write the jobs of FILE in the shape that their operator reads today.

    Above each job stands a comment for every decision. Objects that need no conversion are written as they are. What is
    converted is reviewed: where it would be denied, the command says for what, and writes nothing. FILE may be - for
    standard input, and is never changed unless it is named as the output. Exit status: 0 where something was converted,
    1 where there was nothing to do, 2 where the input is not usable.
    """
    try:
        manifests = objects(file)
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    kinds = installed()
    results = [(manifest, _conversion(manifest, kinds)) for manifest in manifests]
    faults = [fault for manifest, conversion in results if conversion for fault in _faults(manifest, conversion, kinds)]
    if faults:
        click.echo("\n".join(faults), err=True)
        context.exit(2)
    written = "---\n".join(_text(manifest, conversion) for manifest, conversion in results)
    if output_file is None:
        click.echo(written, nl=False)
    else:
        output_file.write_text(written, encoding="utf-8")
    done = sum(conversion is not None for _, conversion in results)
    click.echo(f"{done} of {len(results)} objects converted", err=True)
    context.exit(0 if done else 1)


def _conversion(manifest: Manifest, kinds: Registry) -> Conversion | None:
    for kind in kinds:
        conversion = kind.conversion(manifest.object) if kind.conversion is not None else None
        if conversion is not None:
            return conversion
    return None


def _faults(manifest: Manifest, conversion: Conversion, kinds: Registry) -> Iterator[str]:
    """Yield what a review refuses in a converted job: what it came from is not usable."""
    status = judge(conversion.job, Circumstances(kinds=kinds)).status
    if status is not None:
        job = f"the {conversion.job.get('kind')} that it would become"
        yield f"{manifest.file}:{manifest.line}: cannot be converted: {job} is denied"
        for cause in status["details"]["causes"]:
            yield f"  * {cause['field']}: {cause['message']}"


def _text(manifest: Manifest, conversion: Conversion | None) -> str:
    if conversion is None:
        return to_yaml(manifest.object)
    comments = "".join(f"# {_line(decision)}\n" for decision in conversion.decisions)
    return (
        f"# Converted from {manifest.object.get('apiVersion')}. What was decided:\n{comments}{to_yaml(conversion.job)}"
    )


def _line(decision: str) -> str:
    """Return a decision as one line of a comment: users' keys stand in it, and may hold anything."""
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in " ".join(decision.split()))
