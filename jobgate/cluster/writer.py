"""A client of the API server that writes, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from aiohttp import ClientError, ClientTimeout

from jobgate.cluster.client import Client, Narrowed
from jobgate.cluster.objects import rejection
from jobgate.cluster.resource import Resource

#: Timeout of a write, in seconds. Admission webhooks take a part of it.
WRITE = 15.0

_JSON, _MERGE = "application/json", "application/merge-patch+json"


class Writer(Client):
    """A `ClusterClient`, which says what each request does. Use it in an `async with`."""

    def labelled(self, selector: str) -> Client:
        """Return a client for objects of a label selector only; it is closed with this one."""
        return Narrowed(self, {"labelSelector": selector})

    def within(self, namespace: str, fields: str) -> Client:
        """Return a client for objects of a namespace and a field selector only; it is closed with this one."""
        return Narrowed(self, {"fieldSelector": fields}, namespace)

    async def get(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any] | None:
        """Return one object as it is stored now, or None."""
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
