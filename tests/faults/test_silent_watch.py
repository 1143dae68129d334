"""A watch that stays open, but sends no events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from controlplane.client import ClusterApi
from controlplane.faulty import Fault, FaultyProxy
from controlplane.plane import ControlPlane
from jobgate.cluster import Cache, client, informer
from jobgate.cluster.client import Client
from tests.cluster.test_informer import QUICK, until
from tests.faults.cluster import shown

NAMESPACES = "namespaces.v1."


@asynccontextmanager
async def caching(proxy: FaultyProxy) -> AsyncIterator[Cache]:
    cache = Cache([NAMESPACES], QUICK)
    async with await Client.connect(proxy.kubeconfig) as api, asyncio.TaskGroup() as group:
        running = group.create_task(cache.run(api))
        yield cache
        running.cancel()


def label(cache: Cache, namespace: str) -> str | None:
    """Return the label of a namespace in the cache; `unknown` if the cache is not filled."""
    try:
        stored = cache.get(NAMESPACES, namespace)
    except LookupError:
        return "unknown"
    return None if stored is None else str(stored["metadata"]["labels"].get("seen"))


async def test_a_silent_watch_is_noticed_and_a_stale_cache_is_discarded(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All times are a twentieth of the real ones."""
    assert client.WATCH + client._MARGIN < informer.STALE, "one silent watch does not discard the cache"
    monkeypatch.setattr(client, "WATCH", client.WATCH // 20)
    monkeypatch.setattr(client, "_MARGIN", client._MARGIN / 20)
    monkeypatch.setattr(informer, "STALE", informer.STALE / 20)

    def write(seen: str) -> None:
        body = {"metadata": {"labels": {"seen": seen}}}
        assert cluster_api.patch(f"/api/v1/namespaces/{namespace}", body)[0] == 200

    with FaultyProxy(controlplane) as proxy:
        async with caching(proxy) as cache:
            loop = asyncio.get_running_loop()
            write("first")
            await until(lambda: label(cache, namespace) == "first")

            proxy.silent, begun = True, loop.time()
            write("second")
            await asyncio.sleep(0.5)
            assert label(cache, namespace) == "first", "the event has not arrived"
            proxy.silent = False
            await until(lambda: label(cache, namespace) == "second", 2 * (client.WATCH + client._MARGIN))
            noticed = loop.time() - begun

            proxy.silent, begun = True, loop.time()
            proxy.fault = lambda call: Fault() if call.watches else None
            write("third")
            await until(lambda: label(cache, namespace) == "unknown", 3 * (client.WATCH + client._MARGIN))
            unknown = loop.time() - begun
            await until(lambda: label(cache, namespace) == "third")
            listed = loop.time() - begun
    shown(f"silent: noticed after {noticed:.1f} s, unknown after {unknown:.1f} s, listed again after {listed:.1f} s")
