"""A client of the API server, over the raw calls of the package `kubernetes`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl
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
#: Timeout of a write, in seconds, including its admission webhooks.
WRITE = 15.0
#: Most objects and bytes of a page of a list. A larger page is requested again with fewer objects, so that objects of a
#: MiB each take no more memory than small ones. A page with a single object has no limit.
PAGE_OBJECTS, PAGE_BYTES = 100, 8 * 1024 * 1024
_CONNECT, _MARGIN = 10.0, 10.0
_FORBIDDEN, _NOT_FOUND = 403, 404
_JSON, _MERGE = "application/json", "application/merge-patch+json"


class _ListMeta(msgspec.Struct):
    version: str = msgspec.field(name="resourceVersion", default="")
    token: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct):
    """A page of a list. Each object is parsed when it is read."""

    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


_read_list = msgspec.json.Decoder(_List).decode


class Pace:
    """Rate limiter with a burst of two seconds."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1.0 / per_second
        self._burst = 2.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait until the next call may be made."""
        now = time.monotonic()
        # Unused time allows a burst; calls beyond it wait.
        self._next = max(self._next, now - self._burst) + self._interval
        if self._next > now:
            await asyncio.sleep(self._next - now)


class Client:
    """A `ClusterClient`. Use it in an `async with`.

    Clients derived from it, for some objects only or with a rate limit, share its connection, and close with it.
    """

    def __init__(
        self,
        api: ApiClient,
        *,
        selector: Mapping[str, str] | None = None,
        namespace: str = "",
        pace: Pace | None = None,
        time: ServerTime | None = None,
        token: str = "",
    ) -> None:
        """Create a client.

        `selector` and `namespace` apply to lists and watches, `pace` to all other requests. Responses set `time`. With
        a `token`, requests are made as who has it.
        """
        self._api = api
        self._selector = selector or {}
        self._namespace = namespace
        self._pace = pace
        self._token = token
        self.time = time or ServerTime()

    @classmethod
    async def connect(cls, kubeconfig: Path | None = None) -> Self:
        """Return a client with the credentials of a kubeconfig, or of the pod's service account.

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
            except (AttributeError, TypeError):  # raised by the library if the YAML is not a mapping
                raise config.ConfigException(f"{kubeconfig} is no kubeconfig") from None
        # Only proxies are read from the environment. Without them, reading it would cost two thread switches a request.
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
        """Return at most `limit` objects, or None if they exceed a page."""
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
        """Return the stored object, or None."""
        if self._pace is not None:
            await self._pace.wait()
        try:
            with _answered():
                response = await self._get(resource.path_of(name, namespace), {}, ClientTimeout(total=GET))
                document: dict[str, Any] = orjson.loads(await response.read())
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        return document

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
            # A line has no limit, like a page with a single object: otherwise a large object would end each watch.
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
        """Return a client for one object: permission to `list` and `watch` it by `resourceNames` is enough."""
        # With this field selector only, an API server applies `resourceNames` to lists and watches.
        return self.within(namespace, f"metadata.name={name}")

    def labelled(self, selector: str, namespace: str = "") -> Client:
        """Return a client for objects with certain labels, in one namespace or in all."""
        labels = {"labelSelector": selector} if selector else {}
        return Client(self._api, selector=labels, namespace=namespace, time=self.time, token=self._token)

    def within(self, namespace: str, fields: str = "") -> Client:
        """Return a client for objects in a namespace, with a field selector."""
        selector = {"fieldSelector": fields} if fields else {}
        return Client(self._api, selector=selector, namespace=namespace, time=self.time, token=self._token)

    def paced(self, per_second: float) -> Client:
        """Return a client with a rate limit."""
        return Client(self._api, pace=Pace(per_second), time=self.time, token=self._token)

    def acting_as(self, token: str) -> Client:
        """Return a client that makes requests as who has a token.

        Raises:
            ValueError: this client shows a certificate, which would also say who asks.
        """
        if self._api.configuration.cert_file:
            raise ValueError("a client with a certificate cannot act for others")
        return Client(self._api, time=self.time, token=token)

    @property
    def server(self) -> str:
        """The address of the API server."""
        return str(self._api.configuration.host)

    async def token(self, account: str, namespace: str, audience: str) -> str:
        """Return a token of a service account for an audience, for an hour."""
        accounts = Resource("serviceaccounts", "v1", "")
        spec = {"audiences": [audience], "expirationSeconds": 3600}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = await self._write("POST", accounts, f"{accounts.path_of(account, namespace)}/token", body, {}, _JSON)
        return str(answer["status"]["token"])

    async def of_pod(
        self, pod: str, namespace: str, port: int, path: str, headers: Mapping[str, str], *, silence: float
    ) -> ClientResponse:
        """Return the answer of a port of a pod, through the API server; it ends after seconds without any data."""
        address = Resource("pods", "v1", "").path_of(f"{pod}:{port}", namespace)
        limits = ClientTimeout(total=None, connect=_CONNECT, sock_read=silence)
        path, _, query = path.partition("?")
        with _answered():
            return await self._get(f"{address}/proxy{path}", dict(parse_qsl(query)), limits, headers)

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> dict[str, Any]:
        """Create an object; `dry` only validates it."""
        path = resource.path_of("", manifest["metadata"].get("namespace", "")).rstrip("/")
        return await self._write("POST", resource, path, manifest, {"dryRun": "All"} if dry else {}, _JSON)

    async def patch(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Change an object by a merge patch; 409 if it has changed since it was read."""
        metadata = {**changes.get("metadata", {}), **_identity(observed)}
        return await self._write(
            "PATCH", resource, _path(resource, observed), {**changes, "metadata": metadata}, {}, _MERGE
        )

    async def delete(
        self, resource: Resource, observed: Mapping[str, Any], propagation: str = "", *, force: bool = False
    ) -> None:
        """Delete an object; 409 if it has changed since it was read."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": _identity(observed),
            **({"propagationPolicy": propagation} if propagation else {}),
            **({"gracePeriodSeconds": 0} if force else {}),
        }
        await self._write("DELETE", resource, _path(resource, observed), options, {}, _JSON)

    async def set_status(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Change the status of an object by a merge patch; 409 if it has changed since it was read."""
        body = {"metadata": _identity(observed), "status": dict(changes)}
        return await self._write("PATCH", resource, f"{_path(resource, observed)}/status", body, {}, _MERGE)

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
            document = {}  # from a proxy, not from the API server
        if not isinstance(document, dict) or not 200 <= answer.status < 300:
            raise rejection(resource, answer.status, document if isinstance(document, dict) else {})
        return document

    async def _select(self, resource: Resource, params: Mapping[str, str], limits: ClientTimeout) -> ClientResponse:
        """Get the objects of the selector."""
        path = resource.path_of("", self._namespace).rstrip("/")
        return await self._get(path, {**params, **self._selector}, limits)

    async def _get(
        self, path: str, params: Mapping[str, str], limits: ClientTimeout, headers: Mapping[str, str] | None = None
    ) -> ClientResponse:
        answer = await self._request("GET", path, params, {**trace.passed_on(), **(headers or {})}, limits)
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
        own = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = await self._api.param_serialize(
            method,
            path,
            query_params=list(params.items()),
            header_params={"Accept": _JSON, **headers, **own},
            body=body,
            auth_settings=[] if own else ["BearerToken"],
        )
        answer = await self._api.call_api(*request, _request_timeout=limits)
        self.time.heard(answer.response.headers.get("Date", ""))
        return answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._api.close()


def rejection(resource: Resource, code: int, status: Mapping[str, Any]) -> ApiError:
    """Return the error that a Status describes."""
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    after = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    reasons = {cause.get("reason") for cause in causes or () if isinstance(cause, dict)}
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


def _identity(observed: Mapping[str, Any]) -> dict[str, str]:
    """Return the preconditions that fail if an object has changed since it was read."""
    metadata = observed["metadata"]
    return {key: metadata[key] for key in ("uid", "resourceVersion") if key in metadata}


def _path(resource: Resource, observed: Mapping[str, Any]) -> str:
    return resource.path_of(observed["metadata"]["name"], observed["metadata"].get("namespace", ""))
