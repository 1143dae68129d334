"""Puts the hooks of prerequisites around the command of a container, and replaces template variables in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from jobgate.prerequisites.models import SHELL
from jobgate.prerequisites.problem import ProblemReason

# The scripts run in any POSIX shell (dash, bash, busybox), and are constants: they contain no text of a user.
# Positional parameters are the number of hooks; event, policy, source, shell and text of each hook; then the
# container's command. Variables have a prefix, so that they do not change variables of the container's environment.

#: Number of parameters of a hook.
FIELDS: Final = 5

#: Runs the hooks of one event, each in its own shell with errexit. Hooks run in the background and are waited for,
#: because a shell handles signals only between commands, and PID 1 without a trap ignores them. Hooks have no standard
#: input, which belongs to the command. All hooks of `taskFails` run, even if one fails.
_HOOKS: Final = r"""
jg_pid= jg_code=0
stop() {
  trap '' HUP INT QUIT TERM
  if [ -n "$jg_pid" ]; then kill -s TERM "$jg_pid" 2>/dev/null; wait "$jg_pid"; fi
  exit "$1"
}
stoppable() {
  trap "stop ${1:-129}" HUP; trap "stop ${1:-130}" INT; trap "stop ${1:-131}" QUIT; trap "stop ${1:-143}" TERM
}
hook() {
  echo "jobgate: $1: $3" >&2
  "$4" -e -c "$5" "$3" </dev/null 3<&- &
  jg_pid=$!
  wait "$jg_pid"; jg_code=$?
  jg_pid=
  if [ "$jg_code" -ne 0 ]; then
    echo "jobgate: $1: $3: exit code $jg_code (failurePolicy: $2)" >&2
    [ "$2" = Ignore ] || [ "$1" = taskFails ]
  fi
}
hooks() {
  jg_event=$1 jg_left=$2
  shift 2
  while [ "$jg_left" -gt 0 ]; do
    if [ "$1" = "$jg_event" ]; then hook "$@" || return "$jg_code"; fi
    shift 5
    jg_left=$((jg_left - 1))
  done
}
stoppable
"""

#: If no hook runs after the command, the command replaces the shell, and handles signals, exit code and input itself.
PROLOGUE: Final = (
    _HOOKS
    + r"""
hooks taskStarts "$@" || exit
shift "$((1 + 5 * $1))"
exec "$@"
"""
)

#: Otherwise the shell stays, forwards signals, and waits until the command has ended: a trap also interrupts `wait`.
#: A command in the background ignores INT and QUIT, and its input would be /dev/null. So it is stopped with TERM, and
#: reads a copy of the shell's input. `exec` finds only programs, not functions of this script.
SUPERVISOR: Final = (
    _HOOKS
    + r"""
exec 3<&0
jg_child= jg_stopped= jg_signal= jg_woken=
forward() {
  jg_signal=$1 jg_woken=1
  if [ -n "$jg_child" ]; then kill -s "$1" "$jg_child" 2>/dev/null; fi
}
run() {
  for jg_name in HUP USR1 USR2; do trap "forward $jg_name" "$jg_name"; done
  for jg_name in INT QUIT TERM; do trap 'jg_stopped=1; forward TERM' "$jg_name"; done
  (
    shift "$((1 + 5 * $1))"
    exec "$@" <&3 3<&-
  ) &
  jg_child=$!
  if [ -n "$jg_signal" ]; then forward "$jg_signal"; fi
  wait "$jg_child"; jg_code=$?
  while [ -n "$jg_woken" ] && [ "$jg_code" -gt 128 ]; do
    jg_woken=
    wait "$jg_child" 2>/dev/null; jg_again=$?
    if [ "$jg_again" -ne 127 ]; then jg_code=$jg_again; fi
  done
  jg_child=
}
if hooks taskStarts "$@"; then
  run "$@"
  if [ "$jg_code" -eq 0 ]; then
    stoppable
    hooks taskSucceeds "$@"
    exit
  fi
fi
if [ -z "$jg_stopped" ]; then
  stoppable "$jg_code"
  jg_result=$jg_code
  hooks taskFails "$@"
  exit "$jg_result"
fi
exit "$jg_code"
"""
)

EventName: TypeAlias = Literal["taskStarts", "taskSucceeds", "taskFails"]

#: Maximum size of a hook's text, in bytes: Linux accepts no argument of 131,072 bytes or more.
HOOK_LIMIT: Final = 100_000

#: The name of the wrapper: `$0` of its script, for messages of the shell.
_NAME: Final = "jobgate"

#: A placeholder: two braces around a name. Other text in braces is not replaced, such as `{{.Config}}`, `{{{ name }}}`.
PLACEHOLDER: Final = re.compile(r"(?<!\{)\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}(?!\})")


class ScriptError(ValueError):
    """Hooks cannot run in a container."""

    def __init__(self, reason: ProblemReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Hook:
    """The commands of a prerequisite for an event, with values inserted; each is a shell line.

    `policy` says whether the task fails if they fail; `source` is `<kind>/<name>` for messages; an empty `interpreter`
    means the wrapper's.
    """

    event: EventName
    commands: tuple[str, ...]
    policy: Literal["Fail", "Ignore"]
    source: str
    interpreter: str = ""


def wrapped(container: Mapping[str, Any], hooks: Sequence[Hook], interpreter: str = SHELL) -> Mapping[str, Any]:
    """Return a container's `command` and `args` with hooks around them.

    Earlier hooks are replaced, so that an exported pod that is created again gets current hooks.

    Raises:
        ScriptError: the container has no command, or a hook is too long.
    """
    original = {key: container[key] for key in ("command", "args") if container.get(key)}
    if not hooks:
        return original
    command = _original(original.get("command", ()))
    if not command:
        raise ScriptError(
            ProblemReason.COMMAND_REQUIRED,
            "hooks run around a command, and the container has none: what its image would run cannot be seen here; "
            "write the image's ENTRYPOINT as command, and its CMD as args",
        )
    parameters = [text for hook in hooks for text in _parameters(hook, interpreter)]
    script = PROLOGUE if all(hook.event == "taskStarts" for hook in hooks) else SUPERVISOR
    ours = [interpreter, "-c", script, _NAME, str(len(hooks)), *parameters]
    return original | {"command": [*map(_verbatim, ours), *command]}


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of its template variables. Placeholders in values are not replaced.

    A placeholder without a value stays as it is.
    """
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def rendered_size(text: str, values: Mapping[str, str]) -> int:
    """Return the size of `substituted(text, values)` in bytes, without creating it."""
    growth = (
        len(values[name].encode()) - len(match[0])
        for match in PLACEHOLDER.finditer(text)
        if (name := match[1]) in values
    )
    return len(text.encode()) + sum(growth)


def _original(command: Sequence[str]) -> Sequence[str]:
    """Return a command without hooks around it. They are recognized only by exactly our own script."""
    ours = (_verbatim(PROLOGUE), _verbatim(SUPERVISOR))
    if len(command) < 5 or command[1] != "-c" or command[2] not in ours or command[3] != _NAME:
        return command
    return command[5 + FIELDS * int(command[4]) :] if re.fullmatch("[0-9]{1,4}", command[4], re.ASCII) else command


def _parameters(hook: Hook, interpreter: str) -> Iterator[str]:
    text = "\n".join(hook.commands)
    if len(text.encode()) > HOOK_LIMIT:
        detail = f"the commands of {hook.source} at {hook.event} have more than {HOOK_LIMIT} bytes"
        raise ScriptError(ProblemReason.TOO_LARGE, detail)
    yield from (hook.event, hook.policy, hook.source, hook.interpreter or interpreter, text)


def _verbatim(text: str) -> str:
    """Return a text escaped for the kubelet, which expands `$(NAME)` and replaces `$$` by `$`."""
    return text.replace("$", "$$")
