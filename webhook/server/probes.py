"""The plain HTTP port: liveness, readiness, metrics. Nothing of admission answers there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from aiohttp import web

from webhook.server.endpoint import Endpoint


class Exposed(Protocol):
    """What is counted, in Prometheus' text format."""

    content_type: str

    def exposition(self) -> bytes:
        """Return all of it."""


class Answers:
    """Answers the kubelet and Prometheus, for whatever runs."""

    def __init__(self, not_ready: Callable[[], str], metrics: Exposed) -> None:
        """Take `not_ready`, which says why it is not ready, or nothing where it is; and what is counted."""
        self._not_ready = not_ready
        self._counted = metrics
        self.routes: Mapping[str, Callable[[], web.Response]] = {
            "/healthz": _alive,
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        route = self.routes.get(request.path)
        if route is None:
            return _closing(web.Response(status=404, text="here are /healthz, /readyz and /metrics\n"))
        if request.method not in {"GET", "HEAD"}:
            return _closing(web.Response(status=405, headers={"Allow": "GET, HEAD"}))
        return route()

    def _ready(self) -> web.Response:
        if why := self._not_ready():
            return web.Response(status=503, text=f"{why}\n")
        return web.Response(text="ok\n")

    def _metrics(self) -> web.Response:
        return web.Response(body=self._counted.exposition(), headers={"Content-Type": self._counted.content_type})


class Probes(Answers):
    """Answers for the server."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(lambda: _not_ready(endpoint), endpoint.metrics)


def _not_ready(endpoint: Endpoint) -> str:
    if endpoint.draining:
        return "draining"
    if lacking := endpoint.lacking():
        return lacking
    waits_for = endpoint.waits_for()
    return f"waiting for {waits_for}" if waits_for else ""


def _alive() -> web.Response:
    return web.Response(text="ok\n")


def _closing(response: web.Response) -> web.Response:
    response.force_close()
    return response
