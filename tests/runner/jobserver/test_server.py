"""The server of jobs, over TLS, with an API server in memory."""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from certs import issue_generation, service_names
from controlplane.plane import reserve_port
from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.kinds.dijob import DIJOB
from jobgate.plugins.crew import RUN_LABEL, TASK_LABEL
from jobgate.pods.budget import Budget
from jobgate.runner.jobserver import server as module
from jobgate.runner.jobserver.access import AUDIENCE
from jobgate.runner.jobserver.server import JobServer
from tests.runner.world import UID, dijob, merge, stored, task
from webhook.server.limits import Limits

ELASTIC = "jobgate.dev/elastic"
PATH = "/v2alpha1/job/lab.train"


class Cluster:
    """An API server with a job, and pods with tokens."""

    def __init__(self) -> None:
        job = dijob(task(1, "learner"), task(2, "collector"), minReplicas=2, maxReplicas=5)
        self.job = stored(job)
        self.job["metadata"]["annotations"][ELASTIC] = "true"
        self.job["status"]["jobgate"] |= {"sizes": {"collector": 2}}
        self.job["metadata"]["resourceVersion"] = "7"
        self.pods: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self.audiences = [AUDIENCE]
        self.reviews = 0
        self.error: Exception | None = None
        self.add("mine", "lab", UID)

    def add(self, name: str, namespace: str, job: str, **fields: Any) -> None:
        """Add a pod with the token `name`."""
        labels = {RUN_LABEL: job, TASK_LABEL: "collector"}
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels}
        self.pods[f"{namespace}/{name}"] = {"metadata": metadata, "status": {"phase": "Running"}, **fields}
        claims = {"pod-name": [name], "pod-uid": [f"uid-{name}"]}
        extra = {f"authentication.kubernetes.io/{key}": value for key, value in claims.items()}
        self.tokens[name] = {"username": f"system:serviceaccount:{namespace}:default", "extra": extra}

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        assert resource.plural == "tokenreviews"
        assert not dry
        assert manifest["spec"]["audiences"] == [AUDIENCE]
        self.reviews += 1
        if self.error:
            raise self.error
        user = self.tokens.get(manifest["spec"]["token"])
        return {
            "status": {"authenticated": True, "user": user, "audiences": self.audiences} if user else {"error": "no"}
        }

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        if resource.plural == "pods":
            return self.pods.get(f"{namespace}/{name}")
        return self.job if (name, namespace) == ("train", "lab") else None

    async def set_status(
        self, resource: Resource, observed: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        assert resource.plural == "dijobs"
        assert observed["metadata"]["uid"] == UID
        if self.error:
            raise self.error
        self.job["status"] = self.job["status"] or {}
        merge(self.job["status"], changes)
        return self.job


class Client:
    """A pod that asks."""

    def __init__(self, session: ClientSession, server: JobServer, port: int) -> None:
        self.session, self.server, self.port = session, server, port

    async def ask(
        self, method: str, path: str = f"{PATH}/replicas", body: Any = None, token: str | None = "mine"
    ) -> tuple[int, dict[str, Any]]:
        """Return the status and the answer."""
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        async with self.session.request(
            method, f"https://127.0.0.1:{self.port}{path}", data=content, headers=headers
        ) as response:
            answer: dict[str, Any] = await response.json()
            assert set(answer) == {"success", "code", "message", "data"}
            assert answer["success"] is (response.status == 200)
            assert answer["code"] == int(response.status != 200)
            return response.status, answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    issue(tmp_path)
    return tmp_path


def issue(folder: Path) -> None:
    """Write a new certificate."""
    names = service_names("jobgate-di-server", "jobgate-system", extra_names=["127.0.0.1"])
    generation = issue_generation(names, datetime.now(UTC))
    for name, content in (
        ("ca.crt", generation.ca_certificate),
        ("tls.crt", generation.certificate),
        ("tls.key", generation.key),
    ):
        (folder / name).write_bytes(content)


@contextlib.asynccontextmanager
async def serving(cluster: Cluster, folder: Path) -> AsyncIterator[Client]:
    """Serve within the block."""
    with reserve_port() as reserved:
        port = reserved.getsockname()[1]
        server = JobServer(DIJOB, "svc.cluster.local", "127.0.0.1", "https://url", folder, port)
        assert server.access() is None
        running = asyncio.create_task(server.run(cluster))  # type: ignore[arg-type]
        while server.access() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        access = server.access()
        assert access is not None
        context = ssl.create_default_context(cadata=access.authority)
        try:
            async with ClientSession(connector=TCPConnector(ssl=context)) as session:
                yield Client(session, server, port)
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running


async def test_replicas_are_asked_for_within_the_bounds(folder: Path) -> None:
    cluster = Cluster()
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("GET")
        assert (code, answer["data"]) == (
            200,
            [
                f"train-{name}.di-train.lab.svc.cluster.local:22270"
                for name in ("learner-0", "collector-0", "collector-1")
            ],
        )
        code, answer = await client.ask("POST", body={"replicas": 2})
        assert (code, answer["message"]) == (200, "asked for 4 pods of task collector")
        expected = {"task": "collector", "asked": 4, "replicas": 2, "minReplicas": 1, "maxReplicas": 4}
        assert answer["data"] == expected
        assert cluster.job["status"]["jobgate"]["wishes"] == {"collector": 4}
        code, answer = await client.ask("POST", body={"replicas": 1})
        assert (code, answer["message"]) == (
            400,
            "task collector may have 1 to 4 pods, not 5: it asks for 4 now",
        )
        assert cluster.job["status"]["jobgate"]["wishes"] == {"collector": 4}
        code, answer = await client.ask("DELETE", body={"replicas": 3})
        assert (code, answer["data"]["asked"]) == (200, 1)
        assert (await client.ask("DELETE", body={"replicas": 1}))[0] == 400


@pytest.mark.parametrize("former", [{}, {"profilings": {"old": 1, "same": {"a": 1, "b": 2}}}])
async def test_metrics_replace_the_former_ones(folder: Path, former: dict[str, Any]) -> None:
    cluster = Cluster()
    cluster.job["status"] |= former
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("POST", f"{PATH}/profilings", {"loss": 0.5, "same": {"a": 1}})
        assert (code, answer["message"]) == (200, "successfully report profilings")
    assert cluster.job["status"]["profilings"] == {"loss": 0.5, "same": {"a": 1}}


@pytest.mark.parametrize("separator", [".", "/"])
async def test_a_job_is_named_as_di_server_or_as_di_job_id_names_it(folder: Path, separator: str) -> None:
    async with serving(Cluster(), folder) as client:
        assert (await client.ask("GET", f"/v2alpha1/job/lab{separator}train/replicas?x=y"))[0] == 404
        assert (await client.ask("GET", f"/v2alpha1/job/lab{separator}train/replicas"))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "message"),
    [
        ("POST", f"{PATH}/replicas", {"replicas": 0}, 400, 'must be {"replicas": n}'),
        ("POST", f"{PATH}/replicas", {"replicas": "1"}, 400, 'must be {"replicas": n}'),
        ("POST", f"{PATH}/replicas", {"replicas": True}, 400, 'must be {"replicas": n}'),
        ("POST", f"{PATH}/replicas", [], 400, 'must be {"replicas": n}'),
        ("POST", f"{PATH}/replicas", b"{", 400, "the body is not JSON"),
        ("POST", f"{PATH}/replicas", b'{"replicas": 1, "replicas": 2}', 400, "stands twice"),
        ("DELETE", f"{PATH}/replicas", None, 400, "the body is empty"),
        ("POST", f"{PATH}/profilings", [1], 400, "the body must be an object"),
        ("POST", f"{PATH}/profilings", b'{"a":' * 300 + b"1" + b"}" * 300, 400, "nested too deeply"),
        ("POST", f"{PATH}/profilings", b'{"a": "' + b"x" * 20_000 + b'"}', 413, "larger than 16384 bytes"),
        ("PUT", f"{PATH}/replicas", None, 404, "there are GET, POST and DELETE of"),
        ("GET", f"{PATH}/profilings", None, 404, "there are GET, POST and DELETE of"),
        ("GET", "/v1alpha1/job/lab.train/replicas", None, 404, "/v2alpha1/job/<namespace>.<name>/replicas"),
        ("GET", "/metrics", None, 404, "there are GET, POST and DELETE of"),
    ],
)
async def test_a_wrong_request_changes_nothing(
    folder: Path, method: str, path: str, body: Any, code: int, message: str
) -> None:
    cluster = Cluster()
    before = json.dumps(cluster.job)
    async with serving(cluster, folder) as client:
        found, answer = await client.ask(method, path, body)
    assert (found, message in answer["message"]) == (code, True), answer
    assert json.dumps(cluster.job) == before


async def test_a_job_that_is_not_elastic_says_so(folder: Path) -> None:
    cluster = Cluster()
    del cluster.job["status"]["jobgate"]["sizes"]
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("POST", body={"replicas": 1})
    assert (code, answer["message"][:25]) == (409, "the job is not elastic: i")


@pytest.mark.parametrize("token", [None, "", "none", "ended", "replaced", "gone", "unbound"])
async def test_a_caller_must_be_a_pod_that_runs(folder: Path, token: str | None) -> None:
    cluster = Cluster()
    cluster.add("ended", "lab", UID, status={"phase": "Succeeded"})
    cluster.add("replaced", "lab", UID)
    cluster.pods["lab/replaced"]["metadata"]["uid"] = "another"
    cluster.add("gone", "lab", UID)
    del cluster.pods["lab/gone"]
    cluster.tokens["unbound"] = {"username": "system:serviceaccount:lab:default"}
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("GET", token=token)
    assert (code, answer["message"]) == (
        401,
        "the token of a pod that runs is required, as Authorization: Bearer <…_TOKEN_FILE>",
    )


async def test_a_token_for_another_audience_is_none(folder: Path) -> None:
    cluster = Cluster()
    cluster.audiences = ["https://kubernetes.default.svc"]
    async with serving(cluster, folder) as client:
        assert (await client.ask("GET"))[0] == 401


@pytest.mark.parametrize(
    ("token", "namespace", "job", "path"),
    [
        ("other", "lab", "another-job", PATH),
        ("thief", "elsewhere", UID, PATH),
        ("mine", "lab", UID, "/v2alpha1/job/lab.none"),
        ("mine", "lab", UID, "/v2alpha1/job/elsewhere.train"),
    ],
)
async def test_a_pod_may_ask_for_its_own_job_only(
    folder: Path, token: str, namespace: str, job: str, path: str
) -> None:
    cluster = Cluster()
    cluster.add(token, namespace, job)
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("POST", f"{path}/replicas", {"replicas": 1}, token)
    named = path.rpartition("/")[2].replace(".", "/")
    assert (code, answer["message"]) == (403, f"pod {namespace}/{token} does not belong to DIJob {named}")
    assert "wishes" not in cluster.job["status"]["jobgate"]


@pytest.mark.parametrize("status", [None, {}, {"phase": "Running"}, {"jobgate": None}])
@pytest.mark.parametrize("path", [f"{PATH}/replicas", f"{PATH}/profilings"])
async def test_a_job_that_no_runner_has_taken_over_is_not_changed(folder: Path, status: Any, path: str) -> None:
    """In its namespace, which no runner serves, anyone may give a pod the label of the job."""
    cluster = Cluster()
    cluster.job["status"] = status
    async with serving(cluster, folder) as client:
        code, answer = await client.ask("POST", path, {"replicas": 1})
    assert (code, answer["message"]) == (409, "the runner of jobgate has not taken over DIJob lab/train")
    assert cluster.job["status"] == status


async def test_requests_are_limited_by_address_and_by_job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OF_JOB", (0.001, 3.0))
    monkeypatch.setattr(module, "OF_ADDRESS", (0.001, 5.0))
    cluster = Cluster()
    async with serving(cluster, folder) as client:
        answers = [await client.ask("GET") for _ in range(6)]
    assert [code for code, _ in answers] == [200, 200, 200, 429, 429, 429]
    assert [answer["message"].partition(":")[0] for _, answer in answers[3:]] == [
        "too many requests of this job",
        "too many requests of this job",
        "too many requests",
    ]
    assert cluster.reviews == 5


@pytest.mark.parametrize("error", [ApiError(409, "Conflict"), ApiError(500), OSError("down"), KeyError("bug")])
async def test_a_write_that_fails_can_be_repeated(folder: Path, error: Exception) -> None:
    cluster = Cluster()
    async with serving(cluster, folder) as client:
        cluster.error = error
        code, answer = await client.ask("POST", body={"replicas": 1})
        assert (code, "try again" in answer["message"]) == (503, True)
        cluster.error = None
        assert (await client.ask("POST", body={"replicas": 1}))[0] == 200


async def test_a_slow_client_is_cut_off_and_keeps_nobody_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", Limits(body=100, header_time=0.5, body_time=0.5, unused_time=0.5))
    async with serving(Cluster(), folder) as client:
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        heads = [b"", b"POST /v2", f"POST {PATH}/replicas HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n{{".encode()]
        slow = [await asyncio.open_connection("127.0.0.1", client.port, ssl=context) for _ in heads]
        for (_, writer), head in zip(slow, heads, strict=True):
            writer.write(head)
        began = time.monotonic()
        assert (await client.ask("GET"))[0] == 200
        answers = [await asyncio.wait_for(reader.read(), 10) for reader, _ in slow]
        assert time.monotonic() - began < 5
        for _, writer in slow:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
    assert answers[:2] == [b"", b""]
    assert answers[2].startswith(b"HTTP/1.1 408 ")


async def test_a_new_certificate_is_served_and_given_to_pods(folder: Path) -> None:
    async with serving(Cluster(), folder) as client:
        before = client.server.access()
        issue(folder)
        while client.server.access() == before:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        _, writer = await asyncio.open_connection("127.0.0.1", client.port, ssl=context)
        writer.close()


def test_budgets_are_of_the_rate_and_burst() -> None:
    now = [0.0]
    budget = Budget(lambda: now[0], *module.OF_JOB)
    assert sum(budget.take("job") for _ in range(50)) == 10
    now[0] = 2.0
    assert sum(budget.take("job") for _ in range(50)) == 2
