"""Requests that arrive at random, at a rate: independent callers, as those of an API server (Poisson arrivals).

`wrk` delays by whole milliseconds, so its requests come in bursts, one a millisecond. Here each request is sent when it
is due, but for the 50 µs by which Linux may be late. Its latency counts from then on, also while no connection is free:
a slow server is not asked less.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import ssl
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from select import select

from bench.comparison.jobs import REQUEST

#: More than ever wait at once at half of the maximum.
CONNECTIONS = 32
#: Bytes of the largest request, and more: the whole of it is sent at once.
SEND_BUFFER = 4 * 1024 * 1024
#: Seconds after which an answer is missing.
TIMEOUT = 20.0
#: Of all requests, the part that was answered within each figure.
PARTS = {"p50": 0.5, "p99": 0.99, "p999": 0.999}

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Caller:
    """A connection, and what it waits for.

    Attributes:
        due: when the request should have been sent that it has sent last.
    """

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        plain = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain)
        self._socket.setblocking(False)
        self._arrived = b""
        self.due = 0.0

    def fileno(self) -> int:
        """Return the number of the socket, for `select`."""
        return self._socket.fileno()

    def send(self, request: bytes, due: float) -> None:
        """Send a request that was due at a time."""
        self.due = due
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """Return the answer if it is whole, and nothing before: the end of the handshake may have arrived."""
        with suppress(ssl.SSLWantReadError):
            while more := self._socket.recv(65536):
                self._arrived += more
                if whole(self._arrived):
                    answer, self._arrived = self._arrived, b""
                    return answer
            raise ConnectionError("the server has closed the connection")
        return b""


def whole(answer: bytes) -> bool:
    """Tell whether an answer has arrived to its end: by its length, or with the last of its chunks."""
    head, _, body = answer.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return len(body) >= int(length[1]) if length else answer.endswith(b"\r\n0\r\n\r\n")


class Requests:
    """The bodies of a file, a line each, in turn; in each, the number of the request."""

    def __init__(self, port: int, path: str, bodies: Path) -> None:
        head = f"POST {path}?timeout=10s HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json, */*\r\n"
        head += "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._whole = [(head % len(body)).encode() + body for body in bodies.read_bytes().splitlines()]
        self._count = 0

    def next(self) -> bytes:
        """Return a request that has not been sent before."""
        self._count += 1
        return self._whole[self._count % len(self._whole)].replace(REQUEST.encode(), b"%06x" % self._count)


def run(port: int, requests: Requests, words: bytes, rate: float, seconds: float) -> tuple[list[float], int, float]:
    """Return the latencies in seconds, how many answers lack the words, and how long it took."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    free = [Caller(port, context) for _ in range(CONNECTIONS)]
    busy: set[Caller] = set()
    waiting: deque[float] = deque()
    latencies, wrong, clock = [], 0, time.perf_counter
    began = clock()
    end, due = began + seconds, began + random.expovariate(rate)
    while due < end or busy:
        while due < min(clock(), end):
            waiting.append(due)
            due += random.expovariate(rate)
        while waiting and free:
            caller = free.pop()
            caller.send(requests.next(), waiting.popleft())
            busy.add(caller)
        ready = select(busy, (), (), max(0.0, due - clock()) if due < end else TIMEOUT)[0]
        if not ready and due >= end:
            raise TimeoutError("the server does not answer")
        for caller in ready:
            if answer := caller.receive():
                latencies.append(clock() - caller.due)
                wrong += not (answer.startswith(b"HTTP/1.1 200 ") and words in answer)
                busy.remove(caller)
                free.append(caller)
    return latencies, wrong, clock() - began


def main() -> None:
    """Send, and print what came of it as one line of JSON, as `load.lua` does."""
    parser = argparse.ArgumentParser(prog="python -m bench.comparison.arrivals")
    parser.add_argument("port", type=int)
    parser.add_argument("path")
    parser.add_argument("bodies", type=Path)
    parser.add_argument("words")
    parser.add_argument("rate", type=float, help="requests a second")
    parser.add_argument("seconds", type=float)
    command = parser.parse_args()
    requests = Requests(command.port, command.path, command.bodies)
    latencies, wrong, took = run(command.port, requests, command.words.encode(), command.rate, command.seconds)
    latencies.sort()
    quantiles = {name: latencies[int(len(latencies) * part)] * 1000 for name, part in PARTS.items()}
    print(json.dumps({"requests": len(latencies), "seconds": took, "failed": 0, "wrong": wrong, **quantiles}))


if __name__ == "__main__":
    main()
