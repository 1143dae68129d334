"""Which servers are read, and what is shown of their metrics, whatever a pod answers."""

from typing import Any

import pytest
from aiohttp import web

from certs import Unavailable
from jobgate.console.reviews import ReviewStore
from jobgate.console.servers import MOST, Servers, health
from jobgate.installation.workload import ACCOUNT

LATENCY = "controller_runtime_webhook_latency_seconds"
TRUE = f"""
# TYPE {LATENCY} histogram
{LATENCY}_bucket{{webhook="/a",le="0.005"}} 3
{LATENCY}_bucket{{webhook="/b",le="0.005"}} 1
{LATENCY}_bucket{{webhook="/a",le="+Inf"}} 4
{LATENCY}_bucket{{webhook="/b",le="+Inf"}} 1
{LATENCY}_sum{{webhook="/a"}} 0.5
jobgate_cache_age_seconds{{resource="queues"}} +Inf
jobgate_connections 2
"""


@pytest.fixture(autouse=True)
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    async def status_of(*_: Any, **__: Any) -> Any:
        raise Unavailable("no cluster")

    monkeypatch.setattr("jobgate.console.servers.status_of", status_of)


async def of(metrics: str) -> dict[str, Any]:
    """The health of an installation with a server that has these metrics."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=metrics)

    app = web.Application()
    app.router.add_get("/metrics", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        client: Any = None
        servers = Servers(client, "jobgate-system", ReviewStore({}), [f"http://127.0.0.1:{runner.addresses[0][1]}"])
        return await health(client, "jobgate", servers, may_see_servers=True)
    finally:
        await runner.cleanup()


async def test_the_metrics_of_all_paths_are_added() -> None:
    shown = await of(TRUE)
    assert shown["latency"] == {
        "count": 5,
        "sumSeconds": 0.5,
        "buckets": [{"le": 0.005, "count": 4}, {"le": None, "count": 5}],
    }
    (server,) = shown["replicas"]
    assert (server["connections"], server["requests"], server["ready"]) == (2, None, True)
    assert server["caches"] == [{"resource": "queues", "ageSeconds": None, "unkept": 0.0}]


@pytest.mark.parametrize(
    "forged",
    [f"{LATENCY}_bucket 1\n", f'{LATENCY}_bucket{{le="x"}} 1\n', f"{LATENCY}_bucket{{le=", "{", "a b c d e\n", "\x00\n", "\ud7ff" * 9],
)  # fmt: skip
async def test_forged_metrics_make_no_fault(forged: str) -> None:
    shown = await of(forged)
    assert shown["latency"] is None
    assert len(shown["replicas"]) == 1


async def test_a_forged_bucket_does_not_hide_the_others() -> None:
    assert (await of(f"{TRUE}{LATENCY}_bucket 1\n"))["latency"]["count"] == 5


class Pods:
    """A client of a cluster with a number of servers."""

    def __init__(self, number: int) -> None:
        self.number = number

    def labelled(self, *_: str) -> "Pods":
        return self

    async def list(self, _: Any) -> Any:
        running = {"spec": {"serviceAccountName": ACCOUNT}, "status": {"phase": "Running"}}
        return [{"metadata": {"name": f"a-{each}", "uid": f"{each}"}, **running} for each in range(self.number)], "1"


@pytest.mark.parametrize(
    "number, read, fault",
    [
        (MOST, MOST, ""),
        (MOST + 2, MOST, f"nothing of 2 servers is shown: the console reads at most {MOST}"),
        (0, 0, "no server runs in namespace jobgate-system"),
    ],
)
async def test_servers_are_read_up_to_a_number(number: int, read: int, fault: str) -> None:
    client: Any = Pods(number)
    servers = Servers(client, "jobgate-system", ReviewStore({}))
    await servers._look()
    assert (len(servers.known), servers.fault) == (read, fault)
