"""A small client of one API server: JSON over one keep-alive connection."""

import http.client
import json
import re
import ssl
import time
import urllib.parse
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

# The API server closes connections that are idle for 90 s; a request sent at that moment would be lost.
_IDLE_LIMIT = 60.0
_RETRIES = 30

Answer = tuple[int, dict[str, Any]]
Params = Mapping[str, str]


class ClusterApi:
    """Sends requests to one API server, and returns the status code and the JSON object of each response.

    A rejection is returned too: its object is a `Status`. Only connection errors raise exceptions. Not thread-safe.

    Attributes:
        warnings: warnings of the last response.
    """

    def __init__(self, url: str, ca: str, token: str, timeout: float = 60.0) -> None:
        """`ca` is the certificate as PEM text."""
        parts = urllib.parse.urlsplit(url)
        context = ssl.create_default_context(cadata=ca)
        self._connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, context=context, timeout=timeout
        )
        self._authorization = f"Bearer {token}"
        self._used = 0.0
        self.warnings: tuple[str, ...] = ()

    def get(self, path: str, params: Params | None = None) -> Answer:
        """Read the object or list at the path; again while the API server asks for it, as it does for a new CRD."""
        for _ in range(_RETRIES):
            answer = self.request("GET", path, None, params, JSON)
            if answer[0] != http.HTTPStatus.TOO_MANY_REQUESTS:
                break
            time.sleep(1.0)
        return answer

    def post(self, path: str, body: Any, params: Params | None = None) -> Answer:
        """Create an object in the collection at the path; with `{"dryRun": "All"}` it is not stored."""
        return self.request("POST", path, body, params, JSON)

    def put(self, path: str, body: Any, params: Params | None = None) -> Answer:
        """Replace the object at the path."""
        return self.request("PUT", path, body, params, JSON)

    def patch(self, path: str, body: Any, params: Params | None = None, content_type: str = MERGE_PATCH) -> Answer:
        """Patch the object at the path; for server-side apply use `APPLY_PATCH` and the parameter `fieldManager`."""
        return self.request("PATCH", path, body, params, content_type)

    def delete(self, path: str, body: Any = None, params: Params | None = None) -> Answer:
        """Delete the object or the collection at the path."""
        return self.request("DELETE", path, body, params, JSON)

    def request(self, method: str, path: str, body: Any, params: Params | None, content_type: str) -> Answer:
        """Send a request, and return the response. A body of text or bytes is sent as it is, any other as JSON."""
        if time.monotonic() - self._used > _IDLE_LIMIT:
            self.close()
        target = f"{path}?{urllib.parse.urlencode(params)}" if params else path
        headers = {"Authorization": self._authorization, "Accept": JSON, "Content-Type": content_type}
        try:
            self._connection.request(method, target, _encoded(body), headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            # The next request needs a new connection: this one may be in the middle of a message.
            self.close()
            raise
        self._used = time.monotonic()
        self.warnings = tuple(map(_warning, response.headers.get_all("Warning", ())))
        return response.status, _object(content)

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _encoded(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _warning(header: str) -> str:
    """Return the text of a header `299 - "text"`; quotes and backslashes in it are escaped (RFC 9110, 5.6.4)."""
    quoted = header.partition('"')[2].rpartition('"')[0]
    return re.sub(r"\\(.)", r"\1", quoted)


def _object(content: bytes) -> dict[str, Any]:
    """Return the response's object; a text that is no JSON object (`ok` of `/readyz`) as `{"text": …}`."""
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"text": content.decode(errors="replace")}
