"""`jobgate kinds`: what is installed, and from where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from jobgate import __version__, plugins
from jobgate.cli.cluster import OUTPUT
from jobgate.cli.settings import more_kinds, setting
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.kinds import BUILT_IN, installed, of_packages
from jobgate.packages import Provided
from webhook.text import line


@click.command()
@OUTPUT
@setting(
    "--kinds",
    "described",
    multiple=True,
    metavar="FILE|PLURAL.GROUP",
    callback=lambda context, option, values: [(value, more_kinds(context, option, (value,))) for value in values],
    help="List also the kinds of this file or of this name in the catalogue; `catalogue` for all of it; repeatable.",
)
@click.pass_context
def kinds(context: click.Context, *, output: str, described: list[tuple[str, list[JobKind]]]) -> None:
    """List the kinds and plugins that are installed, with the package or the file that each is from.

    Exit status: 0, or 1 if an entry point of a package cannot be used.
    """
    entries: list[Provided[Any]] = [*map(_with_schema, of_packages()), *plugins.of_packages()]
    given = {id(entry.value): entry for entry in entries}
    listed = [
        {**_names(kind), **_origin(given.get(id(kind)), BUILT_IN.get((kind.gvk.api_version, kind.kind), ""))}
        for kind in installed()
    ]
    listed += [{**_names(kind), "from": source} for source, more in described for kind in more]
    offered = [
        {"plugin": name, **_origin(given.get(id(plugin)), type(plugin).__module__)}
        for name, plugin in plugins.installed().items()
    ]
    broken = [
        {"group": entry.group, "name": entry.name, **_origin(entry), "fault": entry.fault}
        for entry in entries
        if entry.fault
    ]
    if output == "json":
        click.echo(json.dumps({"kinds": listed, "plugins": offered, "unusable": broken}, indent=2))
    else:
        _print("KIND", listed)
        click.echo()
        _print("PLUGIN", offered)
    context.exit(1 if broken else 0)


def _with_schema(entry: Provided[CustomKind]) -> Provided[CustomKind]:
    """Return an entry point, as unusable if no schema can be generated from the models of its kind."""
    try:
        if entry.value is not None:
            entry.value.schema.check({})
    except Exception as error:  # noqa: BLE001 - models of a package may raise anything
        entry = entry.clashing(f"has no valid schema: {type(error).__name__}: {error}")
        click.echo(f"warning: {line(str(entry))}", err=True)
    return entry


def _names(kind: CustomKind) -> dict[str, str]:
    return {"kind": kind.kind, "apiVersion": kind.gvk.api_version}


def _origin(entry: Provided[Any] | None, ours: str = "") -> dict[str, str]:
    """Return the package of a kind or plugin: jobgate without an entry point."""
    package, version, source = (entry.package, entry.version, entry.target) if entry else ("jobgate", __version__, ours)
    return {"package": package, "version": version, "from": source}


def _print(what: str, items: Sequence[Mapping[str, str]]) -> None:
    rows = [(what, "API VERSION", "PACKAGE", "FROM")] if what == "KIND" else [(what, "", "PACKAGE", "FROM")]
    for item in items:
        package = f"{item.get('package', '')} {item.get('version', '')}".strip()
        rows.append((item[what.lower()], item.get("apiVersion", ""), package, item["from"]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True) if width)
        click.echo(line("   ".join(cells).rstrip()))
