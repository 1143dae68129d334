"""Reading the settings of kinds again while the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, TypeAlias

from jobgate.cli.kind_settings import KindFile, Unfit
from webhook import Settings

#: How often the files are looked at, in seconds.
EVERY = 2.0

_logger = logging.getLogger("jobgate")
_Stamp: TypeAlias = tuple[int, int, int] | None


class HasSettings(Protocol):
    """What reviews with settings, and takes new ones between two reviews."""

    settings: Settings


class Reloader:
    """Gives a server the settings of kinds anew when their files change.

    A file that does not fit is told once, and the last good settings stay: a server must not fall over, or judge by
    nothing, because of a slip in a ConfigMap.
    """

    def __init__(self, server: HasSettings, files: Iterable[KindFile]) -> None:
        self._server = server
        self._files = tuple(files)
        self._stamps: dict[KindFile, _Stamp] = {}
        self._contents: dict[KindFile, bytes | None] = {}

    async def run(self) -> None:
        """Look at the files every few seconds, for ever."""
        while True:
            await asyncio.sleep(EVERY)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Read what has changed, and give it to the server."""
        for file in self._files:
            stamp = _stamp(file)
            if file in self._stamps and self._stamps[file] == stamp:
                continue
            # Stamped before it is read: what is written in between is seen the next time.
            self._stamps[file] = stamp
            self._read(file)

    def _read(self, file: KindFile) -> None:
        fields = {"kind": file.plural, "file": str(file.path)}
        content = None
        try:
            content = file.content()
            if self._seen(file, content):
                return
            settings = file.parse(content)
        except Unfit as error:
            if content is not None or not self._seen(file, None):
                _logger.error("settings kept", extra={"fields": {**fields, "reason": str(error)}})  # noqa: TRY400
            return
        current = self._server.settings
        if current.kinds.get(file.plural) != settings:
            self._server.settings = replace(current, kinds={**current.kinds, file.plural: settings})
            _logger.info("settings read", extra={"fields": fields})

    def _seen(self, file: KindFile, content: bytes | None) -> bool:
        """Tell whether the file held this when it was last read, and note that it does."""
        seen = file in self._contents and self._contents[file] == content
        self._contents[file] = content
        return seen


def _stamp(file: KindFile) -> _Stamp:
    """Return what changes with the file, at the end of all links: a ConfigMap is mounted behind one that is swapped."""
    try:
        found = file.path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
