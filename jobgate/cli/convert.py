"""`jobgate convert`: rewrite objects in another API version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import click

from crdgen import to_yaml
from crdgen.reading import Manifest
from jobgate.cli.report import OUTPUT_FILE, bullets, read_files, warn
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.offline.versions import served
from webhook import ConvertedObject, NotConvertible, Registry
from webhook.text import escaped


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--to", "version", default="", metavar="VERSION", help="The version; by default the reviewed one.")
@OUTPUT_FILE
@click.pass_context
def convert(context: click.Context, *, file: str, version: str, output_file: TextIO) -> None:
    """Convert the objects in FILE to another API version of their kind, as the webhook converts them.

    Objects of retired versions and shapes are rewritten, too; comments above each list the decisions made. Objects that
    need no conversion are written unchanged. Converted objects are reviewed: if one would be denied, the reasons are
    printed and nothing is written. FILE may be - for standard input, and is changed only if it is also the output file.
    Exit status: 0 if an object was converted, 1 if there was nothing to convert, 2 if the input is invalid.
    """
    manifests, broken = read_files([file])
    if broken:
        context.exit(2)
    warn(manifests)
    kinds = installed()
    results = [(manifest, _conversion(manifest.object, kinds, version)) for manifest in manifests]
    faults = [fault for manifest, conversion in results if conversion for fault in _faults(manifest, conversion, kinds)]
    if faults:
        click.echo("\n".join(faults), err=True)
        context.exit(2)
    written = "---\n".join(_text(manifest, conversion) for manifest, conversion in results)
    output_file.write(written)
    done = sum(conversion is not None for _, conversion in results)
    click.echo(f"{done} of {len(results)} objects converted", err=True)
    context.exit(0 if done else 1)


def _conversion(document: dict[str, Any], kinds: Registry[CustomKind], version: str) -> ConvertedObject | None:
    """Return an object in the wanted version; None if it needs no conversion."""
    for kind in kinds:
        rewritten = kind.older(document) if kind.older is not None else None
        if rewritten is not None:
            return rewritten
    of = served(document, kinds)
    wanted = version or (of.kind.version if of is not None else "")
    if of is None or not of.kind.versions or of.name == wanted:
        return None
    try:
        return ConvertedObject(of.kind.convert(document, wanted))
    except NotConvertible as error:
        return ConvertedObject({}, fault=str(error))


def _faults(manifest: Manifest, conversion: ConvertedObject, kinds: Registry[CustomKind]) -> Iterator[str]:
    """Yield the reasons why an object cannot be converted, or would be denied then."""
    if conversion.fault:
        yield f"{manifest.file}:{manifest.line}: cannot be converted: {conversion.fault}"
        return
    status = judge(conversion.document, ReviewOptions(kinds=kinds)).status
    if status is not None:
        result = f"the resulting {conversion.document.get('kind')}"
        yield f"{manifest.file}:{manifest.line}: cannot be converted: {result} would be denied"
        yield from bullets(status)


def _text(manifest: Manifest, conversion: ConvertedObject | None) -> str:
    if conversion is None:
        return to_yaml(manifest.object)
    comments = "".join(f"# {escaped(' '.join(decision.split()))}\n" for decision in conversion.decisions)
    decisions = f" Decisions:\n{comments}" if comments else "\n"
    return f"# Converted from {manifest.object.get('apiVersion')}.{decisions}{to_yaml(conversion.document)}"
