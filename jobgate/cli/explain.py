"""`jobgate explain`: shows the pods of a job, with the source of each part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from crdgen.reading import Manifest
from jobgate.cli.cluster import OUTPUT
from jobgate.cli.report import finish, name_of, read_files, title, warn
from jobgate.cli.settings import CONTEXT, CRDS, Configured, installation
from jobgate.configured.catalogue import Catalogued
from jobgate.offline.explanation import Explanation, Pods
from jobgate.offline.explanation import explain as explained
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions
from jobgate.offline.parts import Row
from webhook.text import line

#: Column of the sources, unless a line is longer.
_COLUMN: Final = 76
#: Longest line of a command or a value, in characters.
_LIMIT: Final = 240
#: Order of the fields of a pod.
_POD_FIELDS: Final = ("pod", "labels", "annotations")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of objects that set none.")
@OUTPUT
@CRDS
@CONTEXT
@installation
@click.pass_context
def explain(
    context: click.Context,
    *,
    files: tuple[str, ...],
    namespace: str,
    output: str,
    crds: dict[str, dict[str, Any]],
    known: tuple[str, ...],
    configured: Configured,
) -> None:
    """Show the pods of the jobs in FILEs, without a cluster.

    Shows command, variables, mounts and hosts of the first pod of each task, and the Services and other objects of the
    job, each with the plugin or prerequisite that it comes from. Prerequisites are looked up in FILEs. FILE may be a
    directory, whose YAML and JSON files are read, or - for standard input. Exit status: 0; 1 if a job would be denied;
    2 if the input is invalid or contains no job.
    """
    manifests, broken = read_files(files)
    warn(manifests)
    looked_up, missing = read_files(known)
    kinds = Catalogued(configured.kinds, crds)
    given, cluster = ([each.object for each in read] for read in (manifests, looked_up))
    objects = FileObjects(given, namespace, context=cluster, kinds=configured.kinds)
    options = ReviewOptions(kinds, namespace=namespace, settings=configured.settings, objects=objects)
    explanations = [
        (manifest, explanation)
        for manifest in manifests
        if (explanation := explained(manifest.object, options)) is not None
    ]
    if output == "json":
        click.echo(json.dumps([_entry(*entry) for entry in explanations], indent=2, ensure_ascii=False))
    else:
        for manifest, explanation in explanations:
            click.echo(f"{title(manifest)}{': denied' if explanation.denied else ''}")
            click.echo("\n".join(_report(explanation)))
    denied = any(explanation.denied for _, explanation in explanations)
    broken |= missing
    finish(context, "explained: the input contains no job", broken=broken, done=bool(explanations), denied=denied)


def _entry(manifest: Manifest, explanation: Explanation) -> dict[str, Any]:
    return {
        "file": manifest.file,
        "line": manifest.line,
        "kind": manifest.object.get("kind"),
        "name": name_of(manifest.object),
        **explanation.to_json(),
    }


def _report(explanation: Explanation) -> Iterator[str]:
    """Yield an explanation line by line."""
    for note in explanation.notes:
        yield f"  {'* ' if explanation.denied else 'note: '}{line(note)}"
    for pods in explanation.pods:
        yield from _pods(pods)
    if explanation.beside:
        yield "  beside the pods:"
        yield from _rows(explanation.beside, 4)


def _pods(pods: Pods) -> Iterator[str]:
    task = f"task {line(pods.task)}: " if pods.task else ""
    first = f"{line(pods.name)}, the first of {pods.count}" if pods.count != 1 else line(pods.name)
    yield f"  {task}pod {first}" if pods.count else f"  {task}no pods"
    for note in pods.notes:
        yield f"    note: {line(note)}"
    if pods.items:
        yield "    prerequisites, in the order in which they apply:"
        yield from (f"      {line(item)}" for item in pods.items)
    if pods.hosts:
        yield "    hosts:"
        yield from _rows(pods.hosts, 6)
    for field in _POD_FIELDS:
        if rows := pods.parts.get(("", field)):
            yield f"    {field}:"
            yield from _rows(rows, 6)
    container = ""
    for (name, field), rows in pods.parts.items():
        if name:
            if name != container:
                yield f"    {line(name)}:"
            container = name
            yield f"      {field}:"
            yield from _rows(rows, 8)


def _rows(rows: Sequence[Row], indent: int) -> Iterator[str]:
    for row in rows:
        first, *rest = row.text.splitlines() or [""]
        yield f"{' ' * indent + line(first, _LIMIT):<{_COLUMN}}  # {line(row.source)}"
        yield from (f"{' ' * (indent + 2)}{line(more, _LIMIT)}" for more in rest)
