"""`--limit NAME=VALUE`: bounds of the server that an installation changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING

import click

from jobgate.cluster import Pages

if TYPE_CHECKING:
    from webhook.server.limits import Limits


def limits_of(written: Iterable[str]) -> tuple[Limits, Pages]:
    """Return the limits of the server and of lists that it reads, with those that are written.

    Args:
        written: each `NAME=VALUE`, in bytes, seconds or a number of things, as `review-time=1.5`. Names of the limits
            of lists begin with `page-`.
    """
    from webhook.server.limits import Limits  # needs the extra `server`

    known = {
        prefix + field.name.replace("_", "-"): (bounds, field)
        for prefix, bounds in (("", Limits), ("page-", Pages))
        for field in fields(bounds)
    }
    changed: dict[type, dict[str, int | float]] = {Limits: {}, Pages: {}}
    for one in written:
        name, _, value = one.partition("=")
        if name not in known:
            raise click.BadParameter(f"'{name}' must be one of {', '.join(known)}", param_hint="--limit")
        bounds, field = known[name]
        whole = field.type == "int"
        try:
            number: int | float = int(value) if whole else float(value)
        except ValueError:
            number = 0
        if not number > 0 or not isfinite(number):
            sort = "a whole number" if whole else "a number"
            raise click.BadParameter(f"'{one}': {name} must be {sort} above 0", param_hint="--limit")
        changed[bounds][field.name] = number
    # Each has been read as its type.
    return Limits(**changed[Limits]), Pages(**changed[Pages])  # type: ignore[arg-type]
