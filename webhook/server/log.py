"""Logs: one JSON object a line, on standard error. No body, no value of an object, ever."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

import orjson

logger = logging.getLogger("jobgate")

#: How long a line may wait for others to be written with, in seconds.
BATCH_TIME = 0.05
#: Lines that wait at most, in bytes; with more they are written at once.
BATCH_SIZE = 64 * 1024


class JSONFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, message, and the fields given as `extra={"fields": …}`."""

    _second, _text = 0, ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, in ASCII."""
        line: dict[str, Any] = {
            "time": self._time(record.created),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        try:
            text = orjson.dumps(line, default=str).decode()
        except TypeError:  # half a surrogate pair, or an integer beyond 64 bits
            text = ""
        return text if text and text.isascii() else json.dumps(line, default=str)

    def _time(self, created: float) -> str:
        """Return a time with milliseconds, in UTC. The seconds are formatted once each."""
        second = int(created)
        if second != self._second:
            self._second, self._text = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._text}.{int((created - second) * 1000):03d}+00:00"


class BatchHandler(logging.StreamHandler[TextIO]):
    """Writes lines to a stream; within `batching`, several at a time. A warning or an error is written at once."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(JSONFormatter())
        self._lines: list[str] = []
        self._size = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def batching(self) -> Iterator[None]:
        """Write in batches while the running event loop does."""
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._loop = None
            self.flush()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or keep it until more have come."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001  # a line that fails must not fail what it tells of
            self.handleError(record)
            return
        self._lines.append(line)
        self._size += len(line)
        if self._loop is None or record.levelno >= logging.WARNING or self._size > BATCH_SIZE:
            self.flush()
        elif len(self._lines) == 1:
            self._loop.call_soon_threadsafe(self._loop.call_later, BATCH_TIME, self.flush)

    def flush(self) -> None:
        """Write what is kept."""
        with self.lock:  # type: ignore[union-attr]  # every handler has one
            lines, self._lines, self._size = self._lines, [], 0
            if lines:
                self.stream.write("\n".join(lines) + "\n")
            super().flush()


def info(message: str, fields: Mapping[str, Any]) -> None:
    """Log a line without looking for its caller, which takes longer than all the rest."""
    record = logging.LogRecord(logger.name, logging.INFO, "", 0, message, None, None)
    record.fields = fields
    logger.handle(record)


def origin(error: BaseException) -> dict[str, Any]:
    """Return the type of an error and the places that it passed, as fields of a line.

    Its message stays out: Python and pydantic quote the value that they could not take, and that may be a secret.
    """
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__, limit=-20)
    ]
    return {"error": type(error).__qualname__, "places": places}


@contextmanager
def batching() -> Iterator[None]:
    """Write the lines of the process in batches while the running event loop does, where `configure` has set it up."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, BatchHandler)]
    if not handlers:
        yield
        return
    with handlers[0].batching():
        yield


def configure(level: int = logging.INFO) -> None:
    """Send the logs of the process to standard error, a JSON line each."""
    # Not in a line, and looked up for each.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=level, handlers=[BatchHandler(sys.stderr)], force=True)
    # A port scan or a health probe on the TLS port must not fill the log.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
