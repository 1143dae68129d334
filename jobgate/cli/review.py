"""`jobgate review`: review manifests without a cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click
import yaml

from crdgen.reading import Manifest
from jobgate.cli.report import finish, name_of, read_files, reading_warnings, text_report
from jobgate.cli.settings import CRDS, Configured, installation
from jobgate.configured.catalogue import Catalogued
from jobgate.jobs.runner import left_alone
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from jobgate.podchecks.pod_security.policy import Standard, standard
from webhook import Operation


def _standard(_: click.Context, __: click.Parameter, value: str | None) -> Standard | None:
    try:
        return None if value is None else standard(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--operation",
    type=click.Choice([Operation.CREATE, Operation.UPDATE], case_sensitive=False),
    help="Operation to review.  [default: CREATE; with --old, UPDATE]",
)
@click.option("--old", metavar="FILE", help="Stored objects before the update.")
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of objects that set none.")
@click.option(
    "--pod-security",
    metavar="LEVEL[:VERSION]",
    callback=_standard,
    help="Pod Security level that namespaces enforce, for example restricted or baseline:v1.34. Labels of a Namespace "
    "in FILEs take precedence.",
)
@click.option("--user", default="", help="Name of the user who applies the objects.")
@click.option("--output", "-o", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@CRDS
@installation
@click.pass_context
def review(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    *,
    files: tuple[str, ...],
    operation: str | None,
    old: str | None,
    namespace: str,
    pod_security: Standard | None,
    user: str,
    output: str,
    crds: dict[str, dict[str, Any]],
    configured: Configured,
) -> None:
    """Review the objects in FILEs as the webhook would, without a cluster: errors, warnings, changes.

    FILE may be a directory, whose YAML and JSON files are read, or - for standard input. Exit status: 0 if all objects
    are allowed, 1 if one is denied, 2 if the input is invalid or contains no object of a known kind.
    """
    if operation == Operation.UPDATE and old is None:
        raise click.UsageError("--operation UPDATE requires the stored objects: --old FILE")
    if operation == Operation.CREATE and old is not None:
        raise click.UsageError("--old requires --operation UPDATE")
    stored, broken = read_files((old,) if old else ())
    if broken:  # a verdict without some of the stored objects would mislead
        context.exit(2)
    manifests, broken = read_files(files)
    options = ReviewOptions(
        kinds=Catalogued(configured.kinds, crds),
        operation=Operation.UPDATE if old else Operation.CREATE,
        namespace=namespace,
        user=user,
        settings=configured.settings,
        stored=tuple(manifest.object for manifest in stored),
        objects=FileObjects([manifest.object for manifest in manifests], namespace, pod_security),
    )
    verdicts = [(manifest, _judged(manifest.object, options)) for manifest in manifests]
    _print(verdicts, output)
    finish(
        context,
        "reviewed: no object is of a known kind",
        broken=broken,
        done=any(verdict.reviewed for _, verdict in verdicts),
        denied=not all(verdict.allowed for _, verdict in verdicts),
    )


def _judged(document: dict[str, Any], options: ReviewOptions) -> Verdict:
    """Return the verdict on an object, with a warning if nothing would run it."""
    verdict = judge(document, options)
    kind = options.kinds.get(str(document.get("apiVersion")), str(document.get("kind")))
    settings = options.settings
    why = left_alone(kind, settings.runs, settings.operator_can) if kind is not None else ""
    return replace(verdict, warnings=(*verdict.warnings, why)) if why else verdict


def _print(verdicts: list[tuple[Manifest, Verdict]], output: str) -> None:
    if output == "text":
        click.echo("\n".join(line for entry in verdicts for line in text_report(*entry)), nl=bool(verdicts))
        return
    entries = [_entry(manifest, verdict) for manifest, verdict in verdicts]
    if output == "json":
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
    else:
        click.echo(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True), nl=False)


def _entry(manifest: Manifest, verdict: Verdict) -> dict[str, Any]:
    return {
        "file": manifest.file,
        "index": manifest.index,
        "apiVersion": manifest.object.get("apiVersion"),
        "kind": manifest.object.get("kind"),
        "name": name_of(manifest.object),
        "reviewed": verdict.reviewed,
        "allowed": verdict.allowed,
        "status": verdict.status,
        "warnings": [*reading_warnings(manifest), *verdict.warnings],
        "patch": verdict.patch,
        "object": verdict.document,
    }
