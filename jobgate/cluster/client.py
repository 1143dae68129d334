"""A client of the API server, over the raw calls of the package `kubernetes`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote
from urllib.request import getproxies_environment

import msgspec
import orjson
from aiohttp import ClientResponse, ClientTimeout
from kubernetes.aio import config
from kubernetes.aio.client import ApiClient, Configuration

from jobgate.cluster.informer import ApiError, Page, Pages
from jobgate.cluster.resource import Resource
from webhook import trace

#: Duration of a watch, in seconds: a dead connection is noticed then.
WATCH = 120
#: Timeout of a read of one object, in seconds: a request waits for it.
GET = 2.0
_CONNECT, _MARGIN = 10.0, 15.0
_NOT_FOUND = 404


class _ListMeta(msgspec.Struct):
    version: str = msgspec.field(name="resourceVersion", default="")
    token: str = msgspec.field(name="continue", default="")


class _List(msgspec.Struct):
    """A page of a list: its objects stay text until they are asked for, one by one."""

    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


_read_list = msgspec.json.Decoder(_List).decode


class Client:
    """Lists, watches and gets. Use it in an `async with`."""

    def __init__(self, api: ApiClient, pages: Pages | None = None) -> None:
        self._api = api
        self._pages = pages or Pages()

    @classmethod
    async def connect(cls, kubeconfig: Path | None = None, pages: Pages | None = None) -> Self:
        """Return a client with the credentials of a kubeconfig, or else of the pod that this runs in.

        Raises:
            kubernetes.config.ConfigException: there are none.
        """
        configuration = Configuration()
        if kubeconfig is None:
            config.load_incluster_config(client_configuration=configuration)
        else:
            await config.load_kube_config(
                config_file=str(kubeconfig), client_configuration=configuration, persist_config=False
            )
        # Where no proxy is set, the environment says nothing else: asking it costs two changes of thread a request.
        configuration.client_session_kwargs = {"trust_env": bool(getproxies_environment())}
        return cls(ApiClient(configuration), pages)

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
        limit, token = self._pages.objects, ""
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
        response = await self._get(resource.path, params, ClientTimeout(total=60, connect=_CONNECT))
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > self._pages.bytes and limit > 1:
                response.close()
                return None
        return _read_list(body)

    async def get(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any] | None:
        """Return one object as it is stored now, or None."""
        path = resource.path_of(name, namespace)
        try:
            response = await self._get(path, {}, ClientTimeout(total=GET))
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        found: dict[str, Any] = orjson.loads(await response.read())
        return found

    async def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events since a resourceVersion, until the API server ends them."""
        params = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH),
        }
        response = await self._get(resource.path, params, ClientTimeout(total=WATCH + _MARGIN, connect=_CONNECT))
        try:
            async for line in response.content:
                yield orjson.loads(line)
        finally:
            response.close()

    def named(self, name: str, namespace: str) -> Client:
        """Return a client for one object: rights to `list` and `watch` it by `resourceNames` are enough."""
        # An API server grants a right to one name by this selector, and by no other.
        return Narrowed(self, {"fieldSelector": f"metadata.name={name}"}, namespace)

    async def _get(self, path: str, params: Mapping[str, str], limits: ClientTimeout) -> ClientResponse:
        request = await self._api.param_serialize(
            "GET",
            path,
            query_params=list(params.items()),
            header_params={"Accept": "application/json", **trace.passed_on()},
            auth_settings=["BearerToken"],
        )
        answer = await self._api.call_api(*request, _request_timeout=limits)
        if answer.status != 200:
            answer.response.release()
            raise ApiError(answer.status)
        response: ClientResponse = answer.response
        return response

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._api.close()


class Narrowed(Client):
    """A client for some objects only, over the connection of another client, with which it is closed.

    The selector is query parameters, as `labelSelector`; without a namespace, objects of all are listed.
    """

    def __init__(self, client: Client, selector: Mapping[str, str], namespace: str = "") -> None:
        super().__init__(client._api, client._pages)
        self._selector = selector
        self._namespace = namespace

    async def _get(self, path: str, params: Mapping[str, str], limits: ClientTimeout) -> ClientResponse:
        prefix, _, plural = path.rpartition("/")
        within = f"{prefix}/namespaces/{quote(self._namespace, safe='')}/{plural}" if self._namespace else path
        return await super()._get(within, {**params, **self._selector}, limits)
