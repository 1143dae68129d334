"""The command of a container with hooks around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any


class CommandRequired(Exception):
    """A container has no command."""


@dataclass(frozen=True)
class Hook:
    """Commands at one event."""

    event: Literal["taskStarts", "taskSucceeds", "taskFails"]
    commands: tuple[str, ...]
    policy: Literal["Fail", "Ignore"]
    source: str


def wrapped(container: Mapping[str, Json], hooks: Sequence[Hook], interpreter: str) -> Mapping[str, Json]:
    """Return the container's `command` and `args` with the hooks around it."""
    if not container.get("command"):
        raise CommandRequired
    lines = "\n".join(f"# {hook.event} {hook.source}\n" + "\n".join(hook.commands) for hook in hooks)
    ours = [interpreter, "-c", lines.replace("$", "$$") + '\nexec "$$@"', "jobgate"]
    return {"command": [*ours, *container["command"]], "args": container.get("args") or []}


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Replace the template variables of a text, once."""
    return re.sub(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}", lambda found: values.get(found[1], found[0]), text)
