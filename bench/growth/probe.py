"""A server of its own for each point, so that its peak of memory is that point's."""

from __future__ import annotations

import http.client
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import orjson

from bench import cluster
from bench.comparison import servers
from bench.comparison.servers import JOBGATE, Server

SERVER_CORE, CLIENT_CORE = 0, 1
#: A point is measured until the server has used so many CPU seconds, or has had so many requests.
ENOUGH, MOST = 0.5, 300


@dataclass(frozen=True)
class Probe:
    """A running server, and how it is called."""

    server: Server
    context: ssl.SSLContext

    def connect(self) -> http.client.HTTPSConnection:
        """Return a connection."""
        return http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=120, context=self.context)

    def cost(self, path: str, bodies: list[bytes]) -> tuple[float, str]:
        """Return the CPU time of one request in milliseconds, and what was answered."""
        connection = self.connect()
        answers, before = set(), self.server.cpu()
        count = 0
        while count < MOST and self.server.cpu() - before < ENOUGH:
            connection.request("POST", path, bodies[count % len(bodies)], {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answers.add(_verdict(answer.status, answer.read()))
            count += 1
            if answer.will_close:
                connection.close()
        connection.close()
        return (self.server.cpu() - before) / count * 1000, ", ".join(sorted(answers))


@contextmanager
def probing(*further: str, jobs: int | None = None, environment: Mapping[str, str] | None = None) -> Iterator[Probe]:
    """Run a server, with a cluster of so many jobs where that is wanted."""
    with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        ca = servers.write_certificate(folder)
        port, metrics = servers.free_ports(2)
        where = ["--no-cluster"]
        if jobs is not None:
            where = ["--kubeconfig", str(stack.enter_context(cluster.running(jobs, CLIENT_CORE, folder)))]
        stack.enter_context(mock.patch.dict(os.environ, environment or {}))
        command = servers.jobgate(folder, port, metrics, *where, *further)
        server = stack.enter_context(servers.started(JOBGATE, command, port, SERVER_CORE, folder / "server.log"))
        servers.await_ready(metrics)
        context = ssl.create_default_context(cadata=ca)
        context.check_hostname = False  # the certificate is the Service's, and this is loopback
        yield Probe(server, context)


def _verdict(status: int, text: bytes) -> str:
    if status != http.client.OK:
        return str(status)
    return "allowed" if orjson.loads(text)["response"]["allowed"] else "denied"
