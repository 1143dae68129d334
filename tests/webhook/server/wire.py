"""The client's end of the wire: requests as bytes, answers read as they come."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from certs import Generation
from tests.webhook.kind import CREW, KINDS, admission_review, job
from webhook import Phase, Registry, Settings
from webhook.server import Endpoint, Limits, listen, serve
from webhook.server.candidate import showing
from webhook.server.certificates import Certificates
from webhook.server.metrics import Metrics
from webhook.server.reviews import KeptReviews

MUTATE, VALIDATE = CREW.path(Phase.MUTATE), CREW.path(Phase.VALIDATE)
#: A server that a test starts in a process of its own.
PROGRAM = "tests.webhook.server.program"
#: Longer than any answer takes on a busy machine; a test that waits for it has failed.
PATIENCE = 60.0


def body(document: Any = None, **request: Any) -> bytes:
    """The bytes of a review, as Go's encoder writes them."""
    text = json.dumps(admission_review(job() if document is None else document, **request), separators=(",", ":"))
    return text.encode() + b"\n"


def head(method: str = "POST", path: str = VALIDATE, **headers: str | int | None) -> bytes:
    """The head of a request. A header given as None is left out; `_` in its name stands for a dash."""
    names = {"Host": "x", "Content_Type": "application/json", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in names.items() if value is not None]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()


def post(content: bytes | None = None, path: str = VALIDATE, **headers: str | int | None) -> bytes:
    """A whole request."""
    content = body() if content is None else content
    return head("POST", path, Content_Length=len(content), **headers) + content


async def until(condition: Callable[[], bool | Awaitable[bool]], patience: float = PATIENCE) -> None:
    """Wait until something holds, for so many seconds.

    Raises:
        TimeoutError: it does not.
    """
    async with asyncio.timeout(patience):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.sleep(0.01)


def chunked(*chunks: bytes) -> bytes:
    """Chunks, and the end of them."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


@dataclass(frozen=True)
class Answer:
    code: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def response(self) -> Any:
        return self.json["response"]


@dataclass
class Connection:
    """One open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, *, without_body: bool = False) -> Answer:
        """The next answer on this connection.

        Raises:
            EOFError: the server has closed it.
        """
        async with asyncio.timeout(PATIENCE):
            start = await self.reader.readuntil(b"\r\n\r\n")
            first, *lines = start.decode().removesuffix("\r\n\r\n").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            length = 0 if without_body else int(headers.get("content-length", 0))
            return Answer(int(first.split()[1]), headers, await self.reader.readexactly(length))

    async def ask(self, data: bytes) -> Answer:
        await self.send(data)
        return await self.answer()

    async def closed(self) -> bool:
        """Whether the server closes it, and says nothing more."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.reader.read() == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False

    async def close(self) -> None:
        self.writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await self.writer.wait_closed()


class Listening(NamedTuple):
    """The ports of a server."""

    port: int
    health_port: int


@dataclass
class Running:
    """A server that runs."""

    listening: Listening
    endpoint: Endpoint[Any]
    client: ssl.SSLContext
    stop: asyncio.Event
    served: asyncio.Task[None]
    connections: list[Connection] = field(default_factory=list)

    async def connect(self, *, tls: ssl.SSLContext | bool | None = True, port: int = 0) -> Connection:
        """Open a connection to the admission port, over TLS."""
        streams = await asyncio.open_connection(
            "127.0.0.1",
            port or self.listening.port,
            ssl=self.client if tls is True else tls or None,
            server_hostname="jobgate-webhook.jobgate-system.svc" if tls else None,
        )
        self.connections.append(Connection(*streams))
        return self.connections[-1]

    async def ask(self, data: bytes) -> Answer:
        """The answer to a request on a connection of its own."""
        connection = await self.connect()
        answer = await connection.ask(data)
        await connection.close()
        return answer

    async def probe(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """The answer of the plain port."""
        connection = await self.connect(tls=False, port=self.listening.health_port)
        try:
            await connection.send(head(method, path, **headers))
            return await connection.answer(without_body=method == "HEAD")
        finally:
            await connection.close()

    async def metrics(self) -> dict[str, float]:
        """The samples of the metrics."""
        text = (await self.probe("/metrics")).body.decode()
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    async def connected(self) -> int:
        """How many connections the admission port has."""
        return int((await self.metrics())["webhook_connections"])

    async def left(self) -> bool:
        """Whether everybody has left the admission port."""
        return await self.connected() == 0

    async def drains(self) -> bool:
        """Whether the server has been asked to stop."""
        return (await self.probe("/readyz")).code == 503

    async def lives(self) -> bool:
        """Whether the next caller is served."""
        return (await self.ask(post())).code == 200


@dataclass(frozen=True)
class Shown:
    """A server's certificate as files, and a client's context that trusts it."""

    certificate: Path
    key: Path
    client: ssl.SSLContext

    def context(self) -> ssl.SSLContext:
        """A server's context that shows it."""
        return showing(self.certificate.read_bytes(), self.key.read_bytes())


def shown_files(generation: Generation, folder: Path) -> Shown:
    """Write a generation down."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(generation.certificate)
    key.write_bytes(generation.key)
    return Shown(certificate, key, ssl.create_default_context(cadata=generation.ca_certificate.decode()))


@asynccontextmanager
async def started(
    module: str, *arguments: str, shown: Shown, message: str = "serving"
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Running]]:
    """A server in a process of its own that has logged a message with its ports; killed at the end of the block."""
    command = (sys.executable, "-m", module, *arguments)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    try:
        line: dict[str, Any] = {}
        async with asyncio.timeout(60):
            while line.get("message") != message:
                line = json.loads(await process.stderr.readline())
        of_the_process: Any = None
        listening = Listening(line["port"], line["healthPort"])
        yield process, Running(listening, of_the_process, shown.client, of_the_process, of_the_process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def may_read(token: str, address: str) -> int:
    return 200 if (token, address) == ("reader", "127.0.0.1") else 403


@asynccontextmanager
async def running(
    shown: Shown,
    kinds: Registry[Any] = KINDS,
    *,
    delay: float = 0.0,
    finish: float = 0.5,
    certificates: Certificates | None = None,
    metrics: Metrics | None = None,
    reviews: KeptReviews | None = None,
    **limits: Any,
) -> AsyncIterator[Running]:
    """A server of these kinds and limits, until the block ends. Who has the token `reader` may read its reviews."""
    # A process that a busy machine lets wait for a second would reject requests to keep up.
    endpoint = Endpoint(kinds, Settings(), limits=Limits(**{"queue_time": PATIENCE, **limits}), metrics=metrics)
    endpoint.reviews, endpoint.may_read = reviews, may_read
    if certificates:
        endpoint.lacking = certificates.lacking
    stop = asyncio.Event()
    choose = certificates.context if certificates else shown.context
    with listen("127.0.0.1", 0, 0) as sockets:
        served = asyncio.create_task(serve(endpoint, choose, sockets, stop=stop, delay=delay, finish=finish))
        server = Running(Listening(*sockets.ports().values()), endpoint, shown.client, stop, served)
        try:
            yield server
        finally:
            for connection in server.connections:
                connection.writer.close()
            stop.set()
            async with asyncio.timeout(PATIENCE):
                await served
            for connection in server.connections:
                await connection.close()
