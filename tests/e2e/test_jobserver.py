"""DIJobs whose pods ask for replicas, and report metrics, by `curl` on a real control plane."""

import ctypes
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.plane import reserve_port
from controlplane.processes import ProcessNode
from controlplane.processes.node import CHOSEN
from controlplane.processes.sandbox import NEEDS, NODE_ADDRESS, Holder, MissingError
from controlplane.runner import runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, jobgate
from controlplane.whole import WholeControlPlane, has_account
from tests.e2e.test_runner import Run, dijob
from tests.missing import lacking

WAIT = 120.0
CURL = "/usr/bin/curl"
TOKEN = '"$DI_SERVER_TOKEN_FILE"'
pytestmark = pytest.mark.needs(*NEEDS, CURL, root=True)

#: Asks with a method, a path below `/job/`, a body, and a file of a token, and prints the answer. As clients must, it asks
#: again if there is no answer, or one to ask again: the API server was slow, or the status of the job changed meanwhile.
SCRIPT = f"""
cd /tmp
for i in $(seq 1 100); do [ -s "$DI_SERVER_TOKEN_FILE" ] && break; sleep 0.1; done
ask() {{
  until code=$({CURL} -sS --max-time 30 --cacert "$DI_SERVER_CA_FILE" -o /tmp/body -w '%{{http_code}}' -X "$1" \\
    -H "Authorization: Bearer $(cat "$4" 2>/dev/null)" ${{3:+--data "$3"}} "$DI_SERVER_URL/v2alpha1/job/$2") &&
    [ "$code" -ne 429 ] && [ "$code" -ne 503 ]; do echo "no answer, code $code" >&2; sleep 1; done
  cat /tmp/body; echo
}}
trap 'exit 0' TERM
"""
#: Number of the namespace of networks, for setns(2).
_NETWORK = 0x40000000


@contextmanager
def forwarded(network: Holder, port: int) -> Iterator[None]:
    """Let the pods of a node reach a port of this machine, at the address of their node."""
    opened: list[socket.socket] = []

    def listen() -> None:
        # Only this thread enters the network of the node; what it opened stays there.
        with closing(Path(f"/proc/{network.pid}/ns/net").open("rb")) as space:
            assert ctypes.CDLL(None, use_errno=True).setns(space.fileno(), _NETWORK) == 0, os.strerror(
                ctypes.get_errno()
            )
        opened.append(socket.create_server((NODE_ADDRESS, port)))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    (listens,) = opened
    accepting = threading.Thread(target=accept, args=(listens, port), daemon=True)
    accepting.start()
    try:
        yield
    finally:
        listens.shutdown(socket.SHUT_RDWR)
        listens.close()
        accepting.join()


def accept(listens: socket.socket, port: int) -> None:
    """Forward all connections."""
    with suppress(OSError):
        while True:
            threading.Thread(target=forward, args=(listens.accept()[0], port), daemon=True).start()


def forward(incoming: socket.socket, port: int) -> None:
    """Forward a connection in both directions, and close it when both have ended."""
    with suppress(ConnectionRefusedError), incoming, socket.create_connection(("127.0.0.1", port)) as outgoing:
        back = threading.Thread(target=copy, args=(outgoing, incoming))
        back.start()
        copy(incoming, outgoing)
        back.join()


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until there are no more."""
    with suppress(OSError):
        while content := source.recv(65536):
            target.sendall(content)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def node(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessNode]:
    """A node for processes, with a runner whose server its pods reach."""
    folder = tmp_path_factory.mktemp("jobserver")
    names = ["--service=jobgate-di-server", f"--extra-name={NODE_ADDRESS}", "--days=3650"]
    jobgate("certs", "issue", "--dir", str(folder / "tls"), *names)
    try:
        with (
            reserve_port() as reserved,
            ProcessNode(whole_controlplane, "jobserver", folder / "node") as found,
            forwarded(found._network, port := reserved.getsockname()[1]),
            runner(
                whole_controlplane,
                folder / "runner.log",
                [
                    f"--di-server-url=https://{NODE_ADDRESS}:{port}",
                    f"--di-server-tls={folder / 'tls'}",
                    f"--di-server-port={port}",
                ],
            ),
        ):
            yield found
            assert found.failure is None
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")


def new_space(api: ClusterApi) -> Space:
    """A new namespace with its account."""
    name = open_namespace(api)
    wait_for(lambda: has_account(api, name), WAIT, what="the namespace has its ServiceAccount")
    return Space(api, name)


def ask(method: str, path: str, body: Any = "", *, job: str = "$DI_JOB_ID", token: str = TOKEN) -> str:
    """The line of a script that asks."""
    content = body if isinstance(body, str) else json.dumps(body)
    return f"ask {method} {job}/{path} '{content}' {token}"


def asking(*lines: str) -> dict[str, Any]:
    """The template of a pod that asks."""
    container = {"name": "di-container", "image": "none", "command": ["sh", "-c", SCRIPT + "\n".join(lines)]}
    return {"spec": {**CHOSEN, "terminationGracePeriodSeconds": 1, "containers": [container]}}


def job(name: str, *lines: str) -> dict[str, Any]:
    """A DIJob with a learner that asks, and collectors that can be scaled."""
    tasks: list[dict[str, Any]] = [
        {"type": "learner", "template": asking(*lines)},
        {"type": "collector", "replicas": 1, "template": asking("sleep 1000 & wait")},
    ]
    found = dijob(name, *tasks, minReplicas=2, maxReplicas=4)
    found["metadata"]["annotations"] = {"jobgate.dev/elastic": "true"}
    return found


def answers(node: ProcessNode, space: Space, name: str, count: int) -> list[Mapping[str, Any]]:
    """The answers that the learner of a job got, once there are so many."""

    def log() -> str:
        pods = [pod["metadata"]["name"] for pod in space.items("pods")]
        learners = [pod for pod in pods if pod.startswith(f"{name}-learner-")]
        return node.log(space.name, learners[0], "di-container") if learners else ""

    def so_far() -> list[Mapping[str, Any]]:
        return [json.loads(line) for line in log().splitlines() if line.startswith("{") and line.endswith("}")]

    try:
        wait_for(lambda: len(so_far()) >= count, WAIT, what=f"{name} got {count} answers")
    except TimeoutError as error:
        raise AssertionError(f"{error}; its log:\n{log()}") from error
    return so_far()


def waits(condition: Callable[[], bool], what: str) -> None:
    wait_for(condition, WAIT, what=what)


def test_pods_ask_for_replicas_within_the_bounds_and_report_metrics(node: ProcessNode, whole_api: ClusterApi) -> None:
    space = new_space(whole_api)
    first = ask("POST", "replicas", {"replicas": 1})
    lines = [
        # Until its first size is stored, the job is not elastic yet.
        f"until {first} | tee /tmp/answer | grep -q '\"asked\":2'; do sleep 1; done; cat /tmp/answer",
        ask("POST", "replicas", {"replicas": 5}),
        ask("DELETE", "replicas", {"replicas": 1}),
        ask("GET", "replicas"),
        ask("POST", "profilings", {"loss": 0.5, "steps": 7}),
        "sleep 1000 & wait",
    ]
    run = Run(space, job("asks", *lines))
    run.until("Running")
    more, beyond, fewer, replicas, profilings = answers(node, space, "asks", 5)
    assert (more["success"], more["data"]["asked"], more["data"]["maxReplicas"]) == (True, 2, 3)
    assert (beyond["code"], beyond["message"]) == (
        1,
        "task collector may have 1 to 3 pods, not 7: it asks for 2 now",
    )
    assert fewer["data"]["asked"] == 1
    domain = f"di-asks.{space.name}.svc.cluster.local:22270"
    assert replicas["data"][:2] == [f"asks-learner-0.{domain}", f"asks-collector-0.{domain}"]
    assert profilings == {"success": True, "code": 0, "message": "successfully report profilings", "data": None}
    assert run.status["profilings"] == {"loss": 0.5, "steps": 7}
    waits(lambda: run.status["jobgate"]["sizes"] == {"collector": 1}, "the job has as many pods as it asks for")


def test_a_pod_gets_nothing_of_other_jobs_or_without_its_token(node: ProcessNode, whole_api: ClusterApi) -> None:
    space, elsewhere = new_space(whole_api), new_space(whole_api)
    other = Run(space, job("other", "sleep 1000 & wait"))
    one = {"replicas": 1}
    lines = [
        ask("POST", "replicas", one, job=f"{space.name}.other"),
        ask("POST", "replicas", one, job=f"{elsewhere.name}.thief"),
        ask("GET", "replicas", token="/dev/null"),
        ask("GET", "replicas", token="/var/run/secrets/kubernetes.io/serviceaccount/token"),
        "head -c 20000 /dev/zero | tr '\\0' a > /tmp/big",
        ask("POST", "profilings", "@/tmp/big"),
        f"echo '{{\"token\": \"'$(cat {TOKEN})'\"}}'",
        "sleep 1000 & wait",
    ]
    run = Run(space, job("asks", *lines))
    foreign, absent, without, account, large, stolen = answers(node, space, "asks", 6)
    pod = next(
        pod["metadata"]["name"] for pod in space.items("pods") if pod["metadata"]["name"].startswith("asks-learner")
    )
    assert foreign["message"] == f"pod {space.name}/{pod} does not belong to DIJob {space.name}/other"
    assert absent["message"] == f"pod {space.name}/{pod} does not belong to DIJob {elsewhere.name}/thief"
    needed = "the token of a pod that runs is required, as Authorization: Bearer <…_TOKEN_FILE>"
    assert (without["message"], account["message"]) == (needed, needed)
    assert "larger than 16384 bytes" in large["message"]
    # In another namespace, the token is that of the pod it was stolen from, until that pod is gone.
    token = stolen["token"]
    still = ask("GET", "replicas", job=f"{space.name}.asks", token="/tmp/token")
    theft = [
        f"printf %s {token} > /tmp/token",
        ask("POST", "replicas", one, job=f"{elsewhere.name}.thief", token="/tmp/token"),
        f"while {still} | tee /tmp/answer | grep -q true; do sleep 1; done; cat /tmp/answer",
        "sleep 1000 & wait",
    ]
    Run(elsewhere, job("thief", *theft))
    (denied,) = answers(node, elsewhere, "thief", 1)
    assert denied["message"] == f"pod {space.name}/{pod} does not belong to DIJob {elsewhere.name}/thief"
    assert (
        whole_api.delete(run.space.path(run.plural, run.name, run.version), {"propagationPolicy": "Foreground"})[0]
        < 300
    )
    assert answers(node, elsewhere, "thief", 2)[1]["message"] in {
        needed,
        f"pod {space.name}/{pod} does not belong to DIJob {space.name}/asks",
    }
    assert "wishes" not in other.status["jobgate"]
