"""`--limit NAME=VALUE`: bounds of the server that an installation wants otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from webhook.server.limits import Limits


def limits_of(written: Iterable[str]) -> Limits:
    """Return the limits of the server, with those that are written.

    Args:
        written: each `NAME=VALUE`, in bytes, seconds or a number of things, as `review-time=1.5`.

    Raises:
        click.BadParameter: there is no such limit, or its value is no number above 0, or no whole one where it must be.
    """
    from webhook.server.limits import Limits  # needs the extra `server`

    known = {field.name.replace("_", "-"): field for field in fields(Limits)}
    changed: dict[str, int | float] = {}
    for one in written:
        name, _, value = one.partition("=")
        if name not in known:
            raise click.BadParameter(f"'{name}' must be one of {', '.join(known)}", param_hint="--limit")
        whole = known[name].type == "int"
        try:
            number: int | float = int(value) if whole else float(value)
        except ValueError:
            number = 0
        if not number > 0 or not isfinite(number):
            sort = "a whole number" if whole else "a number"
            raise click.BadParameter(f"'{one}': {name} must be {sort} above 0", param_hint="--limit")
        changed[known[name].name] = number
    return Limits(**changed)  # type: ignore[arg-type]  # each has been read as its type
