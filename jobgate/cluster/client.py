"""A client of the API server, over the raw calls of the package `kubernetes`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.request import getproxies_environment

import msgspec
import orjson
from aiohttp import ClientError, ClientResponse, ClientTimeout
from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from jobgate.cluster.clock import ServerTime
from jobgate.cluster.informer import ApiError, Page
from jobgate.cluster.resource import Resource
from webhook import trace

#: Duration of a watch, in seconds. The API server sends a bookmark before it ends one, so a connection without any data
#: is noticed `_MARGIN` later, before the cache is `STALE`.
WATCH = 40
#: Timeout of a read of one object, in seconds: a request waits for it.
GET = 2.0
#: Timeout of a write, in seconds. Admission webhooks take a part of it.
WRITE = 15.0
#: Most objects and bytes of a page of a list. A larger page is requested again with fewer objects, so that objects of a
#: MiB each take no more memory than small ones. A single object is read whatever its size.
PAGE_OBJECTS, PAGE_BYTES = 100, 8 * 1024 * 1024
_CONNECT, _MARGIN = 10.0, 10.0
_FORBIDDEN, _NOT_FOUND = 403, 404
_JSON, _MERGE = "application/json", "application/merge-patch+json"


class _ListMeta(msgspec.Struct):
    version: str = msgspec.field(name="resourceVersion", default="")
    token: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct):
    """A page of a list: its objects stay text until they are asked for, one by one."""

    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


_read_list = msgspec.json.Decoder(_List).decode


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


class Client:
    """A `ClusterClient`, which says what each request does. Use it in an `async with`.

    Clients that are made of it, for some objects only or with a rate limit, use its connection, and close with it.
    """

    def __init__(
        self,
        api: ApiClient,
        *,
        selector: Mapping[str, str] | None = None,
        namespace: str = "",
        pace: Pace | None = None,
        time: ServerTime | None = None,
    ) -> None:
        """Create a client; `selector` and `namespace` are those of lists and watches, `pace` of all other requests.

        `time` follows the responses.
        """
        self._api = api
        self._selector = selector or {}
        self._namespace = namespace
        self._pace = pace
        self.time = time or ServerTime()

    @classmethod
    async def connect(cls, kubeconfig: Path | None = None) -> Self:
        """Return a client with the credentials of a kubeconfig, or else of the pod that this runs in.

        Raises:
            kubernetes.config.ConfigException: there are none, or the file is no kubeconfig.
        """
        configuration = Configuration()
        if kubeconfig is None:
            config.load_incluster_config(client_configuration=configuration)
        else:
            try:
                await config.load_kube_config(
                    config_file=str(kubeconfig), client_configuration=configuration, persist_config=False
                )
            except (AttributeError, TypeError):  # what the library makes of YAML that is no object
                raise config.ConfigException(f"{kubeconfig} is no kubeconfig") from None
        # Where no proxy is set, the environment says nothing else: asking it costs two changes of thread a request.
        configuration.client_session_kwargs = {"trust_env": bool(getproxies_environment())}
        return cls(ApiClient(configuration))

    async def list(self, resource: Resource) -> tuple[list[dict[str, Any]], str]:
        """Return all objects, which must be few and small, and the resourceVersion of the list."""
        items: list[dict[str, Any]] = []
        version = ""
        async for page in self.pages(resource):
            items += page.items
            version = page.version
        return items, version

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        """Yield all objects, page by page. An object is parsed when it is taken from its page."""
        limit, token = PAGE_OBJECTS, ""
        while True:
            page = await self._page(resource, limit, token)
            if page is None:
                limit = max(limit // 4, 1)
                continue
            yield Page((orjson.loads(memoryview(item)) for item in page.items or ()), page.metadata.version)
            token = page.metadata.token
            if not token:
                return

    async def _page(self, resource: Resource, limit: int, token: str) -> _List | None:
        """Return at most `limit` objects from a place in the list on, or None if a page cannot hold them."""
        params = {"limit": str(limit), **({"continue": token} if token else {})}
        body = bytearray()
        with _answered():
            response = await self._select(resource, params, ClientTimeout(total=60, connect=_CONNECT))
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > PAGE_BYTES and limit > 1:
                    response.close()
                    return None
        return _read_list(body)

    async def get(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any] | None:
        """Return one object as it is stored now, or None."""
        if self._pace is not None:
            await self._pace.wait()
        try:
            with _answered():
                response = await self._get(resource.path_of(name, namespace), {}, ClientTimeout(total=GET))
                found: dict[str, Any] = orjson.loads(await response.read())
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        return found

    async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events since a resourceVersion, until the API server ends them."""
        params = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH),
        }
        response = await self._select(resource, params, ClientTimeout(total=WATCH + _MARGIN, connect=_CONNECT))
        try:
            # A line has no limit, as a page of one object has none: a large object would end each watch.
            line = bytearray()
            async for chunk in response.content.iter_any():
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    line += end
                    yield orjson.loads(line)
                    line.clear()
                line += rest
        finally:
            response.close()

    def named(self, name: str, namespace: str) -> Client:
        """Return a client for one object: rights to `list` and `watch` it by `resourceNames` are enough."""
        # An API server grants a right to one name by this selector, and by no other.
        return self.within(namespace, f"metadata.name={name}")

    def labelled(self, selector: str, namespace: str = "") -> Client:
        """Return a client for objects of a label selector, in a namespace or in all."""
        labels = {"labelSelector": selector} if selector else {}
        return Client(self._api, selector=labels, namespace=namespace, time=self.time)

    def within(self, namespace: str, fields: str = "") -> Client:
        """Return a client for objects of a namespace, and of a field selector."""
        selector = {"fieldSelector": fields} if fields else {}
        return Client(self._api, selector=selector, namespace=namespace, time=self.time)

    def paced(self, per_second: float) -> Client:
        """Return a client with a rate limit."""
        return Client(self._api, pace=Pace(per_second), time=self.time)

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
        query = {**params, "fieldManager": "jobgate"} if method != "DELETE" else {}
        with _answered():
            limits = ClientTimeout(total=WRITE)
            answer = await self._request(method, path, query, {"Content-Type": content}, limits, dict(body))
            text = await answer.response.read()
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            document = {}  # of something between us and the API server
        if not isinstance(document, dict) or not 200 <= answer.status < 300:
            raise rejection(resource, answer.status, document if isinstance(document, dict) else {})
        return document

    async def _select(self, resource: Resource, params: Mapping[str, str], limits: ClientTimeout) -> ClientResponse:
        """Ask for objects of the selector."""
        path = resource.path_of("", self._namespace).rstrip("/")
        return await self._get(path, {**params, **self._selector}, limits)

    async def _get(self, path: str, params: Mapping[str, str], limits: ClientTimeout) -> ClientResponse:
        answer = await self._request("GET", path, params, trace.passed_on(), limits)
        if answer.status != 200:
            answer.response.release()
            raise ApiError(answer.status)
        response: ClientResponse = answer.response
        return response

    async def _request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        limits: ClientTimeout,
        body: dict[str, Any] | None = None,
    ) -> Any:
        request = await self._api.param_serialize(
            method,
            path,
            query_params=list(params.items()),
            header_params={"Accept": _JSON, **headers},
            body=body,
            auth_settings=["BearerToken"],
        )
        answer = await self._api.call_api(*request, _request_timeout=limits)
        self.time.heard(answer.response.headers.get("Date", ""))
        return answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._api.close()


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
        if isinstance(error, OSError):
            raise
        raise ConnectionError(f"{type(error).__qualname__}: {error}") from error


def _identity(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the preconditions under which an object is still as it was found."""
    metadata = found["metadata"]
    return {key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata}


def _path(resource: Resource, found: Mapping[str, Any]) -> str:
    return resource.path_of(found["metadata"]["name"], found["metadata"].get("namespace", ""))
