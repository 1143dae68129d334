"""The plain HTTP port: liveness, readiness, metrics. Nothing of admission answers there."""

from __future__ import annotations

from aiohttp import web

from webhook.server.endpoint import Endpoint


def application(endpoint: Endpoint) -> web.Application:
    """Return the application of the plain port."""

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        if endpoint.draining:
            return web.Response(status=503, text="draining\n")
        return web.Response(text="ok\n")

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=endpoint.metrics.exposition(), headers={"Content-Type": endpoint.metrics.content_type})

    app = web.Application()
    app.router.add_get("/healthz", alive)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", metrics)
    return app
