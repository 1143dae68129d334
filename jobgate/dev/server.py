"""The server process of `jobgate dev`. All share one socket, so that no request waits for a new server to start."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from webhook.server.workers import VARIABLE
from webhook.text import line

#: Seconds for a server to be ready, and to end.
START, END = 60.0, 10.0
_COMMAND = (sys.executable, "-c", "from jobgate.cli import main; main()", "serve", "--print-reviews")


class Server:
    """A server process. It reads its standard input, so it ends with this process, whatever ends that."""

    def __init__(self, process: asyncio.subprocess.Process, show: Callable[[str], None]) -> None:
        """`show` gets each line that it prints."""
        self._process = process
        self._reading = asyncio.create_task(self._read(show))

    @classmethod
    async def start(
        cls, arguments: Sequence[str], admission: socket.socket, show: Callable[[str], None]
    ) -> Server | None:
        """Return a server that is ready; None if it does not start."""
        with socket.create_server(("127.0.0.1", 0)) as plain:
            numbers = (admission.fileno(), plain.fileno())
            process = await asyncio.create_subprocess_exec(
                *_COMMAND,
                *arguments,
                env={**os.environ, VARIABLE: ",".join(map(str, numbers))},
                pass_fds=numbers,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,  # not ended by Ctrl-C, but last
            )
            url = f"http://127.0.0.1:{plain.getsockname()[1]}/readyz"
        server = cls(process, show)
        with suppress(TimeoutError):
            async with asyncio.timeout(START):
                while not server.ended:
                    if await asyncio.to_thread(_answers, url):
                        return server
                    await asyncio.sleep(0.2)
        await server.stop()
        return None

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.returncode is not None

    async def stop(self) -> None:
        """End the process, after the requests that it has accepted."""
        with suppress(ProcessLookupError, TimeoutError):
            self._process.terminate()
            await asyncio.wait_for(self._process.wait(), END)
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._reading

    async def _read(self, show: Callable[[str], None]) -> None:
        assert self._process.stdout is not None
        while text := (await self._process.stdout.readline()).decode(errors="replace"):
            if shown := _shown(text.rstrip("\n")):
                show(shown)


def _shown(text: str) -> str:
    """Return a line of the server; of its log, conversions in short, and warnings and errors as they are."""
    if '"level":"info"' not in text:
        return text
    try:
        call = json.loads(text)
    except ValueError:  # a review that quotes a log, or a part of a line
        return text
    if not isinstance(call, dict) or call.get("path") != "/convert" or "objects" not in call:
        return ""
    what = f"convert to {call['apiVersion']}: {call['verdict']}"
    return line(f"{time.strftime('%H:%M:%S')} {what}  {call['milliseconds']:.1f} ms")


def _answers(url: str) -> bool:
    with suppress(OSError), urlopen(url, timeout=2) as answer:  # noqa: S310  # of this machine
        return bool(answer.status == 200)
    return False


def sources() -> list[Path]:
    """Return the folders of packages with kinds or plugins, which are not imported."""
    entries = (*entry_points(group="jobgate.kinds"), *entry_points(group="jobgate.plugins"))
    specs = (find_spec(name) for name in {entry.module.partition(".")[0] for entry in entries})
    return [Path(place) for spec in specs if spec for place in spec.submodule_search_locations or [spec.origin or ""]]


def changes(folders: Iterable[Path]) -> dict[Path, int]:
    """Return when each file was changed. `watchfiles` would be a native dependency for a look at a few files."""
    found: dict[Path, int] = {}
    for file in (file for folder in folders for file in (folder, *folder.rglob("*")) if file.suffix != ".pyc"):
        with suppress(OSError):  # editors remove files
            found |= {file: file.stat().st_mtime_ns} if file.is_file() else {}
    return found
