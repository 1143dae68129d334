"""The plain HTTP port: liveness, readiness, metrics. Nothing of admission answers there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiohttp import web

from webhook.server.endpoint import Endpoint


class Probes:
    """Answers the kubelet and Prometheus."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
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
        if self.endpoint.draining:
            return web.Response(status=503, text="draining\n")
        return web.Response(text="ok\n")

    def _metrics(self) -> web.Response:
        metrics = self.endpoint.metrics
        return web.Response(body=metrics.exposition(), headers={"Content-Type": metrics.content_type})


def _alive() -> web.Response:
    return web.Response(text="ok\n")


def _closing(response: web.Response) -> web.Response:
    response.force_close()
    return response
