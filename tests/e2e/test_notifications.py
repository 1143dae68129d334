"""The end of jobs is reported to a real receiver, by a runner that is killed in between."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from controlplane.client import ClusterApi
from controlplane.runner import forget_lease, runner
from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task
from tests.runner.test_notify import Received, verified

SECRET = "whsec_" + base64.b64encode(b"shared with the receiver only").decode()


@contextmanager
def receiver(codes: list[int]) -> Iterator[tuple[str, list[Received]]]:
    """A receiver that answers with these codes, the last one again and again; yield its address, and what it got."""
    received: list[Received] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(codes.pop(0) if len(codes) > 1 else codes[0])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/jobs", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_end_of_a_job_is_reported_by_the_next_runner(
    whole_controlplane: WholeControlPlane,
    running_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    whole_namespace: str,
    tmp_path: Path,
) -> None:
    secret, queues = tmp_path / "secret", tmp_path / "queues.yaml"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    space, codes = Space(whole_api, whole_namespace), [500]
    with receiver(codes) as (address, received), receiver([204]) as (other, of_queue):
        queues.write_text(f"queues: [{{name: research, notify: {other}/research}}]", encoding="utf-8")
        settings = [f"--notify={address}", f"--notify-secret={secret}", f"--queues={queues}"]
        try:
            with runner(whole_controlplane, tmp_path / "log", settings) as process:
                run = Run(space, dijob("reported", task("work", 2, ends())))
                wait_for(lambda: len(received) > 1, WAIT, what="the end is reported, and reported again")
                assert run.status["jobgate"]["notify"] is True
                process.kill()
        finally:
            forget_lease(whole_controlplane)
        before = len(received)
        codes[:] = [204]
        with runner(whole_controlplane, tmp_path / "log", settings):
            queued = Run(space, dijob("queued", task("work", 1, ends()), queue="research"))
            wait_for(lambda: "notify" not in run.status["jobgate"], WAIT, what="the job was reported")
            wait_for(
                lambda: of_queue and "notify" not in queued.status["jobgate"],
                WAIT,
                what="the end of the queued job was reported",
            )
    assert len(received) == before + 1
    assert all(verified(each, SECRET) for each in (*received, *of_queue))
    assert {each.headers["webhook-id"] for each in received} == {run.job["metadata"]["uid"]}
    data = json.loads(received[-1].body)["data"]
    assert (data["name"], data["phase"], data["queue"], data["pods"]) == (
        "reported",
        "Succeeded",
        "default",
        {"Succeeded": 2},
    )
    assert data["started"] <= data["ended"]
    (only,) = of_queue
    assert (only.path, json.loads(only.body)["data"]["queue"]) == ("/jobs/research", "research")
