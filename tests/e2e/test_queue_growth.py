"""Users change jobs that are released from a full queue: no change gives a job more than its queue has."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.runner import runner
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_queues import why
from tests.e2e.test_runner import WAIT, Run, dijob, reasons, task
from tests.e2e.test_runner_rights import Tenant

#: Pods of each job at its release, while it waits for more, and once there is room. Its queue has the same name.
PODS = {
    "scaled": (1, 1, 2),
    "added": (1, 1, 2),
    "moved": (1, 1, 2),
    "urgent": (1, 1, 2),
    "restarted": (1, 0, 1),
    "resumed": (1, 0, 2),
    "lent": (1, 1, 1),
    "torch": (2, 2, 2),
    "volcano": (2, 2, 2),
}
#: Jobs that share their queue with another job.
SHARED = ("scaled", "added", "moved", "urgent", "restarted", "resumed", "lent")
MOST_PODS, MOST_CPU = 2, 4
QUEUES = "\n".join(
    [
        "queues:",
        "- name: free",
        *(f'- {{name: {name}, quota: {{pods: {MOST_PODS}, cpu: "{MOST_CPU}"}}}}' for name in PODS),
    ]
)
GROWTH = "what the job asks for more than was released waits: "


@pytest.fixture(scope="module", autouse=True)
def file(running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of queues."""
    path = tmp_path_factory.mktemp("growth") / "queues.yaml"
    path.write_text(QUEUES)
    return path


def asking(name: str, pods: int = 1, cpu: str = "1") -> dict[str, Any]:
    """A task of a DIJob with pods that request CPU."""
    result = task(name, pods)
    result["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return result


def vcjob(pods: int) -> dict[str, Any]:
    """A Volcano Job with this many pods."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}
    metadata = {"name": "volcano"}
    spec = {"queue": "volcano", "minAvailable": 1, "tasks": [{"name": "work", "replicas": pods, "template": template}]}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}


def torchjob(workers: int) -> dict[str, Any]:
    """A TorchJob with a master and this many workers."""
    template = {"spec": {"containers": [{"name": "torch", "image": "torch"}]}}
    roles = {"Master": {"numTasks": 1, "template": template}, "Worker": {"numTasks": workers, "template": template}}
    spec = {"schedulingPolicy": {"queue": "torch"}, "torchTaskSpecs": roles}
    about = {"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob", "metadata": {"name": "torch"}}
    return {**about, "spec": spec}


class Scene:
    """A job for each attack, other jobs in the same queues, and a tenant who may edit them."""

    def __init__(self, space: Space, tenant: Tenant) -> None:
        self.space = space
        self.tenant = tenant
        self.jobs: dict[str, Run] = {}
        self.others: dict[str, Run] = {}

    def begin(self) -> None:
        """Create all jobs, and wait until they have their pods."""
        for name in SHARED:
            sizes = ("3", "2") if name == "lent" else ("1", "1")
            self.jobs[name] = Run(self.space, dijob(name, asking("work", cpu=sizes[0]), queue=name))
            wait_for(lambda: self.pods(name), WAIT, what=f"{name} runs")  # noqa: B023
            self.others[name] = Run(self.space, dijob(f"{name}-other", asking("work", cpu=sizes[1]), queue=name))
        self.jobs |= {"torch": Run(self.space, torchjob(1)), "volcano": Run(self.space, vcjob(2))}
        self.until({name: released for name, (released, _, _) in PODS.items()})
        self.until({f"{name}-other": int(name != "lent") for name in SHARED})

    def pods(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the active pods of a job, by uid; check that no queue exceeds its quota."""
        mine = {}
        counts, cpus = Counter[str](), Counter[str]()
        for pod in self.space.items("pods"):
            job = pod["metadata"]["labels"]["jobgate.dev/job"]
            if pod["status"]["phase"] not in {"Pending", "Running"} or "deletionTimestamp" in pod["metadata"]:
                continue
            queue = job.removesuffix("-other")
            counts[queue] += 1
            cpus[queue] += int(pod["spec"]["containers"][0].get("resources", {}).get("requests", {}).get("cpu", 0))
            if job == name:
                mine[pod["metadata"]["uid"]] = pod
        assert max(counts.values(), default=0) <= MOST_PODS, counts
        assert max(cpus.values(), default=0) <= MOST_CPU, cpus
        return mine

    def until(self, expected: Mapping[str, int]) -> None:
        """Wait until these jobs have the expected number of pods."""
        for name, pods in expected.items():
            wait_for(lambda: len(self.pods(name)) == pods, WAIT, what=f"{name} has {pods} pods")  # noqa: B023

    def edit(self, name: str, **spec: Any) -> None:
        """Change the spec of a job, as the tenant."""
        plural = {"torch": "torchjob", "volcano": "jobs.batch.volcano.sh"}.get(name, "dijob")
        assert self.tenant.kubectl("patch", "--type=merge", "-p", json.dumps({"spec": spec}), f"{plural}/{name}") == ""

    def attack(self) -> None:
        """Request more in all possible ways."""
        self.edit("scaled", tasks=[asking("work", 2)])
        self.edit("added", tasks=[asking("work"), asking("more")])
        self.edit("moved", tasks=[asking("work", 2)], queue="free")
        self.edit("urgent", tasks=[asking("work", 2)], priority="high")
        self.edit("restarted", tasks=[asking("work", cpu="4")])
        assert self.tenant.kubectl("annotate", "dijob/restarted", "jobgate.dev/command=RestartJob") == ""
        self.edit("resumed", tasks=[asking("work", 2)], suspend=True)
        self.until({"resumed": 0})
        self.edit("resumed", suspend=False)
        self.edit("lent", tasks=[asking("work", cpu="0")])
        self.edit("volcano", tasks=vcjob(3)["spec"]["tasks"])
        assert self.tenant.kubectl("scale", "torchjob/torch", "--replicas=3") == ""

    def says(self, name: str) -> str:
        """Return the current state and conditions in the status of a job."""
        self.pods(name)
        status = self.jobs[name].status
        return json.dumps(
            [status.get("state"), *(each for each in status["conditions"] if each.get("status") == "True")]
        )

    def holds(self) -> None:
        """Check that all jobs wait, and that their status says so."""
        for name in PODS.keys() - {"resumed", "lent"}:
            wait_for(lambda: GROWTH in self.says(name), WAIT, what=f"{name} waits")  # noqa: B023
        wait_for(lambda: why(self.jobs["resumed"])[1] == "JobQueued", WAIT, what="it waits in its queue again")
        self.until({name: held for name, (_, held, _) in PODS.items()})
        assert why(self.others["lent"])[1] == "JobQueued"

    def later_jobs_wait(self) -> None:
        """Check that a new job in each queue waits, so the runner has decided about all queues."""
        for name in SHARED:
            late = Run(self.space, dijob(f"late-{name}", asking("work"), queue=name))
            wait_for(lambda: why(late)[1] == "JobQueued", WAIT, what=f"{late.name} waits")  # noqa: B023
            self.space.delete(late.plural, late.name, late.version)

    def give_room(self) -> None:
        """End the other jobs, and check that the attacking jobs then get what they request."""
        for name in SHARED:
            for pod in self.pods(f"{name}-other").values():
                end_pod(self.space.api, self.space.name, pod["metadata"]["name"])
        self.until({name: more for name, (_, _, more) in PODS.items()})
        for name in SHARED:
            wait_for(lambda: GROWTH not in self.says(name), WAIT, what=f"{name} waits no more")  # noqa: B023


def test_no_released_job_exceeds_the_quota_of_its_queue_by_growing(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, file: Path
) -> None:
    scene = Scene(Space(whole_api, whole_namespace), Tenant(whole_controlplane, whole_namespace))
    with runner(whole_controlplane, file.with_name("log"), [f"--queues={file}"]):
        scene.begin()
        before = {name: scene.pods(name).keys() for name in PODS}
        scene.attack()
        scene.holds()
        assert scene.jobs["scaled"].status["phase"] == "Running"
        wait_for(lambda: "JobGrowthQueued" in reasons(scene.space), WAIT, what="an Event says that a job waits")
    # The next runner knows only stored state.
    with runner(whole_controlplane, file.with_name("log"), [f"--queues={file}"]):
        scene.later_jobs_wait()
        scene.holds()
        for name, (_, held, _) in PODS.items():
            assert not held or scene.pods(name).keys() == before[name], f"the pods of {name} go on"
        scene.give_room()
        assert before["scaled"] < scene.pods("scaled").keys()
        assert scene.jobs["moved"].status["jobgate"]["queue"] == "moved"
        # A pod keeps its requests, so its quota is free only when the pod is gone.
        scene.edit("lent", suspend=True)
        scene.until({"lent": 0, "lent-other": 1})
