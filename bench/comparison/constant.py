"""The least that aiohttp and uvloop can do: read the body, answer always the same."""

from __future__ import annotations

import argparse
import asyncio
import ssl
from pathlib import Path

import orjson
import uvloop
from aiohttp import web

ANSWER = orjson.dumps(
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}
)


async def serve(port: int, tls: Path) -> None:
    """Serve until the process is ended."""

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=ANSWER, content_type="application/json")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
    handler = web.Server(handle, access_log=None)
    server = await asyncio.get_running_loop().create_server(handler, "127.0.0.1", port, ssl=context)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.comparison.constant")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls", type=Path, required=True, help="folder of tls.crt and tls.key")
    command = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(command.port, command.tls))
