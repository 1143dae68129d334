"""Lists are read page by page, in pages of bounded size, and no object is held longer than it is looked at."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from jobgate.cluster import Informer, Resource, client, informer
from jobgate.cluster.client import Client
from tests.cluster.listing import Listing, client_of, serving

THINGS = Resource("things", "v1", "example.com")
KIB = 1024


def thing(name: str, size: int = 0) -> bytes:
    """An object of some size, with a number that a float does not hold."""
    metadata = {"name": name, "namespace": "team", "resourceVersion": "1"}
    return json.dumps({"metadata": metadata, "number": 2**53 + 1, "padding": ["x" * 100] * (size // 104)}).encode()


def things(count: int, size: int = 0) -> Sequence[bytes]:
    return [thing(f"thing-{number:04}", size) for number in range(count)]


@pytest.mark.parametrize(
    "found, limits",
    [
        ((), [100]),
        (things(1), [100]),
        (things(100), [100]),
        (things(250), [100, 100, 100]),
        # A page of 100 is 200 KiB then, and one of 6 fits.
        (things(14, 16 * KIB), [100, 25, 6, 6, 6]),
        # One alone is read, whatever its size.
        (things(2, 200 * KIB), [100, 25, 6, 1, 1]),
    ],
    ids=["none", "one", "a page", "pages", "large ones", "larger than a page"],
)
async def test_a_list_comes_in_pages_of_bounded_size(
    found: Sequence[bytes], limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PAGE_BYTES", 128 * KIB)
    async with serving(Listing(things=found)) as listing, client_of(listing) as reader:
        items, version = await reader.list(THINGS)
    assert [json.dumps(item).encode() for item in items] == list(found)
    assert version == "7"
    assert listing.limits == limits


async def test_an_event_of_any_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    large = json.dumps({"type": "ADDED", "object": {"padding": "x" * 6 * KIB * KIB}}).encode()
    monkeypatch.setattr(Listing, "events", [b'{"type":"A"', b'}\n{"type":"B"}\n', large, b"\n"])
    async with serving(Listing()) as listing, client_of(listing) as reader:
        events = [event async for event in reader.watch(THINGS, "1")]
    assert [event["type"] for event in events] == ["A", "B", "ADDED"]


async def test_a_list_takes_the_memory_of_a_page_and_not_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAGE_BYTES", 512 * KIB)
    peaks = [await _peak(count) for count in (32, 256)]
    # 64 KiB each: the second list has 16 MiB.
    assert peaks[1] < peaks[0] + 1024 * KIB
    assert peaks[1] < 6 * 1024 * KIB


async def _peak(count: int) -> int:
    """Return the bytes that are taken at most while an informer lists so many objects."""
    known = Informer(THINGS, keep=lambda found: found["metadata"]["name"])
    async with serving(Listing(things=things(count, 64 * KIB))) as listing, client_of(listing) as reader:
        gc.collect()
        tracemalloc.start()
        task = asyncio.create_task(known.run(reader))
        while not known.settled:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert len(known.keys()) == count
    return peak


async def test_large_objects_are_read_aside_and_small_ones_here() -> None:
    here = asyncio.get_running_loop()

    def where(_: dict[str, Any]) -> bool:
        try:
            return asyncio.get_running_loop() is here
        except RuntimeError:
            return False

    known = Informer(THINGS, keep=where)
    result = [thing("small"), thing("large", 2 * informer.LARGE)]
    async with serving(Listing(things=result)) as listing, client_of(listing) as reader:
        task = asyncio.create_task(known.run(reader))
        while not known.settled:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        task.cancel()
    assert [key for key, _ in groupby([known.get("small", "team"), known.get("large", "team")])] == [True, False]


async def test_a_real_api_server_goes_on_with_smaller_pages(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{size}-{number:02}" for size in ("a-small", "b-large") for number in range(20)]
    for name in names:
        data = {"text": "x" * 60 * KIB if "large" in name else ""}
        body = {"metadata": {"name": name}, "data": data}
        assert cluster_api.post(f"/api/v1/namespaces/{namespace}/configmaps", body)[0] == 201
    monkeypatch.setattr(client, "PAGE_OBJECTS", 12)
    monkeypatch.setattr(client, "PAGE_BYTES", 256 * KIB)
    async with await Client.connect(controlplane.kubeconfig) as reader:
        result, version = await reader.within(namespace).list(Resource("configmaps", "v1", ""))
    assert [each["metadata"]["name"] for each in result] == names
    assert int(version)
