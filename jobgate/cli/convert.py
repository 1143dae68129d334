"""`jobgate convert`: rewrite jobs of retired API versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

import click

from crdgen import to_yaml
from crdgen.reading import Manifest
from jobgate.cli.report import OUTPUT_FILE, bullets, read_files, warn
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from webhook import ConvertedObject, Registry
from webhook.text import escaped


@click.command()
@click.argument("file", metavar="FILE")
@OUTPUT_FILE
@click.pass_context
def convert(context: click.Context, *, file: str, output_file: TextIO) -> None:
    """Convert the jobs in FILE to the API version that their operator reads today.

    Comments above each job list the decisions made. Objects that need no conversion are written unchanged. Converted
    jobs are reviewed: if one would be denied, the reasons are printed and nothing is written. FILE may be - for
    standard input, and is changed only if it is also the output file. Exit status: 0 if a job was converted, 1 if there
    was nothing to convert, 2 if the input is invalid.
    """
    manifests, broken = read_files([file])
    if broken:
        context.exit(2)
    warn(manifests)
    kinds = installed()
    results = [(manifest, _conversion(manifest, kinds)) for manifest in manifests]
    faults = [fault for manifest, conversion in results if conversion for fault in _faults(manifest, conversion, kinds)]
    if faults:
        click.echo("\n".join(faults), err=True)
        context.exit(2)
    written = "---\n".join(_text(manifest, conversion) for manifest, conversion in results)
    output_file.write(written)
    done = sum(conversion is not None for _, conversion in results)
    click.echo(f"{done} of {len(results)} objects converted", err=True)
    context.exit(0 if done else 1)


def _conversion(manifest: Manifest, kinds: Registry[JobKind]) -> ConvertedObject | None:
    for kind in kinds:
        conversion = kind.conversion(manifest.object) if kind.conversion is not None else None
        if conversion is not None:
            return conversion
    return None


def _faults(manifest: Manifest, conversion: ConvertedObject, kinds: Registry[JobKind]) -> Iterator[str]:
    """Yield the reasons why a job cannot be converted, or would be denied then."""
    if conversion.fault:
        yield f"{manifest.file}:{manifest.line}: cannot be converted: {conversion.fault}"
        return
    status = judge(conversion.document, ReviewOptions(kinds=kinds)).status
    if status is not None:
        job = f"the resulting {conversion.document.get('kind')}"
        yield f"{manifest.file}:{manifest.line}: cannot be converted: {job} would be denied"
        yield from bullets(status)


def _text(manifest: Manifest, conversion: ConvertedObject | None) -> str:
    if conversion is None:
        return to_yaml(manifest.object)
    comments = "".join(f"# {escaped(' '.join(decision.split()))}\n" for decision in conversion.decisions)
    return f"# Converted from {manifest.object.get('apiVersion')}. Decisions:\n{comments}{to_yaml(conversion.document)}"
