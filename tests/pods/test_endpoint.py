"""Pods over the wire: the routes beside those of kinds, what is counted, and when the server is ready."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.wiring import PATHS
from jobgate.pods import PodReviewer
from jobgate.serving.metrics import PRODUCT
from tests.pods.pods import NAMESPACE, OTHER_UID, Cluster, Known, job, pod, reviewer
from tests.webhook.kind import KINDS, admission_review
from tests.webhook.server.conftest import generation, shown
from tests.webhook.server.wire import PATIENCE, Listening, Running, Shown, post, until
from webhook import Phase, Request, Response
from webhook.server import Endpoint, Route, listen, serve

__all__ = ["generation", "shown"]

MUTATE, VALIDATE = PATHS[Phase.MUTATE], PATHS[Phase.VALIDATE]


class Server:
    """A server that answers for pods, and what it has been given."""

    def __init__(self, pods: PodReviewer) -> None:
        further = {path: Route("pods", phase, partial(pods.review, phase=phase)) for phase, path in PATHS.items()}
        self.endpoint = Endpoint(KINDS, Settings(), product=PRODUCT, further=further)


async def serving(endpoint: Endpoint[Settings], files: Shown) -> AsyncIterator[Running]:
    stop: asyncio.Event = asyncio.Event()
    with listen("127.0.0.1", 0, 0) as sockets:
        served = asyncio.create_task(serve(endpoint, files.context, sockets, stop=stop, finish=0.5))
        server = Running(Listening(*sockets.ports().values()), endpoint, files.client, stop, served)
        yield server
        for connection in server.connections:
            await connection.close()
        stop.set()
        async with asyncio.timeout(PATIENCE):
            await served


@pytest.fixture
async def server(shown: Shown) -> AsyncIterator[Running]:
    """A server that knows one job."""
    async for each in serving(Server(reviewer(Known(job()), Cluster(job()))).endpoint, shown):
        yield each


def asked(document: Any, path: str = MUTATE, **fields: Any) -> bytes:
    """The bytes of a review of a pod."""
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    review = admission_review(document, kind=kind, namespace=NAMESPACE, name="", **fields)
    return post(json.dumps(review).encode(), f"{path}?timeout=5s")


def patch_of(response: dict[str, Any]) -> Any:
    return json.loads(base64.b64decode(response["patch"]))


@pytest.mark.parametrize(
    "document, path, verdict",
    [
        (pod(1), MUTATE, "patched"),
        (pod(1), VALIDATE, "denied"),
        (pod(2), MUTATE, "later"),
        (pod(0, uid=OTHER_UID), MUTATE, "denied"),
        (pod(0, name="gone", uid=None), MUTATE, "allowed"),
        ({"metadata": {"labels": {}}}, MUTATE, "foreign"),
        ("x", VALIDATE, "foreign"),
    ],
)
async def test_each_verdict_is_answered_and_counted(server: Running, document: Any, path: str, verdict: str) -> None:
    answer = await server.ask(asked(document, path))
    assert answer.code == 200
    assert answer.response["allowed"] is (verdict in {"patched", "allowed", "foreign"})
    phase = "mutate" if path == MUTATE else "validate"
    sample = f'jobgate_reviews_total{{kind="pods",phase="{phase}",verdict="{verdict}"}}'
    assert (await server.metrics())[sample] == 1


async def test_a_pod_is_wired_over_the_wire(server: Running) -> None:
    patch = patch_of((await server.ask(asked(pod(1)))).response)
    assert {
        "op": "add",
        "path": "/spec/containers/0/env/0",
        "value": {"name": "DI_JOB_ID", "value": "team/train"},
    } in patch


async def test_a_client_is_told_when_to_come_again(server: Running) -> None:
    status = (await server.ask(asked(pod(2)))).response["status"]
    assert (status["code"], status["details"]["retryAfterSeconds"]) == (429, 1)


async def test_a_reviewer_that_fails_is_a_failure_of_ours_and_of_one_request_only(shown: Shown) -> None:
    async def fails(_: Request) -> Response | None:
        raise SystemExit(3)

    endpoint = Endpoint(KINDS, Settings(), further={"/x": Route("pods", Phase.MUTATE, fails)})
    async for server in serving(endpoint, shown):
        for _ in range(2):
            assert (await server.ask(asked(pod(), "/x"))).code == 500
        assert (await server.metrics())["controller_runtime_webhook_panics_total"] == 2


async def test_while_one_pod_is_looked_up_others_are_answered(shown: Shown) -> None:
    go = asyncio.Event()
    cluster = Cluster(job(name="new"), slow=go)
    async for server in serving(Server(reviewer(Known(job()), cluster)).endpoint, shown):
        waiting = asyncio.create_task(server.ask(asked(pod(0, name="new"))))
        await until(lambda: bool(cluster.asked))
        assert (await server.ask(asked(pod(1)))).response["allowed"]
        assert not waiting.done()
        go.set()
        assert patch_of((await waiting).response)


async def test_the_server_is_ready_when_what_it_waits_for_is_there(server: Running) -> None:
    server.endpoint.waits_for = lambda: "dijobs.diengine.opendilab.org"
    answer = await server.probe("/readyz")
    assert (answer.code, answer.body) == (503, b"waiting for dijobs.diengine.opendilab.org\n")
    assert (await server.probe("/healthz")).code == 200
    server.endpoint.waits_for = lambda: ""
    assert (await server.probe("/readyz")).code == 200
