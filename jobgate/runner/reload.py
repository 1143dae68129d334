"""The file of queues, read again when it changes: the kubelet updates a mounted ConfigMap within a minute."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jobgate.runner.queues import InvalidQueues, Queues, read_queues

#: Seconds between two looks at the file.
POLL_INTERVAL: Final = 5.0

_logger = logging.getLogger("jobgate")


class Reloader:
    """Reads the queues again. A file with faults is logged once, and the last queues stay."""

    def __init__(self, path: Path, use: Callable[[Queues], None]) -> None:
        """Take the file that the queues were read from, and who is given others."""
        self._path = path
        self._use = use
        self._content: bytes | None = b""

    async def run(self) -> None:
        """Look at the file every few seconds, until cancelled."""
        while True:
            content = await asyncio.to_thread(self._read)
            self.look(content)
            await asyncio.sleep(POLL_INTERVAL)

    def look(self, content: bytes | None) -> None:
        """Use the queues that the file has by now, where it has changed; None where it cannot be read."""
        if content == self._content:
            return
        self._content = content
        fields = {"file": str(self._path)}
        try:
            queues = _queues(content)
        except (InvalidQueues, UnicodeDecodeError) as error:
            _logger.error("invalid queues ignored", extra={"fields": {**fields, "reason": str(error)}})  # noqa: TRY400
            return
        self._use(queues)
        _logger.info("queues loaded", extra={"fields": fields})

    def _read(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except OSError:
            return None


def _queues(content: bytes | None) -> Queues:
    if content is None:
        raise InvalidQueues("the file cannot be read")
    return read_queues(content.decode())
