"""The bytes that a client sends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import ConfigException

from jobgate.cluster.client import Client, Pace
from jobgate.cluster.secret import SECRETS
from webhook.trace import CURRENT, Trace

TRACE = Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", sampled=True, state="a=1")


@asynccontextmanager
async def answering(heads: list[str]) -> AsyncIterator[Client]:
    """A client of a server that answers everything with an empty list."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        content = b'{"metadata": {"resourceVersion": "7"}, "items": []}'
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, Client(ApiClient(_of(server.sockets[0].getsockname()[1]))) as client:
        yield client


def _of(port: int) -> Configuration:
    configuration = Configuration()
    configuration.host = f"http://127.0.0.1:{port}"
    return configuration


async def test_a_call_belongs_to_the_trace_of_the_request_that_it_is_made_for() -> None:
    heads: list[str] = []
    async with answering(heads) as client:
        await client.get(SECRETS, "a", "b")
        token = CURRENT.set(TRACE)
        await client.get(SECRETS, "a", "b")
        CURRENT.reset(token)
    without, within = (head.lower() for head in heads)
    assert "traceparent" not in without
    assert f"traceparent: 00-{TRACE.id}-{TRACE.parent}-01\r\n" in within
    assert "tracestate: a=1\r\n" in within


async def test_one_object_is_asked_for_by_its_name_in_its_namespace() -> None:
    heads: list[str] = []
    async with answering(heads) as client:
        assert await client.named("ours", "here").list(SECRETS) == ([], "7")
    (head,) = heads
    path = head.split()[1]
    assert path.startswith("/api/v1/namespaces/here/secrets?")
    assert "fieldSelector=metadata.name%3Dours" in path or "fieldSelector=metadata.name=ours" in path


async def test_a_paced_client_makes_twice_its_rate_at_once_and_then_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("jobgate.cluster.client.time.monotonic", lambda: 100.0)
    monkeypatch.setattr("jobgate.cluster.client.asyncio.sleep", sleep)
    pace = Pace(2.0)
    for _ in range(6):
        await pace.wait()
    assert slept == [0.5, 1.0]


@pytest.mark.parametrize("content", ["", "server", "- clusters"])
async def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    with pytest.raises(ConfigException, match=f"{file} is no kubeconfig"):
        await Client.connect(file)
