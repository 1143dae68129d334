"""A proxy between a program and the API server that injects faults: error responses, and silent watches."""

import asyncio
import base64
import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import yaml
from aiohttp import web

from controlplane.credentials import write_private
from controlplane.plane import ControlPlane


@dataclass(frozen=True, slots=True)
class Fault:
    """A response that the proxy sends instead of the API server's.

    Attributes:
        code: of the Status; 0 means no response, on a connection that stays open.
        reason: of the Status.
        headers: of the response.
        applied: whether the API server still gets the request.
        event: whether the Status is sent as a watch event, after a response of 200.
    """

    code: int = 0
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    applied: bool = False
    event: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A request: its method, path and query."""

    method: str
    path: str
    query: Mapping[str, str]

    @property
    def watches(self) -> bool:
        """Whether it is a watch."""
        return "watch" in self.query

    @property
    def writes(self) -> bool:
        """Whether it may change an object."""
        return self.method not in {"GET", "HEAD"}


class FaultyProxy:
    """Forwards requests with the credentials of one account. Use it in a `with`.

    Attributes:
        kubeconfig: for programs that call the API server through this proxy.
        fault: returns the fault for a call, or None; replace it at any time.
        silent: while set, open watches stay open, but get no more events.
        faults: number of faults, by code.
    """

    def __init__(self, plane: ControlPlane, credentials: Path | None = None) -> None:
        """`credentials` is the account's kubeconfig; by default the administrator's."""
        self._plane = plane
        self._credentials = credentials or plane.kubeconfig
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._stopping = asyncio.Event()
        self._watches: set[aiohttp.ClientResponse] = set()
        self._session: aiohttp.ClientSession
        self._runner: web.AppRunner
        self.fault: Callable[[Call], Fault | None] = lambda _: None
        self.silent = False
        self.faults: Counter[int] = Counter()
        self.kubeconfig = self._credentials

    def __enter__(self) -> Self:
        self._thread.start()
        port = self._run(self._start())
        cluster = {"name": "faulty", "cluster": {"server": f"http://127.0.0.1:{port}"}}
        context = {"name": "faulty", "context": {"cluster": "faulty", "user": "faulty"}}
        config = {
            "apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context],
            "users": [{"name": "faulty", "user": {}}], "current-context": "faulty",
        }  # fmt: skip
        self.kubeconfig = write_private(self._plane.folder / f"faulty-{port}.kubeconfig", json.dumps(config))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Close all open watches."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        while self._watches:
            self._watches.pop().close()

    def _run(self, work: Any) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(30)

    async def _start(self) -> int:
        user = yaml.safe_load(self._credentials.read_text(encoding="utf-8"))["users"][0]["user"]
        tls = ssl.create_default_context(cafile=str(self._plane.ca))
        headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        if "client-certificate-data" in user:
            pair = write_private(self._plane.folder / f"faulty-{id(self)}.pem", _pem(user))
            tls.load_cert_chain(pair)
        connector = aiohttp.TCPConnector(ssl=tls, limit=0)
        # The encoding is left to the program and the API server, which compresses answers above 128 KiB.
        self._session = aiohttp.ClientSession(
            self._plane.url,
            connector=connector,
            headers=headers,
            auto_decompress=False,
            skip_auto_headers=["Accept-Encoding"],
        )
        application = web.Application(client_max_size=16 << 20)
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _stop(self) -> None:
        self._stopping.set()
        await self._runner.cleanup()
        await self._session.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        call = Call(request.method, request.path, dict(request.query))
        fault = self.fault(call)
        if fault is not None:
            self.faults[fault.code] += 1
            if fault.applied:
                async with self._sent(request) as response:
                    await response.read()
            return await self._faulty(request, fault)
        async with self._sent(request) as response:
            if call.watches:
                self._watches.add(response)
            kept = {name: value for name, value in response.headers.items() if name.lower() in _KEPT}
            answer = web.StreamResponse(status=response.status, headers=kept)
            await answer.prepare(request)
            async for chunk in response.content.iter_any():
                if self.silent and call.watches:
                    await self._stopping.wait()
                await answer.write(chunk)
            if self.silent and call.watches:
                await self._stopping.wait()
            await answer.write_eof()
            return answer

    async def _faulty(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if not fault.code:
            await self._stopping.wait()
        status = {
            "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": fault.code, "reason": fault.reason,
            "message": "a fault of the proxy",
        }  # fmt: skip
        if not fault.event:
            return web.json_response(status, status=fault.code or 500, headers=fault.headers)
        return web.Response(body=json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")

    def _sent(self, request: web.Request) -> Any:
        headers = {name: value for name, value in request.headers.items() if name.lower() in _SENT}
        forever = aiohttp.ClientTimeout(total=None)
        return self._session.request(
            request.method, request.rel_url, data=request.content, headers=headers, timeout=forever
        )


_SENT = {"accept", "accept-encoding", "content-type"}
_KEPT = {"content-encoding", "content-type", "date", "retry-after", "warning"}


def _pem(user: Mapping[str, str]) -> bytes:
    return b"".join(base64.b64decode(user[f"client-{name}-data"]) for name in ("certificate", "key"))
