"""A client of the API server that writes, too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from aiohttp import ClientError, ClientTimeout

from jobgate.cluster.client import Client, Narrowed
from jobgate.cluster.informer import ApiError
from jobgate.cluster.resource import Resource

#: Timeout of a write, in seconds. Admission webhooks take a part of it.
WRITE = 15.0

_FORBIDDEN = 403
_JSON, _MERGE = "application/json", "application/merge-patch+json"


class Pace:
    """Lets through so many calls a second, and twice as many at once after a quiet time."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1.0 / per_second
        self._burst = 2.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait until the next call may be made."""
        now = time.monotonic()
        # What was not used lately is there at once; what is used beyond it is owed.
        self._next = max(self._next, now - self._burst) + self._interval
        if self._next > now:
            await asyncio.sleep(self._next - now)


class Writer(Client):
    """A `ClusterClient`, which says what each request does. Use it in an `async with`."""

    _pace: Pace | None = None

    def labelled(self, selector: str) -> Client:
        """Return a client for objects of a label selector only; it is closed with this one."""
        return Narrowed(self, {"labelSelector": selector})

    def within(self, namespace: str, fields: str) -> Client:
        """Return a client for objects of a namespace and a field selector only; it is closed with this one."""
        return Narrowed(self, {"fieldSelector": fields}, namespace)

    def paced(self, per_second: float) -> Writer:
        """Return a client with a rate limit; it is closed with this one."""
        limited = Writer(self._api, self._pages)
        limited._pace = Pace(per_second)
        return limited

    async def get(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any] | None:
        """Return one object as it is stored now, or None."""
        if self._pace is not None:
            await self._pace.wait()
        with _answered():
            return await super().get(resource, name, namespace)

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> dict[str, Any]:
        """Create an object, or try whether it could be."""
        path = resource.path_of("", manifest["metadata"].get("namespace", "")).rstrip("/")
        return await self._write("POST", resource, path, manifest, {"dryRun": "All"} if dry else {}, _JSON)

    async def patch(self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change an object by a merge patch; 409 if it is not as it was found."""
        metadata = {**changes.get("metadata", {}), **_identity(found)}
        return await self._write(
            "PATCH", resource, _path(resource, found), {**changes, "metadata": metadata}, {}, _MERGE
        )

    async def delete(self, resource: Resource, found: Mapping[str, Any], propagation: str = "") -> None:
        """Delete an object; 409 if it is not as it was found."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": _identity(found),
            **({"propagationPolicy": propagation} if propagation else {}),
        }
        await self._write("DELETE", resource, _path(resource, found), options, {}, _JSON)

    async def set_status(
        self, resource: Resource, found: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Change the status of an object by a merge patch; 409 if it is not as it was found."""
        body = {"metadata": _identity(found), "status": dict(changes)}
        return await self._write("PATCH", resource, f"{_path(resource, found)}/status", body, {}, _MERGE)

    async def _write(
        self,
        method: str,
        resource: Resource,
        path: str,
        body: Mapping[str, Any],
        params: Mapping[str, str],
        content: str,
    ) -> dict[str, Any]:
        if self._pace is not None:
            await self._pace.wait()
        request = await self._api.param_serialize(
            method,
            path,
            query_params=[*params.items(), ("fieldManager", "jobgate")] if method != "DELETE" else [],
            header_params={"Accept": _JSON, "Content-Type": content},
            body=dict(body),
            auth_settings=["BearerToken"],
        )
        with _answered():
            answer = await self._api.call_api(*request, _request_timeout=ClientTimeout(total=WRITE))
            text = await answer.response.read()
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            document = {}  # of something between us and the API server
        if not isinstance(document, dict) or not 200 <= answer.status < 300:
            raise rejection(resource, answer.status, document if isinstance(document, dict) else {})
        return document


def rejection(resource: Resource, code: int, status: Mapping[str, Any]) -> ApiError:
    """Return the error of a response that is a Status."""
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    after = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    reasons = {one.get("reason") for one in causes or () if isinstance(one, dict)}
    # A message about an invalid object quotes it; a message about a missing right names it.
    secret = resource.plural == "secrets" and code != _FORBIDDEN
    return ApiError(
        code,
        str(status.get("reason") or ""),
        "" if secret else str(status.get("message") or "")[:500],
        terminating="NamespaceTerminating" in reasons,
        after=float(after) if isinstance(after, int) else None,
    )


@contextmanager
def _answered() -> Iterator[None]:
    """Raise an `OSError` for all errors of aiohttp."""
    try:
        yield
    except ClientError as error:
        raise ConnectionError(f"{type(error).__qualname__}: {error}") from error


def _identity(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the preconditions under which an object is still as it was found."""
    metadata = found["metadata"]
    return {key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata}


def _path(resource: Resource, found: Mapping[str, Any]) -> str:
    return resource.path_of(found["metadata"]["name"], found["metadata"].get("namespace", ""))
