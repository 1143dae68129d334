"""Reloading the settings of kinds while the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, TypeAlias

from jobgate.serving.kind_settings import InvalidSettings, KindFile
from webhook import Settings

#: Seconds between two checks of the files.
POLL_INTERVAL = 2.0

_logger = logging.getLogger("jobgate")
_Stamp: TypeAlias = tuple[int, int, int] | None


class HasSettings(Protocol):
    """A server whose settings can be replaced between two reviews."""

    settings: Settings


class Reloader:
    """Updates the settings of a server when their files change.

    An invalid file is logged once, and the last valid settings stay: a mistake in a ConfigMap must not stop a server.
    """

    def __init__(self, server: HasSettings, files: Iterable[KindFile]) -> None:
        self._server = server
        self._files = tuple(files)
        self._stamps: dict[KindFile, _Stamp] = {}
        self._contents: dict[KindFile, bytes | None] = {}

    async def run(self) -> None:
        """Check the files every few seconds, until cancelled."""
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Read the files that changed, and update the server."""
        for file in self._files:
            stamp = _stamp(file)
            if file in self._stamps and self._stamps[file] == stamp:
                continue
            # The stamp is taken before reading: a write in between is seen at the next check.
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
        except InvalidSettings as error:
            if content is not None or not self._seen(file, None):
                _logger.error("invalid settings ignored", extra={"fields": {**fields, "reason": str(error)}})  # noqa: TRY400
            return
        current = self._server.settings
        if current.kinds.get(file.plural) != settings:
            self._server.settings = replace(current, kinds={**current.kinds, file.plural: settings})
            _logger.info("settings reloaded", extra={"fields": fields})

    def _seen(self, file: KindFile, content: bytes | None) -> bool:
        """Return whether the content is that of the last read, and remember it."""
        seen = file in self._contents and self._contents[file] == content
        self._contents[file] = content
        return seen


def _stamp(file: KindFile) -> _Stamp:
    """Return a stamp of the file behind all links: the kubelet updates a mounted ConfigMap by replacing a link."""
    try:
        found = file.path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
