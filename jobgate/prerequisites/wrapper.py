"""The shell scripts that run hooks around a container's own command. POSIX only: dash, bash and busybox run them.

Both are constants. The hooks and the container's command reach them as positional parameters, so that no text of a user
is part of a script: the number of hooks; of each its event, policy, source, shell and text; then the command.
Variables have a prefix: one that the container's environment has, too, would be changed for the command.
"""

from typing import Final

#: How many parameters a hook has.
FIELDS: Final = 5

#: Runs the hooks of one event, each in a shell of its own with errexit. It is waited for in the background: a shell
#: acts on a signal only between commands, and PID 1 without a trap is not stopped at all. A hook has no standard input,
#: which is the command's. All hooks of `taskFails` run, whatever becomes of them.
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

#: Where nothing runs after the command, it replaces the shell: signals, exit code and input are its own.
PROLOGUE: Final = (
    _HOOKS
    + r"""
hooks taskStarts "$@" || exit
shift "$((1 + 5 * $1))"
exec "$@"
"""
)

#: Else the shell stays, forwards signals, and waits until the command is really gone: a trap ends `wait`, too.
#: A command in the background ignores INT and QUIT, and its input would be /dev/null: it is stopped by TERM, and reads
#: from a copy of the shell's input. `exec` finds programs only, no functions of this script.
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
