"""The console on a real API server: reviews of real servers, jobs, and nothing of what a caller may not list."""

import asyncio
import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from click.testing import CliRunner

from certs import issue_generation, service_names
from controlplane.client import ClusterApi
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlane
from controlplane.rights import SYSTEM
from controlplane.webhook import InstalledWebhook
from jobgate.cli import main
from jobgate.console import app
from jobgate.installation.workload import SELECTOR
from tests.console.conftest import SECRET, Browser, grant
from tests.e2e.cluster import DIJOBS, User

Open = Callable[..., Any]
DIJOB = "diengine.opendilab.org/v2alpha1"
#: Seconds from the answer to the user until a review is offered, in the best of some attempts: the machine runs
#: other tests.
SOON, ATTEMPTS = 1.0, 10


def dijob(name: str, replicas: int = 1, **container: Any) -> dict[str, Any]:
    env = [{"name": "TOKEN", "value": SECRET}]
    main = {"name": "di-container", "image": "ding:1", "command": ["run", SECRET], "env": env, **container}
    task = {"type": "learner", "replicas": replicas, "template": {"spec": {"containers": [main]}}}
    other = {"name": "extra", "dependsOn": {"name": ["learner"]}, "template": {"spec": {"containers": [main]}}}
    return {"apiVersion": DIJOB, "kind": "DIJob", "metadata": {"name": name}, "spec": {"tasks": [task, other]}}


def kubeconfig(plane: ControlPlane, api: ClusterApi, name: str, *namespaces: str, reads: bool = True) -> Path:
    """A user who may list jobs in some namespaces, and read reviews."""
    user = {"kind": "User", "name": name}
    for namespace in namespaces:
        grant(api, user, "jobgate-jobs-view", namespace)
    if reads:
        grant(api, user, "jobgate-console-user", SYSTEM, kind="Role")
    return plane.kubeconfig_for(name)


async def test_a_denial_appears_within_a_second_with_its_causes_at_their_lines(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    user = User(controlplane, new_namespace(cluster_api))
    page: Browser = await open_console(kubeconfig(controlplane, cluster_api, "ann", user.namespace))
    await page.until(
        "/api/reviews", lambda content: content["replicas"] and content["replicas"][0]["state"] == "streaming"
    )
    delays = []
    for attempt in range(ATTEMPTS):
        path = f"/api/reviews?after={time.time_ns() // 1000}"
        denied, text = await asyncio.to_thread(user.create, dijob(f"broken-{attempt}", image=7))
        assert not denied, text
        begun = time.monotonic()
        content = await page.until(path, lambda content: content["items"])
        delays.append(time.monotonic() - begun)
        if delays[-1] <= SOON:
            break
    assert min(delays) <= SOON
    (review,) = content["items"]
    assert (review["name"], review["namespace"]) == (f"broken-{attempt}", user.namespace)
    assert (await page.get(f"/api/reviews?after={review['id']}"))[1]["items"] == []
    assert (review["verdict"], review["kind"]) == ("denied", "DIJob")
    status, whole = await page.get(f"/api/reviews/{review['id']}")
    assert status == 200
    assert SECRET not in json.dumps(whole)
    lines = whole["yaml"].splitlines()
    for cause in whole["causes"]:
        assert "image" in cause["field"]
        assert "image: 7" in lines[cause["line"] - 1]
    assert (await page.get("/api/reviews/1"))[0] == 404


async def test_who_may_not_list_jobs_in_a_namespace_sees_nothing_of_it(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    own, other = (User(controlplane, new_namespace(cluster_api)) for _ in range(2))
    page: Browser = await open_console(
        kubeconfig(controlplane, cluster_api, "ben", own.namespace), namespaces=[own.namespace, other.namespace]
    )
    for user in (own, other):
        assert user.create(dijob("good"))[0]
        assert not user.create(dijob("bad", image=7))[0]

    def is_there(content: Any) -> bool:
        return {"good", "bad"} <= {item["name"] for item in content["items"] if item["namespace"] == own.namespace}

    content = await page.until("/api/reviews", is_there)
    assert {item["namespace"] for item in content["items"]} == {own.namespace}
    admin: Browser = await open_console(controlplane.kubeconfig)
    everything = await admin.until("/api/reviews", is_there)
    hidden = [kept.id for kept in page.shown.store._kept if kept.light["namespace"] == other.namespace]
    assert {item["namespace"] for item in everything["items"]} >= {own.namespace, other.namespace}
    assert hidden
    assert {(await page.get(f"/api/reviews/{number}"))[0] for number in hidden} == {404}
    jobs = await page.until("/api/jobs", lambda content: content["items"])
    assert {row["namespace"] for row in jobs["items"]} == {own.namespace}
    assert (await page.get(f"/api/jobs/{DIJOBS}/{other.namespace}/good"))[0] == 403
    seen = (await page.get(f"/api/reviews?after={hidden[0] - 1}"))[1]["items"]
    assert {item["namespace"] for item in seen} <= {own.namespace}
    _, tag = await admin.changed(f"/api/jobs/{DIJOBS}/{other.namespace}/good")
    assert (await page.changed(f"/api/jobs/{DIJOBS}/{other.namespace}/good", tag))[0] == 403
    audited = (await page.post("/api/audit", {"namespace": other.namespace}))[1]
    assert (audited["reviewed"], audited["jobs"]) == (0, [])


async def test_in_a_cluster_each_caller_has_rights_of_their_own(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    own, other = (new_namespace(cluster_api) for _ in range(2))
    accounts = f"/api/v1/namespaces/{own}/serviceaccounts"
    assert cluster_api.post(accounts, {"metadata": {"name": "carl"}})[0] == 201
    grant(cluster_api, {"kind": "ServiceAccount", "name": "carl", "namespace": own}, "jobgate-jobs-view", own)
    status, answer = cluster_api.post(f"{accounts}/carl/token", {"spec": {"expirationSeconds": 600}})
    assert status == 201, answer
    page: Browser = await open_console(console_kubeconfig(controlplane, cluster_api), token="")
    for namespace in (own, other):
        User(controlplane, namespace).create(dijob("job"))
    assert (await page.get("/api/jobs"))[0] == 401
    page.token = "of-nobody"
    assert (await page.get("/api/jobs"))[0] == 401
    page.token = answer["status"]["token"]
    jobs = await page.until("/api/jobs", lambda content: content["items"])
    assert {row["namespace"] for row in jobs["items"]} == {own}
    reviews = await page.until("/api/reviews", lambda content: content["items"])
    assert {item["namespace"] for item in reviews["items"]} == {own}
    assert (await page.get(f"/api/jobs/{DIJOBS}/{own}/job"))[0] == 200
    assert (await page.get(f"/api/jobs/{DIJOBS}/{other}/job"))[0] == 403
    health = (await page.get("/api/health"))[1]
    assert health["certificates"] is None
    assert (health["replicas"], reviews["replicas"]) == (None, [])
    assert any("you may not list pods in namespace jobgate-system" in problem for problem in health["problems"])
    for path in ("/api/audit", "/api/doctor"):
        answered = await page.post(path, {"namespace": other})
        assert other not in json.dumps(answered) or answered[0] in {403, 404}


def console_kubeconfig(plane: ControlPlane, api: ClusterApi) -> Path:
    """The account of a console in the cluster, by a token: it may list all jobs and pods, and read reviews."""
    accounts = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
    api.post(accounts, {"metadata": {"name": "viewer"}})
    account = {"kind": "ServiceAccount", "name": "viewer", "namespace": SYSTEM}
    grant(api, account, "jobgate-console-user", SYSTEM, kind="Role")
    group = "rbac.authorization.k8s.io"
    for role in ("jobgate-jobs-view", "view"):
        reference = {"apiGroup": group, "kind": "ClusterRole", "name": role}
        binding = {"metadata": {"generateName": "viewer-"}, "roleRef": reference, "subjects": [account]}
        assert api.post(f"/apis/{group}/v1/clusterrolebindings", binding)[0] == 201
    token = api.post(f"{accounts}/viewer/token", {"spec": {"expirationSeconds": 3600}})[1]["status"]["token"]

    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = plane.folder / "viewer.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def test_who_may_not_read_reviews_sees_jobs_and_why_there_are_none(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    user = User(controlplane, new_namespace(cluster_api))
    page: Browser = await open_console(
        kubeconfig(controlplane, cluster_api, "dan", user.namespace, reads=False), namespaces=[user.namespace]
    )
    assert user.create(dijob("job"))[0]
    assert (await page.until("/api/jobs", lambda content: content["items"]))["items"][0]["name"] == "job"
    about = await page.until("/api/about", lambda content: content["problems"])
    assert "403" in about["problems"][0]
    assert (await page.get("/api/reviews"))[1]["items"] == []


async def test_a_job_is_a_graph_that_follows_its_pods(
    servers: InstalledWebhook,
    controlplane: ControlPlane,
    open_console: Open,
    cluster_api: ClusterApi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "REREAD", 1e9)
    user = User(controlplane, new_namespace(cluster_api))
    page: Browser = await open_console(controlplane.kubeconfig)
    document = dijob("graph")
    document["spec"]["minAvailable"] = 1
    assert user.create(document)[0]
    path = f"/api/jobs/{DIJOBS}/{user.namespace}/graph"
    await page.until("/api/jobs", lambda content: "graph" in {row["name"] for row in content["items"]})
    status, job = await page.get(path)
    assert status == 200
    assert [(task["name"], task["dependsOn"], task["state"]) for task in job["tasks"]] == [
        ("learner", [], "waiting"),
        ("extra", ["learner"], "waiting"),
    ]
    tags = {known: await page.known(known) for known in (path, "/api/jobs?q=graph")}
    stored = user.stored("graph")
    owner = {
        "apiVersion": DIJOB,
        "kind": "DIJob",
        "name": "graph",
        "uid": stored["metadata"]["uid"],
        "controller": True,
    }
    pod = {
        "metadata": {"name": "graph-learner-0", "ownerReferences": [owner], "labels": {"task": "learner"}},
        "spec": {"containers": [{"name": "main", "image": "x"}]},
    }
    pods = f"/api/v1/namespaces/{user.namespace}/pods"
    cluster_api.post(f"/api/v1/namespaces/{user.namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    created = await asyncio.to_thread(cluster_api.post, pods, pod)
    assert created[0] == 201, created
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    cluster_api.patch(f"{pods}/graph-learner-0/status", running)
    # What has changed is sent to a page that has the answer from before.
    for known, tag in tags.items():
        await page.until_status(known, 200, tag=tag)
    job = await page.until(path, lambda job: job["tasks"][0]["state"] == "running")
    assert job["tasks"][0]["pods"] == {"Running": 1}
    assert [(pod["name"], pod["ready"]) for pod in job["pods"]] == [("graph-learner-0", True)]
    assert job["why"]["state"] in {"waits", "runs"}
    await page.until("/api/jobs?q=graph", lambda content: content["items"][0]["pods"] == {"Running": 1})
    audited = (await page.post("/api/audit", {"namespace": user.namespace}))[1]
    assert [(each["name"], len(each["faults"]), len(each["warnings"])) for each in audited["jobs"]] == [("graph", 0, 2)]
    about = {"apiVersion": DIJOB, "kind": "DIJob", "namespace": user.namespace, "name": "graph", "uid": owner["uid"]}
    event = {"metadata": {"generateName": "graph-"}, "involvedObject": about, "type": "Warning", "reason": "Stuck"}
    assert cluster_api.post(f"/api/v1/namespaces/{user.namespace}/events", event)[0] == 201
    monkeypatch.setattr(app, "REREAD", 1e-9)
    (shown,) = (await page.until(path, lambda job: job["events"]))["events"]
    assert (shown["object"], shown["reason"], shown["count"]) == ("DIJob graph", "Stuck", 1)
    user.delete("graph")
    await page.until_status(path, 404)


async def test_health_has_replicas_latency_and_caches(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    page: Browser = await open_console(controlplane.kubeconfig)
    health = await page.until("/api/health", lambda content: content["replicas"] and content["latency"])
    (replica,) = [each for each in health["replicas"] if each["name"] == "server-0"]
    assert replica["requests"] > 0
    assert {cache["resource"] for cache in replica["caches"]} >= {"dijobs.v2alpha1.diengine.opendilab.org"}
    counts = [bucket["count"] for bucket in health["latency"]["buckets"]]
    assert counts == sorted(counts)
    assert health["latency"]["count"] == counts[-1]
    assert health["certificates"] is None
    generation = issue_generation(service_names("jobgate-webhook", SYSTEM), datetime.now(UTC))
    files = {"tls.crt": generation.certificate, "tls.key": generation.key, "ca.crt": generation.ca_certificate}
    content = {name: base64.b64encode(text).decode() for name, text in files.items()}
    secret = {"metadata": {"name": "jobgate-webhook-tls"}, "type": "kubernetes.io/tls", "data": content}
    assert cluster_api.post(f"/api/v1/namespaces/{SYSTEM}/secrets", secret)[0] == 201
    certificates = (await page.get("/api/health"))[1]["certificates"]
    assert [each["state"] for each in certificates["generations"]] == ["served"]
    assert certificates["notAfter"] == certificates["generations"][0]["notAfter"]
    assert [stage["name"] for stage in certificates["stages"]] == ["trusted", "promoted", "verified"]
    assert {target["name"] for target in certificates["targets"]}
    assert content["tls.key"] not in json.dumps(certificates)
    assert cluster_api.delete(f"/api/v1/namespaces/{SYSTEM}/secrets/jobgate-webhook-tls")[0] == 200
    status, doctor = await page.post("/api/doctor", {})
    assert status == 200, doctor
    assert doctor.keys() == {"healthy", "findings", "notChecked"}


async def test_a_server_outside_the_cluster_is_read_at_its_address(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    user, address = User(controlplane, new_namespace(cluster_api)), f"http://127.0.0.1:{servers.health_port}"
    nobody = "http://127.0.0.1:9"
    page: Browser = await open_console(controlplane.kubeconfig, addresses=(address, nobody))
    assert not user.create(dijob("bad", image=7))[0]
    await page.until("/api/reviews", lambda content: user.namespace in {_["namespace"] for _ in content["items"]})
    states = {address: "streaming", nobody: "unreachable"}
    await page.until("/api/reviews", lambda content: states == {_["name"]: _["state"] for _ in content["replicas"]})
    health = (await page.get("/api/health"))[1]
    assert [(each["name"], each["ready"]) for each in health["replicas"]] == [(address, True), (nobody, False)]
    assert health["latency"]["count"] > 0


async def test_a_pod_that_only_has_the_labels_of_a_server_is_not_read(
    servers: InstalledWebhook, controlplane: ControlPlane, open_console: Open, cluster_api: ClusterApi
) -> None:
    pods = f"/api/v1/namespaces/{SYSTEM}/pods"
    spec = cluster_api.get(f"{pods}/server-0")[1]["spec"] | dict.fromkeys(
        ("serviceAccount", "serviceAccountName"), "default"
    )
    status, answer = cluster_api.post(pods, {"metadata": {"name": "forged", "labels": SELECTOR}, "spec": spec})
    assert status == 201, answer["message"]
    running = {"status": {"phase": "Running", "podIP": "192.0.2.1", "podIPs": [{"ip": "192.0.2.1"}]}}
    assert cluster_api.patch(f"{pods}/forged/status", running)[0] == 200
    page: Browser = await open_console(controlplane.kubeconfig)
    seen = await page.until("/api/reviews", lambda content: content["replicas"])
    assert {each["name"] for each in seen["replicas"]} == {"server-0"}
    other: Browser = await open_console(controlplane.kubeconfig, name="other", namespace="other-system")
    about = await other.until("/api/about", lambda content: content["problems"])
    assert about["problems"] == ["no server runs in namespace other-system"]
    doctor = (await other.post("/api/doctor", {}))[1]
    assert [finding["id"] for finding in doctor["findings"]] == ["not-installed"]
    cluster_api.delete(f"{pods}/forged?gracePeriodSeconds=0")


def test_a_console_for_many_needs_an_account_with_a_token(controlplane: ControlPlane) -> None:
    config = controlplane.kubeconfig_for("eve")
    assert "client-certificate" in config.read_text()
    arguments = ["--in-cluster", "--port=0", "--kubeconfig", str(config)]
    command = [sys.executable, "-m", "jobgate", "console", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 2
    assert "--in-cluster needs an account with a token" in ended.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "ftp://a:1", "http://a/path", "http://"])
def test_an_address_of_a_server_is_checked(address: str) -> None:
    ended = CliRunner().invoke(main, ["console", "--server", address])
    assert (ended.exit_code, "must be http://HOST:PORT" in ended.output) == (2, True)


@pytest.mark.parametrize(
    "account, audiences, code",
    [
        ("jobgate-console", ["jobgate-reviews"], 200),
        ("jobgate-console", ["other"], 401),
        ("jobgate-console", None, 401),
        ("default", ["jobgate-reviews"], 403),
    ],
)
async def test_servers_answer_only_tokens_for_them_of_who_may_read(
    servers: InstalledWebhook, cluster_api: ClusterApi, account: str, audiences: list[str] | None, code: int
) -> None:
    path = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/{account}/token"
    status, answer = cluster_api.post(path, {"spec": {"audiences": audiences, "expirationSeconds": 600}})
    assert status == 201, answer
    headers = {"X-Reviews-Token": answer["status"]["token"]}
    address = f"http://127.0.0.1:{servers.health_port}/reviews?limit=1"
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answered:
        assert answered.status == code
