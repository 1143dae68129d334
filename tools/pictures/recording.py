"""Records commands in a real terminal on a real API server, as an animated SVG.

pyte is the terminal. The SVG has no script, so it also moves where a page shows it as an image. Of the tools that write
such SVGs, termtosvg and svg-term-cli are no longer maintained; agg writes GIFs, which do not stay sharp.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

import pyte

from controlplane.assets import find_or_build_whole
from controlplane.controller import controller
from controlplane.progress import Terminal
from controlplane.runner import RUN, runner
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, environment
from controlplane.whole import WholeControlPlane
from tools.pictures import ROOT

#: What is typed, and the seconds to read the answer. An empty command clears the screen.
SCRIPT: Final[Sequence[tuple[str, float]]] = (
    ("# A broken job is denied, with every fault at once:", 0.2),
    ("kubectl apply -f examples/dijob/broken/four-faults.yaml", 6.5),
    ("", 0.0),
    ("# A job without faults is stored, and runs:", 0.2),
    ("kubectl apply -f examples/dijob/plugins.yaml", 0.8),
    ("kubectl get pods", 2.0),
    ("# Its pods know their place, and each other:", 0.2),
    ("kubectl set env pods -l jobgate.dev/index=2 --list | grep -E '^(VC_TASK|DI_[RLC])'", 5.0),
)
ROWS, COLUMNS = 20, 92
#: Seconds for a key, and until an answer is there: the recording does not show how fast the machine was.
KEY, ANSWER = 0.02, 0.3
_TIMEOUT: Final = 60.0
#: Prompt and command are bold; PS0 is printed before the command runs.
_SHELL: Final = {"PS1": r"\[\e[0;32m\]$\[\e[0;1m\] ", "PS0": r"\e[0m", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
#: Width and height of a character, size of the font, and margin, in pixels.
WIDTH, HEIGHT, FONT, MARGIN = 8.4, 20, 14, 18
_STYLE: Final = """\
text{fill:#d1d7e0;font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
.prompt{fill:#3fb950}.typed{fill:#fff;font-weight:600}.cursor{fill:#8b949e}
.at{visibility:hidden;animation:%.2fs step-end infinite}.last{visibility:visible}
@media(prefers-reduced-motion:reduce){.at{animation:none}}"""

#: A line as SVG elements, without its height.
Line: TypeAlias = tuple[str, ...]
#: When the screen changed, in seconds, and its lines.
Frame: TypeAlias = tuple[float, tuple[Line, ...]]


def record() -> str:
    """Run the script on a control plane with jobgate, and return the recording as SVG."""
    with ExitStack() as stack:
        plane = stack.enter_context(WholeControlPlane(find_or_build_whole(Terminal())))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(InstalledWebhook(plane, folder, RUN))
        stack.enter_context(controller(plane, folder, RUN))
        stack.enter_context(runner(plane, folder / "runner.log"))

        def before(command: str) -> None:
            if command == "kubectl get pods":
                wait_for(lambda: plane.kubectl("get", "pods").stdout.count("Running") == 4, _TIMEOUT, what="the pods")

        path = f"{plane.assets.kubectl.parent}:{os.environ['PATH']}"
        return drawn(played({**environment(), "KUBECONFIG": str(plane.kubeconfig), "PATH": path}, before))


def played(variables: Mapping[str, str], before: Callable[[str], None]) -> list[Frame]:
    """Type the script into a shell, and return what the terminal showed; the last frame is the end.

    `before` is called with each command, before it is typed.
    """
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (ROWS, COLUMNS))
    command = ["bash", "--norc", "--noprofile", "-i"]
    shell = subprocess.Popen(
        command, stdin=inner, stdout=inner, stderr=inner, cwd=ROOT, env={**variables, **_SHELL}, start_new_session=True
    )
    frames: list[Frame] = []
    now = 0.0

    def press(key: str, pause: float) -> None:
        """Press a key, wait until the terminal shows it, or the prompt, and add a frame."""
        nonlocal now
        os.write(terminal, key.encode())
        end, answered = time.monotonic() + _TIMEOUT, False
        while not answered or _more(terminal) or (key in "\n\f" and not _at_prompt(screen)):
            if time.monotonic() > end:
                raise TimeoutError("the terminal shows:\n" + "\n".join(screen.display))
            if _more(terminal):
                stream.feed(os.read(terminal, 65536))
                answered = True
        now += pause
        frames.append((now, tuple(tuple(_line(screen, row)) for row in range(ROWS))))

    try:
        press("\n", 0)
        for typed, pause in (("", 0.0), *SCRIPT):
            before(typed)
            for key in typed:
                press(key, KEY)
            press("\n" if typed else "\f", ANSWER)
            now += pause
    finally:
        shell.kill()
        shell.wait()
        os.close(inner)
        os.close(terminal)
    return [*frames[1:], (now, ())]


def _more(terminal: int) -> bool:
    return bool(select.select([terminal], [], [], 0.02)[0])


def _at_prompt(screen: pyte.Screen) -> bool:
    return screen.cursor.x == 2 and screen.display[screen.cursor.y].startswith("$")


def _line(screen: pyte.Screen, row: int) -> Iterator[str]:
    def kind(column: int) -> str:
        cell = screen.buffer[row][column]
        if (row, column) == (screen.cursor.y, screen.cursor.x):
            return "cursor"
        return "prompt" if cell.fg == "green" else "typed" if cell.bold else ""

    for classes, columns in groupby(range(COLUMNS), kind):
        first, *others = columns
        if classes == "cursor":
            yield f'<rect x="{MARGIN + first * WIDTH:.1f}" y="-12" width="{WIDTH}" height="16" class="cursor"/>'
        text = "".join(screen.buffer[row][column].data for column in (first, *others))
        # SVG shows several spaces as one: the words of a table are separate texts. Any font keeps the columns.
        for words in re.finditer(r"\S+( \S+)*", text):
            place = f'x="{MARGIN + (first + words.start()) * WIDTH:.1f}" textLength="{len(words[0]) * WIDTH:.1f}"'
            yield f'<text {place} lengthAdjust="spacingAndGlyphs" class="{classes}">{escape(words[0])}</text>'


def drawn(frames: Sequence[Frame]) -> str:
    """Return a recording as SVG: each line is there from when it was shown until it changed, again and again.

    Without animation (`prefers-reduced-motion`), it shows the end.
    """
    width, height, end = round(COLUMNS * WIDTH + 2 * MARGIN), ROWS * HEIGHT + 2 * MARGIN, frames[-1][0]
    rules, lines = set(), []
    for row in range(ROWS):
        periods = [(shown[row], since, until) for (since, shown), (until, _) in pairwise(frames)]
        for line, same in groupby(periods, itemgetter(0)):
            times = [time for _, *period in same for time in period]
            since, until = times[0], times[-1]
            name = f"t{since * 1000:.0f}-{until * 1000:.0f}"
            before = "0%{visibility:hidden}" if since else ""
            after = "" if until == end else f"{100 * until / end:.2f}%{{visibility:hidden}}"
            shows = f"{100 * since / end:.2f}%{{visibility:visible}}"
            rules.add(f"@keyframes {name}{{{before}{shows}{after}}}.{name}{{animation-name:{name}}}")
            kinds = f"at {name}" + (" last" if until == end else "")
            place = f"translate(0 {MARGIN + FONT + row * HEIGHT})"
            if line:
                lines.append(f'<g class="{kinds}" transform="{place}">{"".join(line)}</g>')
    body, style = "\n".join(lines), "\n".join([_STYLE % (FONT, end), *sorted(rules)])
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>A terminal in which a job is denied with four faults, and another is stored and runs</title>
<style>
{style}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
{body}
</svg>
"""
