"""Watches a resource in a thread."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit

import orjson

from controlplane.plane import ControlPlane


class Watch:
    """Calls a function for each watch event of a resource, in order. Use it in a `with`."""

    def __init__(self, plane: ControlPlane, path: str, take: Callable[[str, dict[str, Any], float], None]) -> None:
        """Read the resource version from which the watch starts.

        Args:
            plane: the control plane with the API server.
            path: path of the resource.
            take: called with the type of the event, the object, and the monotonic time at which it arrived.
        """
        self._path = path
        self._take = take
        parts = urlsplit(plane.url)
        context = ssl.create_default_context(cafile=str(plane.ca))
        self._connection = http.client.HTTPSConnection(parts.hostname or "", parts.port, context=context)
        self._headers = {"Authorization": f"Bearer {plane.token}", "Accept": "application/json"}
        self._version = str(plane.client.get(path, {"limit": "1"})[1]["metadata"]["resourceVersion"])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ended = False
        self.fault = ""

    def _run(self) -> None:
        try:
            while not self._ended:
                self._once()
        except Exception as error:  # noqa: BLE001 - raised to the caller of `seen`
            self.fault = f"{type(error).__qualname__}: {error}"

    def _once(self) -> None:
        """Handle events until the API server ends the watch, as it does if a client reads too slowly."""
        query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds=3600&resourceVersion={self._version}"
        self._connection.request("GET", f"{self._path}?{query}", headers=self._headers)
        for line in self._connection.getresponse():
            event = orjson.loads(line)
            if event["type"] == "ERROR":
                raise RuntimeError(f"the watch of {self._path} ended: {event['object'].get('message')}")
            self._version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._take(event["type"], event["object"], time.monotonic())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        with suppress(OSError, AttributeError):  # it may be between two requests
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()
