"""Hooks in a container: its command with the hooks of prerequisites around it, and template variables in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from jobgate.prerequisites.models import SHELL
from jobgate.prerequisites.wrapper import FIELDS, PROLOGUE, SUPERVISOR

Json: TypeAlias = Any
Event: TypeAlias = Literal["taskStarts", "taskSucceeds", "taskFails"]

#: Longest text of a hook, in bytes: Linux takes no argument of 131,072 bytes or more.
HOOK_LIMIT: Final = 100_000

#: The name of the wrapper: `$0` of its script, in messages of the shell.
_NAME: Final = "jobgate"

#: A placeholder: two braces around a name. Anything else in braces is text, as `{{.Config}}` or `{{{ name }}}`.
PLACEHOLDER: Final = re.compile(r"(?<!\{)\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}(?!\})")


class ScriptError(ValueError):
    """Why hooks cannot run in a container.

    Attributes:
        reason: one word for machines.
    """

    reason = "Invalid"


class CommandRequired(ScriptError):
    """The container has no command of its own."""

    reason = "CommandRequired"


class TooLarge(ScriptError):
    """A hook is longer than a container's command may be."""

    reason = "TooLarge"


@dataclass(frozen=True)
class Hook:
    """What one prerequisite runs at one event, in a process of its own.

    Attributes:
        event: when it runs.
        commands: after substitution of template variables; each a shell line.
        policy: whether its failure is the task's.
        source: the prerequisite, as `ClusterPrerequisite/name`, for messages.
        interpreter: the shell of its commands; that of the wrapper where it is empty.
    """

    event: Event
    commands: tuple[str, ...]
    policy: Literal["Fail", "Ignore"]
    source: str
    interpreter: str = ""


def wrapped(container: Mapping[str, Json], hooks: Sequence[Hook], interpreter: str = SHELL) -> Mapping[str, Json]:
    """Return a container's `command` and `args` with hooks around them.

    Hooks that are around them already are replaced: a pod that was exported and is created again has those of today.

    Args:
        container: of a pod; nothing but its command and arguments is read.
        hooks: of one event in the order in which they run.
        interpreter: the shell that runs the wrapper.

    Raises:
        CommandRequired: the container has no command.
        TooLarge: a hook is too long.
    """
    found = {key: container[key] for key in ("command", "args") if container.get(key)}
    if not hooks:
        return found
    command = _original(found.get("command", ()))
    if not command:
        raise CommandRequired(
            "hooks run around a command, and the container has none: what its image would run cannot be seen here; "
            "write the image's ENTRYPOINT as command, and its CMD as args"
        )
    parameters = [text for hook in hooks for text in _parameters(hook, interpreter)]
    script = PROLOGUE if all(hook.event == "taskStarts" for hook in hooks) else SUPERVISOR
    ours = [interpreter, "-c", script, _NAME, str(len(hooks)), *parameters]
    return found | {"command": [*map(_verbatim, ours), *command]}


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of its template variables, which are not searched for placeholders again.

    A name without a value stays as it is.
    """
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


def rendered_size(text: str, values: Mapping[str, str]) -> int:
    """Return how many bytes a text will have with the values of its template variables, without making it."""
    more = (
        len(values[name].encode()) - len(found[0])
        for found in PLACEHOLDER.finditer(text)
        if (name := found[1]) in values
    )
    return len(text.encode()) + sum(more)


def _original(command: Sequence[str]) -> Sequence[str]:
    """Return a command without the hooks around it: whatever else it is, the script must be ours to the letter."""
    ours = (_verbatim(PROLOGUE), _verbatim(SUPERVISOR))
    if len(command) < 5 or command[1] != "-c" or command[2] not in ours or command[3] != _NAME:
        return command
    return command[5 + FIELDS * int(command[4]) :] if re.fullmatch("[0-9]{1,4}", command[4], re.ASCII) else command


def _parameters(hook: Hook, interpreter: str) -> Iterator[str]:
    text = "\n".join(hook.commands)
    if len(text.encode()) > HOOK_LIMIT:
        raise TooLarge(f"the commands of {hook.source} at {hook.event} have more than {HOOK_LIMIT} bytes")
    yield from (hook.event, hook.policy, hook.source, hook.interpreter or interpreter, text)


def _verbatim(text: str) -> str:
    """Return a text that kubelet leaves as it is: it expands `$(NAME)`, and makes one `$` of two."""
    return text.replace("$", "$$")
