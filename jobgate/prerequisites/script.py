"""Puts the hooks of prerequisites around the command of a container, and replaces template variables in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from jobgate.prerequisites.models import SHELL
from jobgate.prerequisites.problem import ProblemReason

# The scripts run in any POSIX shell (dash, bash, busybox), and are constants: they contain no text of a user.
# Positional parameters are the number of hooks; event, policy, source, shell, text, folder and timeout of each hook;
# then the container's command. Variables have a prefix, so that they do not change variables of the container's
# environment.

#: Number of parameters of a hook.
FIELDS: Final = 7

#: Runs the hooks of one event, each in its own shell with errexit. Hooks run in the background and are waited for,
#: because a shell handles signals only between commands, and PID 1 without a trap ignores them. Hooks have no standard
#: input, which belongs to the command. All hooks of `taskFails` run, even if one fails.
_HOOKS: Final = r"""
jg_pid= jg_code=0 jg_attempt=
stop() {
  trap '' HUP INT QUIT TERM
  if [ -n "$jg_pid" ]; then kill -s TERM "$jg_pid" 2>/dev/null; wait "$jg_pid"; fi
  if [ -n "$jg_attempt" ]; then mv "$jg_attempt/beat" "$jg_attempt/over" 2>/dev/null; fi
  exit "$1"
}
stoppable() {
  trap "stop ${1:-129}" HUP; trap "stop ${1:-130}" INT; trap "stop ${1:-131}" QUIT; trap "stop ${1:-143}" TERM
}
hook() {
  echo "jobgate: $1: $3" >&2
  if [ -n "$6" ]; then
    fetch "$@"
  else
    "$4" -e -c "$5" "$3" </dev/null 3<&- &
    jg_pid=$!
    wait "$jg_pid"; jg_code=$?
    jg_pid=
  fi
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
    shift 7
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
shift "$((1 + 7 * $1))"
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
    shift "$((1 + 7 * $1))"
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

#: Runs a hook that fetches data into a folder of a volume, if no other pod has done so; it precedes the script if there
#: is such a hook. The data exist if the folder exists: it is filled under another name, and then renamed. Each attempt
#: has a numbered folder beside it. `mkdir` and the rename succeed for one pod only, on network file systems, too. A
#: killed pod cannot release a lock, so the pod of an attempt writes a new count into `beat`, and the next attempt may
#: start if that file stays the same for two minutes. No clocks are compared. A pod that only seemed to be dead does no
#: harm: it writes into the folder of its own attempt, and that is renamed before its files are removed. At the end of a
#: failed attempt, `beat` is renamed to `over`.
FETCH: Final = r"""
say() {
  echo "jobgate: $jg_event: $jg_source: $*" >&2
}
within() {
  cd "$1" && shift && exec "$@"
}
beating() {
  "$@" </dev/null 3<&- &
  jg_pid=$!
  while kill -0 "$jg_pid" 2>/dev/null; do
    sleep 1
    jg_time=$((jg_time + 1))
    echo "$jg_time $jg_host" 2>/dev/null >"$jg_attempt/beat"
    if [ "$jg_time" -eq "$jg_limit" ]; then say "stopped after $jg_limit seconds"; fi
    if [ "$jg_time" -ge "$jg_limit" ]; then kill -s TERM "$jg_pid" 2>/dev/null; fi
  done
  wait "$jg_pid"; jg_code=$?
  jg_pid=
  return "$jg_code"
}
attempt() {
  jg_attempt=$6.$jg_number jg_before=$6.$((jg_number - 1)) jg_name=${6##*/} jg_time=0
  echo "0 $jg_host" >"$jg_attempt/beat"
  if ! [ -d "$6" ]; then
    say "fetches the data into $6"
    if mv "$jg_before/$jg_name" "$jg_before/left" 2>/dev/null; then beating rm -rf "$jg_before/left"; fi
    mkdir -p "$jg_attempt/$jg_name/data" && beating within "$jg_attempt/$jg_name/data" "$4" -e -c "$5" "$3" && {
      beating sync
      echo "$3 by $jg_host" >"$jg_attempt/$jg_name/fetched" && mv "$jg_attempt/$jg_name" "${6%/*}/"
    }
    jg_code=$?
  fi
  if [ -d "$6" ]; then
    jg_code=0
    rm -rf "$6".[0-9]*
  else
    rm -rf "$jg_attempt/$jg_name"
    mv "$jg_attempt/beat" "$jg_attempt/over" 2>/dev/null
  fi
  jg_attempt=
}
fetch() {
  jg_source=$3 jg_limit=$7 jg_host=${HOSTNAME:-$(uname -n)}
  jg_number=0 jg_time=0 jg_quiet=0 jg_seen="0 another pod"
  until [ -d "$6" ]; do
    while [ -d "$6.$((jg_number + 1))" ]; do jg_number=$((jg_number + 1)) jg_quiet=0 jg_seen="0 another pod"; done
    jg_beat=
    { read -r jg_beat <"$6.$jg_number/beat"; } 2>/dev/null
    if [ -n "$jg_beat" ] && [ "$jg_beat" != "$jg_seen" ]; then jg_seen=$jg_beat jg_quiet=0; fi
    if [ "$jg_number" -eq 0 ] || [ -e "$6.$jg_number/over" ] || [ "$jg_quiet" -ge 120 ]; then
      if [ "$jg_quiet" -ge 120 ]; then say "no sign of life from ${jg_seen#* } for 120 seconds"; fi
      jg_number=$((jg_number + 1)) jg_quiet=0
      if jg_error=$(mkdir -p "${6%/*}" 2>&1 && mkdir "$6.$jg_number" 2>&1); then
        attempt "$@"
        if [ "$jg_code" -ne 0 ] && ! [ -d "$6.$((jg_number + 1))" ]; then return; fi
      elif ! [ -d "$6.$jg_number" ] && ! [ -d "$6" ]; then
        say "cannot fetch the data: $jg_error"
        jg_code=1
        return
      fi
    elif [ "$jg_time" -ge "$7" ]; then
      say "waited $7 seconds for ${jg_seen#* }, which still fetches the data"
      jg_code=1
      return
    else
      if [ "$((jg_time % 60))" -eq 0 ]; then
        say "waits for ${jg_seen#* }, which fetches the data ($jg_time of $7 seconds)"
      fi
      sleep 1
      jg_time=$((jg_time + 1)) jg_quiet=$((jg_quiet + 1))
    fi
  done
  say "the data are in $6"
  jg_code=0
}
"""

#: The folder with the data in the folder of a fetch.
DATA: Final = "data"

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
    means the wrapper's. With a `folder`, they fetch data into it, within `timeout` seconds, if no other pod does.
    """

    event: EventName
    commands: tuple[str, ...]
    policy: Literal["Fail", "Ignore"]
    source: str
    interpreter: str = ""
    folder: str = ""
    timeout: int = 0


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
    if any(hook.folder for hook in hooks):
        script = FETCH + script
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
    ours = [_verbatim(fetch + script) for fetch in ("", FETCH) for script in (PROLOGUE, SUPERVISOR)]
    if len(command) < 5 or command[1] != "-c" or command[2] not in ours or command[3] != _NAME:
        return command
    return command[5 + FIELDS * int(command[4]) :] if re.fullmatch("[0-9]{1,4}", command[4], re.ASCII) else command


def _parameters(hook: Hook, interpreter: str) -> Iterator[str]:
    text = "\n".join(hook.commands)
    if len(text.encode()) > HOOK_LIMIT:
        detail = f"the commands of {hook.source} at {hook.event} have more than {HOOK_LIMIT} bytes"
        raise ScriptError(ProblemReason.TOO_LARGE, detail)
    yield from (hook.event, hook.policy, hook.source, hook.interpreter or interpreter, text)
    yield from (hook.folder, str(hook.timeout))


def _verbatim(text: str) -> str:
    """Return a text escaped for the kubelet, which expands `$(NAME)` and replaces `$$` by `$`."""
    return text.replace("$", "$$")
