"""Reloading the settings of kinds while the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from pydantic import BaseModel

from jobgate.serving.kind_settings import InvalidSettings, KindFile
from webhook import Settings

#: Seconds between two checks of the files.
POLL_INTERVAL = 2.0

_logger = logging.getLogger("jobgate")


class HasSettings(Protocol):
    """A server whose settings can be replaced between two reviews."""

    settings: Settings


class SettingsReloader:
    """Updates the settings of a server when their files change.

    An invalid file is logged once, and the last valid settings stay: a mistake in a ConfigMap must not stop a server.
    """

    def __init__(self, server: HasSettings, files: Iterable[KindFile]) -> None:
        self._server = server
        self._files = tuple(files)
        #: What was read last; None for a file that could not be read.
        self._contents: dict[KindFile, bytes | None] = {}

    async def run(self) -> None:
        """Check the files every few seconds, until cancelled."""
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Read the files, and update the server with those that changed."""
        for file in self._files:
            content = None
            try:
                content = file.content()
                if not self._is_new(file, content):
                    continue
                settings = file.parse(content)
            except InvalidSettings as error:
                if content is not None or self._is_new(file, None):
                    fields = {"kind": file.plural, "file": str(file.path), "reason": str(error)}
                    _logger.error("invalid settings ignored", extra={"fields": fields})  # noqa: TRY400
            else:
                self._update(file, settings)

    def _is_new(self, file: KindFile, content: bytes | None) -> bool:
        """Return whether the content differs from that of the last read, and remember it."""
        new = file not in self._contents or self._contents[file] != content
        self._contents[file] = content
        return new

    def _update(self, file: KindFile, settings: BaseModel) -> None:
        current = self._server.settings
        if current.kinds.get(file.plural) != settings:
            self._server.settings = replace(current, kinds={**current.kinds, file.plural: settings})
            _logger.info("settings reloaded", extra={"fields": {"kind": file.plural, "file": str(file.path)}})
