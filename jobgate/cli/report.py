"""A verdict as a person reads it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

import click
import yaml

from jobgate.cli.manifest import Manifest
from jobgate.cli.offline import Verdict

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def name_of(document: Mapping[str, Any]) -> str:
    """Return what an object is called: its name, or the prefix that one will be generated from."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return ""
    return str(metadata.get("name") or metadata.get("generateName") or "")


def reading_warnings(manifest: Manifest) -> Iterator[str]:
    """Yield what was peculiar about the text of an object."""
    for path in manifest.duplicates:
        yield f"{path}: written twice; kubectl takes the last and says nothing"
    if manifest.ignored is not None:
        yield f"line {manifest.ignored}: kubectl does not read from here on, and says nothing"


def text_report(manifest: Manifest, verdict: Verdict) -> str:
    """Return the report on one object, several lines."""
    return "\n".join(_lines(manifest, verdict))


def _lines(manifest: Manifest, verdict: Verdict) -> Iterator[str]:
    title = f"{manifest.file}:{manifest.line}: {manifest.object.get('kind')} {name_of(manifest.object)}"
    if not verdict.reviewed:
        word = click.style("not reviewed", fg="yellow")
    elif verdict.allowed:
        word = click.style("allowed", fg="green")
    else:
        word = click.style("denied", fg="red")
    yield f"{title}: {word}"
    if verdict.status is not None:
        for cause in verdict.status["details"]["causes"]:
            yield f"  * {cause['field']}: {cause['message']}" if cause["field"] else f"  * {cause['message']}"
    for warning in (*reading_warnings(manifest), *verdict.warnings):
        yield f"  {click.style('warning', fg='yellow')}: {warning}"
    if verdict.allowed and verdict.patch:
        yield "  would be stored with these changes:"
        yield from (f"    {line}" for line in _difference(manifest.object, verdict.document))


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    # The fields that are not the user's yet come last in JSON; in the user's order the difference reads best.
    old, new = (_yaml(one).splitlines() for one in (before, _in_order_of(after, before)))
    for line in list(difflib.unified_diff(old, new, lineterm="", n=2))[2:]:
        yield click.style(line, fg=_COLOURS.get(line[0]))


def _in_order_of(value: Any, pattern: Any) -> Any:
    if isinstance(value, Mapping):
        order = pattern if isinstance(pattern, Mapping) else {}
        keys = [*(key for key in order if key in value), *(key for key in value if key not in order)]
        return {key: _in_order_of(value[key], order.get(key)) for key in keys}
    if isinstance(value, list) and isinstance(pattern, list):
        return [_in_order_of(one, pattern[i] if i < len(pattern) else None) for i, one in enumerate(value)]
    return value


def _yaml(value: Any) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    return text
