"""Logs: a JSON object per line, on standard error. Bodies and values of objects are never logged."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import Any, TextIO

import orjson

logger = logging.getLogger("webhook")

#: Seconds that a line may wait to be written together with others.
BATCH_TIME = 0.05
#: Most bytes of waiting lines. With more, they are written at once.
BATCH_SIZE = 64 * 1024


class JSONFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, message, and the fields given as `extra={"fields": …}`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, in ASCII."""
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        if record.exc_info:
            fields = {**fields, "exception": self.formatException(record.exc_info)}
        return line(record.created, record.levelname.lower(), record.getMessage(), fields)


def line(created: float, level: str, message: str, fields: Mapping[str, Any]) -> str:
    """Return one line of JSON, in ASCII."""
    content = {"time": timestamp(created), "level": level, "message": message, **fields}
    try:
        text = orjson.dumps(content, default=str).decode()
    except TypeError:  # half a surrogate pair, or an integer beyond 64 bits
        text = ""
    return text if text and text.isascii() else json.dumps(content, default=str)


def timestamp(moment: float) -> str:
    """Return a time, given in seconds since the epoch, as RFC 3339 with milliseconds."""
    second = int(moment)
    return f"{_time(second)}.{int((moment - second) * 1000):03d}+00:00"


@lru_cache(maxsize=1)
def _time(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


class BatchHandler(logging.StreamHandler[TextIO]):
    """Writes lines to a stream, within `batching` several at a time. Warnings and errors are written at once."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(JSONFormatter())
        self._lines: list[str] = []
        self._size = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def batching(self) -> Iterator[None]:
        """Write in batches within the block, with the running event loop."""
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._loop = None
            self.flush()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or keep it for a batch."""
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001  # a log line that fails must not fail its caller
            self.handleError(record)
            return
        self.add(text, at_once=record.levelno >= logging.WARNING)

    def add(self, text: str, *, at_once: bool = False) -> None:
        """Write a formatted line, or keep it for a batch."""
        self._lines.append(text)
        self._size += len(text)
        if self._loop is None or at_once or self._size > BATCH_SIZE:
            self.flush()
        elif len(self._lines) == 1:
            self._loop.call_soon_threadsafe(self._loop.call_later, BATCH_TIME, self.flush)

    def flush(self) -> None:
        """Write the lines that are kept."""
        with self.lock:  # type: ignore[union-attr]  # every handler has one
            lines, self._lines, self._size = self._lines, [], 0
            # If the disk is full or the pipe is closed, the lines are lost, but the caller goes on.
            with suppress(OSError):
                if lines:
                    self.stream.write("\n".join([*lines, ""]))
                    self.stream.flush()


def info(message: str, fields: Mapping[str, Any]) -> None:
    """Log a line for a request, without a LogRecord: to create it and find its caller would cost more than the rest."""
    handlers = logging.root.handlers
    if len(handlers) == 1 and isinstance(handlers[0], BatchHandler) and not logger.handlers:
        with handlers[0].lock:  # type: ignore[union-attr]  # every handler has one
            handlers[0].add(line(time.time(), "info", message, fields))
    else:
        logger.info(message, extra={"fields": fields})


def origin(error: BaseException) -> dict[str, Any]:
    """Return the type of an error and its stack, as fields of a line.

    Its message is left out: Python and pydantic quote the invalid value, which can be a secret.
    """
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__, limit=-20)
    ]
    return {"error": type(error).__qualname__, "places": places}


def batching() -> AbstractContextManager[None]:
    """Write the lines of the process in batches within the block, if `configure` was called."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, BatchHandler)]
    return handlers[0].batching() if handlers else nullcontext()


def configure(level: int = logging.INFO) -> None:
    """Write all logs of the process to standard error, as lines of JSON."""
    # No line names them, but Python would look them up for each.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=level, handlers=[BatchHandler(sys.stderr)], force=True)
    # A port scan or a health probe on the TLS port must not fill the log.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
