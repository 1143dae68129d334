"""The part of a kubelet's API that `kubectl logs` needs: the logs of containers, over TLS, for the API server only."""

import ssl
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from controlplane.plane import KUBELET_CLIENT, ControlPlane

#: Seconds between two reads of a log that is followed.
_PERIOD = 0.2
#: Query parameters of `kubectl logs` that logs without time stamps cannot answer.
_UNSUPPORTED = ("timestamps", "sinceSeconds", "sinceTime", "previous")


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the errors of this program, but no errors of clients: no certificate, a closed connection."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class LogServer:
    """Serves logs on a free port of loopback, from `start` to `close`.

    `find` returns the log file of a container by namespace, pod and name, and `runs` whether the container still runs.
    """

    def __init__(
        self, plane: ControlPlane, find: Callable[[str, str, str], Path | None], runs: Callable[[str, str, str], bool]
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _answer(self, find, runs)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(plane.folder / "apiserver.crt", plane.folder / "apiserver.key")
        context.load_verify_locations(plane.ca)
        context.verify_mode = ssl.CERT_REQUIRED
        # The handshake is done by the thread of the connection.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, name="kubelet API", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Its port."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _answer(
    request: BaseHTTPRequestHandler,
    find: Callable[[str, str, str], Path | None],
    runs: Callable[[str, str, str], bool],
) -> None:
    certificate: Any = request.connection.getpeercert() or {}
    subject = dict(pair for names in certificate.get("subject", ()) for pair in names)
    url = urlsplit(request.path)
    query = {key: values[-1] for key, values in parse_qs(url.query).items()}
    steps = [unquote(step) for step in url.path.split("/")[1:]]
    if subject.get("commonName") != KUBELET_CLIENT:
        request.send_error(HTTPStatus.FORBIDDEN, "only the API server may read logs")
    elif len(steps) != 4 or steps[0] != "containerLogs":
        request.send_error(HTTPStatus.NOT_FOUND, f"not served by nodes whose pods are processes: {url.path}")
    elif unsupported := [key for key in _UNSUPPORTED if query.get(key, "false") != "false"]:
        reason = f"not supported for pods that are processes: {', '.join(unsupported)}"
        request.send_error(HTTPStatus.BAD_REQUEST, reason)
    elif (log := find(steps[1], steps[2], steps[3])) is None:
        request.send_error(HTTPStatus.NOT_FOUND, f"container {steps[3]} of pod {steps[2]} has not started")
    else:
        request.send_response(HTTPStatus.OK)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        follow = query.get("follow", "false") != "false"
        with log.open("rb") as file:
            content = file.read()
            if "tailLines" in query:
                lines = content.splitlines(keepends=True)
                content = b"".join(lines[max(len(lines) - int(query["tailLines"]), 0) :])
            request.wfile.write(content[: int(query["limitBytes"])] if "limitBytes" in query else content)
            while follow:
                # Asked first: everything that is written before the end is read below.
                follow = runs(steps[1], steps[2], steps[3])
                request.wfile.write(file.read())
                request.wfile.flush()
                time.sleep(_PERIOD)
