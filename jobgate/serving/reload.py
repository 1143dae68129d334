"""Files that are read again while a server runs: the kubelet updates a mounted ConfigMap within a minute."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from jobgate.serving.kind_settings import KindFile
from webhook import Settings

#: Seconds between two checks of a file.
POLL_INTERVAL = 2.0

T = TypeVar("T")
_logger = logging.getLogger("jobgate")


class FileReloader(Generic[T]):
    """Reads a file again when it changes.

    Invalid content is logged once, and what was valid before stays in use: a mistake in a ConfigMap must not stop a
    server.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[[bytes], T],
        use: Callable[[T], None],
        what: str,
        current: T | None = None,
        **fields: str,
    ) -> None:
        """Watch a file.

        Args:
            path: the file.
            parse: returns what the content of the file says, and raises ValueError if it is invalid. Runs in a thread.
            use: called with what the file says, if it is not `current`.
            what: what the log calls it.
            current: what is in use.
            fields: fields of the log.
        """
        self._path = path
        self._parse = parse
        self._use = use
        self._what = what
        self._current = current
        self._fields = {**fields, "file": str(path)}
        self._content: bytes | None = b""

    async def run(self) -> None:
        """Check the file every few seconds, until cancelled."""
        while True:
            found = await asyncio.to_thread(self.read)
            if found is not None:
                self.take(found)
            await asyncio.sleep(POLL_INTERVAL)

    def read(self) -> T | None:
        """Return what the file says, or None if it has not changed or is invalid."""
        content, fault = None, ""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            fault = f"{self._path} cannot be read: {error.strerror or error}"
        if content == self._content:
            return None
        self._content = content
        if content is not None:
            try:
                return self._parse(content)
            except ValueError as error:
                fault = str(error)
        _logger.error("invalid %s ignored", self._what, extra={"fields": {**self._fields, "reason": fault}})
        return None

    def take(self, found: T) -> None:
        """Use what the file says, if it is new."""
        if found != self._current:
            self._current = found
            self._use(found)
            _logger.info("%s reloaded", self._what, extra={"fields": self._fields})


class HasSettings(Protocol):
    """A server whose settings can be replaced between two reviews."""

    settings: Settings


def settings_reloaders(server: HasSettings, files: Iterable[KindFile]) -> list[FileReloader[BaseModel]]:
    """Return what updates the settings of a server when the settings files of kinds change."""

    def use(plural: str, settings: BaseModel) -> None:
        server.settings = replace(server.settings, kinds={**server.settings.kinds, plural: settings})

    kinds = server.settings.kinds
    return [
        FileReloader(
            file.path, file.parse, partial(use, file.plural), "settings", kinds.get(file.plural), kind=file.plural
        )
        for file in files
    ]
