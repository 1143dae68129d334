"""A job says why Kueue does not admit it, gives back its quota at every end, and its pods go.

`Kueue` acts as the manager of v0.19.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane.client import ClusterApi
from controlplane.fixtures import open_namespace
from controlplane.kueue import Kueue, workloads
from controlplane.runner import KINDS, RUN, Runner, forget_lease, install, start
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook, stop
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task
from tests.runner.world import holding

SETTINGS = ["--queueing=kueue"]


class Process:
    """The runner."""

    def __init__(self, plane: WholeControlPlane, log: Path) -> None:
        self._plane, self._log = plane, log
        self._credentials = install(plane, KINDS, "kueue")
        self._process: Runner | None = None

    def start(self) -> None:
        """Start it."""
        self._process = start(self._credentials, self._log, SETTINGS)

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None:
            stop(self._process)
            forget_lease(self._plane)
        self._process = None


@pytest.fixture(scope="module")
def process(
    whole_controlplane: WholeControlPlane,
    whole_api: ClusterApi,
    running_webhook: InstalledWebhook,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Process]:
    """The runner, a webhook with its settings, and the CRD of Kueue."""
    running_webhook.use([*RUN, *SETTINGS])
    process = Process(whole_controlplane, tmp_path_factory.mktemp("kueue") / "log")
    with workloads(whole_api):
        process.start()
        yield process
        process.stop()


@pytest.fixture
def space(process: Process, whole_api: ClusterApi) -> Space:
    """A namespace."""
    return Space(whole_api, open_namespace(whole_api))


def running(space: Space, kueue: Kueue, **spec: object) -> Run:
    """A job of three pods that runs."""
    run = Run(space, dijob("train", task("work", 2), task("judge"), queue="research", **spec))
    kueue.until(lambda: len(run.pods()) == 3, WAIT, "the pods run")
    assert list(kueue.held.values()) == [3]
    return run


def test_status_and_event_say_which_quota_is_short(space: Space) -> None:
    kueue = Kueue(space, 3)
    first = running(space, kueue)
    run = Run(space, dijob("waits", task("work", 2), queue="research"))
    short = (
        f"queue research: Workload waits-{run.job['metadata']['uid'][:8]}-0: couldn't assign flavors to pod set main: "
    )
    short += "insufficient unused quota for pods in flavor default, 2 more needed"
    # Its pods must have waited for 4 s, and are then looked at every 10 s.
    kueue.until(lambda: short in str(run.status), WAIT, "the status says so")
    reported = {("PodsWait", True)}
    kueue.until(lambda: reported <= {(event["reason"], short in event["message"]) for event in space.items("events")},
                WAIT, "so does an Event")  # fmt: skip
    deletes(first)
    kueue.until(lambda: "Running" in holding(run.status), WAIT, "it runs")
    assert short not in run.status["conditions"][-1]["message"]


def fails(run: Run) -> None:
    """Let a pod fail."""
    end_pod(run.space.api, run.space.name, run.pods()["train-work-0"]["metadata"]["name"], 1)


def asks(action: str) -> Callable[[Run], None]:
    """Ask for an action."""
    return lambda run: change(run, {"metadata": {"annotations": {"jobgate.dev/command": action}}})


def change(run: Run, patch: dict[str, object]) -> None:
    """Change a job."""
    run.space.patch(run.plural, run.name, patch, run.version)


def deletes(run: Run) -> None:
    """Delete the job."""
    run.space.delete(run.plural, run.name, run.version)


def deletes_namespace(run: Run) -> None:
    """Delete the namespace: Kubernetes deletes the pods first, and the job only once they are gone."""
    assert run.space.api.delete(f"/api/v1/namespaces/{run.space.name}")[0] == 200


@pytest.mark.parametrize(
    ("case", "end", "spec"),
    [
        ("failed", fails, {"backoffLimit": 0}),
        ("failed, and deleted after its time to live", fails, {"backoffLimit": 0, "ttlSecondsAfterFinished": 1}),
        ("failed, and cleaned up", fails, {"backoffLimit": 0, "cleanPodPolicy": "All"}),
        ("completed early", asks("CompleteJob"), {}),
        ("terminated", asks("TerminateJob"), {}),
        ("aborted", asks("AbortJob"), {}),
        ("suspended", lambda run: change(run, {"spec": {"suspend": True}}), {}),
        ("deleted", deletes, {}),
        ("deleted with its namespace", deletes_namespace, {}),
    ],
)
def test_quota_is_given_back(space: Space, case: str, end: Callable[[Run], None], spec: dict[str, object]) -> None:
    kueue = Kueue(space, 3)
    end(running(space, kueue, **spec))
    kueue.until(lambda: not kueue.held, WAIT, f"{case}: the quota is free")
    kueue.until(
        lambda: not [pod for pod in space.items("pods") if "deletionTimestamp" in pod["metadata"]],
        WAIT,
        f"{case}: no pod hangs",
    )


def test_a_job_that_succeeds_whole_is_left_to_kueue(space: Space) -> None:
    kueue = Kueue(space, 3)
    run = running(space, kueue, backoffLimit=3)
    fails(run)
    replaced = ["Failed", "Running", "Running", "Running"]
    kueue.until(lambda: space.phases() == replaced, WAIT, "the failed pod is replaced within its group")
    for pod in run.pods().values():
        end_pod(space.api, space.name, pod["metadata"]["name"])
    run.until("Succeeded")
    kueue.until(lambda: not kueue.held, WAIT, "the quota is free")
    assert "retriable-in-group" not in str(space.items("pods"))


@pytest.mark.parametrize("stops", ["AbortJob", "suspend", "RestartJob", "RestartTask"])
def test_a_job_that_goes_on_is_another_group(space: Space, stops: str) -> None:
    kueue = Kueue(space, 3)
    policies = [{"event": "PodFailed", "action": "RestartTask"}] if stops == "RestartTask" else []
    run = running(space, kueue, policies=policies, backoffLimit=9)
    (group,) = kueue.held
    if stops == "RestartTask":
        fails(run)
    elif stops == "suspend":
        change(run, {"spec": {"suspend": True}})
    else:
        asks(stops)(run)
    if stops in {"AbortJob", "suspend"}:
        kueue.until(lambda: not kueue.held, WAIT, "the quota is free")
        asks("ResumeJob")(run) if stops == "AbortJob" else change(run, {"spec": {"suspend": False}})
    kueue.until(lambda: {*kueue.held} - {group} and len(run.pods()) == 3, WAIT, "it runs as another group")


def test_a_job_that_is_deleted_while_no_runner_is_there_gives_back_its_quota_later(
    process: Process, space: Space
) -> None:
    kueue = Kueue(space, 3)
    run = running(space, kueue)
    process.stop()
    deletes(run)
    kueue.until(lambda: space.phases() == ["Failed"] * 3, WAIT, "its pods have ended")
    kueue.sync()
    assert list(kueue.held.values()) == [3]
    # A job of the same name is another one.
    process.start()
    again = Run(space, dijob("train", task("work", 2), task("judge"), queue="research"))
    kueue.until(lambda: len(again.pods()) == 3, WAIT, "the next job runs")


def test_a_job_that_grows_unseen_by_the_webhook_keeps_its_size_and_says_so(
    space: Space, running_webhook: InstalledWebhook
) -> None:
    kueue = Kueue(space, 9)
    run = running(space, kueue)
    running_webhook.use(RUN)  # Kueue was discovered by the runner only
    change(run, {"spec": {"tasks": [task("work", 2), task("judge", 3)]}})
    wait_for(lambda: "Kueue counts the pods of a job once" in str(run.status), WAIT, what="the status says so")
    assert len(space.items("pods")) == 3
    running_webhook.use([*RUN, *SETTINGS])
    asks("RestartJob")(run)
    kueue.until(lambda: len(run.pods()) == 5, WAIT, "it restarts with its new size")
