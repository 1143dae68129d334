"""Logs: one JSON object a line, on standard error. No body, no value of an object, ever."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

logger = logging.getLogger("jobgate")


class JSONFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, message, and the fields given as `extra={"fields": …}`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def origin(error: BaseException) -> dict[str, Any]:
    """Return the type of an error and the places that it passed, as fields of a line.

    Its message stays out: Python and pydantic quote the value that they could not take, and that may be a secret.
    """
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__, limit=-20)
    ]
    return {"error": type(error).__qualname__, "places": places}


def configure(level: int = logging.INFO) -> None:
    """Send the logs of the process to standard error, a JSON line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # A port scan or a health probe on the TLS port must not fill the log.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
