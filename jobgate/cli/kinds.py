"""`jobgate kinds`: what is installed, and from where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from jobgate import __version__, plugins
from jobgate.cli.cluster import OUTPUT
from jobgate.cli.settings import more_kinds, setting
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.kinds import BUILT_IN, installed, of_packages
from jobgate.packages import Provided
from webhook.text import line

_HEADINGS = ("KIND", "API VERSION", "PACKAGE", "FROM")


class _Item(NamedTuple):
    """A kind or plugin."""

    name: str
    api_version: str
    package: str
    version: str
    source: str


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
    from_packages = of_packages()
    by_kind = {entry.value.gvk: entry for entry in from_packages if entry.value is not None}
    listed = [_kind(kind, by_kind.get(kind.gvk)) for kind in installed()]
    listed += [_Item(kind.kind, kind.gvk.api_version, "", "", source) for source, more in described for kind in more]
    extended = [*_plugins()]
    entries: list[Provided[Any]] = [*from_packages, *plugins.of_packages()]
    broken = [entry for entry in entries if entry.fault]
    if output == "json":
        document = {
            "kinds": [_document(item, "kind") for item in listed],
            "plugins": [_document(item, "plugin") for item in extended],
            "unusable": [
                {"group": entry.group, "name": entry.name, "package": entry.package, "version": entry.version}
                | {"entryPoint": entry.target, "fault": entry.fault}
                for entry in broken
            ],
        }
        click.echo(json.dumps(document, indent=2))
    else:
        _table([_HEADINGS, *map(_row, listed)])
        click.echo()
        _table([("PLUGIN", "", *_HEADINGS[2:]), *map(_row, extended)])
    context.exit(1 if broken else 0)


def _kind(kind: CustomKind, entry: Provided[CustomKind] | None) -> _Item:
    if entry is None:
        source = BUILT_IN[kind.gvk.api_version, kind.kind]
        return _Item(kind.kind, kind.gvk.api_version, "jobgate", __version__, source)
    return _Item(kind.kind, kind.gvk.api_version, entry.package, entry.version, entry.target)


def _plugins() -> Iterator[_Item]:
    by_name = {entry.value.name: entry for entry in plugins.of_packages() if entry.value is not None}
    for name, plugin in plugins.installed().items():
        if entry := by_name.get(name):
            yield _Item(name, "", entry.package, entry.version, entry.target)
        else:
            yield _Item(name, "", "jobgate", __version__, type(plugin).__module__)


def _document(item: _Item, what: str) -> dict[str, str]:
    written = {
        what: item.name,
        "apiVersion": item.api_version,
        "package": item.package,
        "version": item.version,
        "from": item.source,
    }
    return {key: value for key, value in written.items() if value}


def _row(item: _Item) -> tuple[str, str, str, str]:
    return item.name, item.api_version, f"{item.package} {item.version}".strip(), item.source


def _table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True) if width)
        click.echo(line("   ".join(cells).rstrip()))
