"""Sends requests at random times and a given rate, like the independent callers of an API server (Poisson arrivals).

`wrk` waits for whole milliseconds, so it sends bursts. Here each request is sent when it is due; Linux may delay it by
50 µs. Its latency starts at that time, even if no connection is free: a slow server does not get fewer requests.
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

#: More than the requests that wait at the same time at half of the maximum rate.
CONNECTIONS = 32
#: More bytes than the largest request has, so that it is sent at once.
SEND_BUFFER = 4 * 1024 * 1024
#: Seconds to wait for a response.
TIMEOUT = 20.0
#: The share of requests for each percentile.
PARTS = {"p50": 0.5, "p99": 0.99, "p999": 0.999}

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Caller:
    """A connection that sends one request at a time.

    Attributes:
        due: when its last request was due.
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
        """Send a request that was due at that time."""
        self.due = due
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """Return the response if it is complete, else an empty text: the data may be the end of the handshake."""
        with suppress(ssl.SSLWantReadError):
            while more := self._socket.recv(65536):
                self._arrived += more
                if whole(self._arrived):
                    answer, self._arrived = self._arrived, b""
                    return answer
            raise ConnectionError("the server has closed the connection")
        return b""


def whole(answer: bytes) -> bool:
    """Whether a response is complete: by its Content-Length, or its last chunk."""
    head, _, body = answer.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return len(body) >= int(length[1]) if length else answer.endswith(b"\r\n0\r\n\r\n")


class Requests:
    """The requests for the bodies in a file, one body in each line, in turn; each gets the number of the request."""

    def __init__(self, port: int, path: str, bodies: Path) -> None:
        head = f"POST {path}?timeout=10s HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json, */*\r\n"
        head += "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._whole = [(head % len(body)).encode() + body for body in bodies.read_bytes().splitlines()]
        self._count = 0

    def next(self) -> bytes:
        """Return a new request."""
        self._count += 1
        return self._whole[self._count % len(self._whole)].replace(REQUEST.encode(), b"%06x" % self._count)


def run(port: int, requests: Requests, words: bytes, rate: float, seconds: float) -> tuple[list[float], int, float]:
    """Return the latencies in seconds, the number of wrong responses, and the duration."""
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
    """Send the requests, and print the results as one line of JSON, as `load.lua` does."""
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
