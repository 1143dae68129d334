"""The fastest possible server with aiohttp and uvloop: allows every request, and reads only its uid."""

from __future__ import annotations

import argparse
import asyncio
import base64
import ssl
from pathlib import Path

import uvloop
from aiohttp import web

BEFORE = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"'
AFTER = b'","allowed":true}}'
#: The smallest mutation of a DIJob.
ONE_FIELD = base64.b64encode(b'[{"op":"add","path":"/spec/preemptible","value":false}]')
PATCHED = b'","allowed":true,"patchType":"JSONPatch","patch":"' + ONE_FIELD + b'"}}'


async def serve(port: int, tls: Path, *, one_field: bool = False) -> None:
    """Serve until the process ends; with `one_field` a mutation sets one field."""

    async def handle(request: web.BaseRequest) -> web.Response:
        uid = (await request.read()).partition(b'"uid":"')[2].partition(b'"')[0]
        after = PATCHED if one_field and request.path.startswith("/mutate") else AFTER
        return web.Response(body=BEFORE + uid + after, content_type="application/json")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
    handler = web.Server(handle, access_log=None)
    server = await asyncio.get_running_loop().create_server(handler, "127.0.0.1", port, ssl=context)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.comparison.constant")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls", type=Path, required=True, help="folder of tls.crt and tls.key")
    parser.add_argument("--one-field", action="store_true", help="mutation sets one field of a DIJob")
    command = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(command.port, command.tls, one_field=command.one_field))
