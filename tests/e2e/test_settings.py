"""What an installation says of itself, and what it looks up in the cluster, as users come to feel it."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from tests.e2e.cluster import User
from tests.e2e.private import PrivateWebhook

#: How long something may take to be noticed, in seconds: a busy machine is slow, and a server that waits for a CRD
#: looks for it less and less often.
NOTICED = 90.0

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
#: As small as it can be. Its status is no subresource, so that it can be written as any field.
QUEUE_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: queues.scheduling.volcano.sh}
spec:
  group: scheduling.volcano.sh
  scope: Cluster
  names: {kind: Queue, listKind: QueueList, plural: queues, singular: queue}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
VCJOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: job}
spec:
  tasks:
  - replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: trainer}]}}
"""

MXJOBS = "mxjobs.mxnet.mlkube.io"
MXJOB = """
apiVersion: mxnet.mlkube.io/v1beta1
kind: MxJob
metadata: {name: job}
spec:
  jobMode: local
  replicaSpecs:
  - mxReplicaType: WORKER
    template:
      spec: {containers: [{name: mxnet, image: mxnet, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""
DRIVER = "accelerators: {nvidia.com/gpu: {volumes: [{name: driver, hostPath: %s, mountPath: /usr/local/nvidia}]}}\n"


@pytest.fixture(scope="module")
def accelerators(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that says what accelerators need; at first nothing."""
    file = tmp_path_factory.mktemp("settings") / "accelerators.yaml"
    file.write_text("accelerators: {}\n")
    return file


@pytest.fixture(scope="module")
def private(
    webhook: InstalledWebhook,
    controlplane: ControlPlane,
    accelerators: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[PrivateWebhook]:
    """A jobgate with settings of MxJobs, and with the rights in the cluster that its account is given, no more."""
    kubeconfig = controlplane.kubeconfig_for("system:serviceaccount:jobgate-system:jobgate-webhook")
    settings = [f"--kubeconfig={kubeconfig}", f"--kind-settings=mxjobs.mxnet.mlkube.io={accelerators}"]
    with PrivateWebhook(controlplane, tmp_path_factory.mktemp("private"), settings) as installed:
        yield installed


@pytest.fixture
def user(private: PrivateWebhook, controlplane: ControlPlane) -> User:
    return User(controlplane, private.namespace)


@dataclass(frozen=True)
class Queues:
    """The queues of the cluster, and jobs that are tried in them."""

    user: User
    api: ClusterApi

    def put(self, name: str, state: str | None) -> None:
        """Make a queue, or bring it into another state."""
        queue: dict[str, Any] = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
        queue |= {"metadata": {"name": name}} | ({"status": {"state": state}} if state else {})
        self.api.delete(f"{QUEUES}/{name}")
        status, answer = self.api.post(QUEUES, queue)
        assert status == 201, answer

    def try_job(self, queue: str) -> str:
        """Create a job in a queue, for show; return what is said where it is rejected, else nothing."""
        job = yaml.safe_load(VCJOB)
        job["spec"]["queue"] = queue
        done, said = self.user.create(job, dry_run=True)
        return "" if done else said

    def refuse(self, queue: str, fault: str) -> Callable[[], bool]:
        """Return the condition that a job in a queue is rejected for this."""
        return lambda: fault in self.try_job(queue)

    def accept(self, queue: str) -> Callable[[], bool]:
        """Return the condition that a queue takes jobs."""
        return lambda: not self.try_job(queue)


@pytest.fixture(scope="module")
def queues(private: PrivateWebhook, controlplane: ControlPlane, cluster_api: ClusterApi) -> Iterator[Queues]:
    """Queues, which the cluster has only after a job has been stored in one that nobody has heard of."""
    queues = Queues(User(controlplane, private.namespace), cluster_api)
    early = yaml.safe_load(VCJOB)
    early["metadata"]["name"] = "early"
    early["spec"]["queue"] = "nowhere"
    done, said = queues.user.create(early)
    assert done, said
    definition = yaml.safe_load(QUEUE_DEFINITION)
    objects = ClusterObjects(controlplane.client)
    objects.apply(definition)
    wait_for(queues.refuse("nowhere", "no Queue with this name exists"), NOTICED, every=0.2)
    yield queues
    cluster_api.delete(objects.path(definition))
    # Other tests find none.
    wait_for(lambda: objects.stored(definition) is None, NOTICED, what="the queues are gone")


def test_a_job_in_a_queue_that_is_not_there_is_rejected(queues: Queues) -> None:
    fault = 'spec.queue: Not found: "absent": no Queue with this name exists in the cluster'
    assert fault in queues.try_job("absent")


def test_a_job_stored_before_queues_were_known_can_be_scaled(queues: Queues) -> None:
    patch = [{"op": "replace", "path": "/spec/tasks/0/replicas", "value": 2}]
    done, said = queues.user.patch("early", patch, "jobs.batch.volcano.sh")
    assert done, said


@pytest.mark.parametrize("state, word", [("Closed", "Closed"), ("Closing", "Closing"), (None, "not known yet")])
def test_a_queue_takes_jobs_once_it_is_open(queues: Queues, state: str | None, word: str) -> None:
    name = f"queue-{(state or 'new').lower()}"
    queues.put(name, state)
    fault = f"spec.queue: Forbidden: the queue {name} accepts no jobs: its state is {word}, must be Open"
    wait_for(queues.refuse(name, fault), NOTICED)
    queues.put(name, "Open")
    wait_for(queues.accept(name), NOTICED)


def test_a_queue_that_is_deleted_takes_no_more_jobs(queues: Queues) -> None:
    queues.put("passing", "Open")
    wait_for(queues.accept("passing"), NOTICED)
    queues.api.delete(f"{QUEUES}/passing")
    wait_for(queues.refuse("passing", "no Queue with this name exists"), NOTICED)


def pod_of(user: User) -> dict[str, Any] | None:
    """Return the pod spec that a new MxJob would be stored with; None if its two reviews had different settings."""
    job = yaml.safe_load(MXJOB) | {"metadata": {"name": "trial"}}
    collection = user.path("trial", MXJOBS).rpartition("/")[0]
    status, answer = user.plane.client.post(collection, job, {"dryRun": "All"})
    if status == 422:
        return None
    assert status == 201, answer
    spec: dict[str, Any] = answer["spec"]["replicaSpecs"][0]["template"]["spec"]
    return spec


def has_driver(user: User, host_path: str) -> Callable[[], bool]:
    """Return the condition that new jobs are given the driver that is at a path of the host."""

    def condition() -> bool:
        if (pod := pod_of(user)) is None:
            return False
        paths = [one["hostPath"]["path"] for one in pod.get("volumes", [])]
        mounts = [one["mountPath"] for one in pod["containers"][0].get("volumeMounts", [])]
        return paths == [host_path] and mounts == ["/usr/local/nvidia"]

    return condition


def has_no_driver(user: User) -> bool:
    """Return whether new jobs are given no driver."""
    return (pod := pod_of(user)) is not None and "volumes" not in pod


def test_accelerators_are_read_again_while_the_server_runs(
    user: User, private: PrivateWebhook, accelerators: Path
) -> None:
    assert has_no_driver(user)
    done, said = user.create(yaml.safe_load(MXJOB))
    assert done, said
    accelerators.write_text(DRIVER % "/opt/nvidia-535")
    wait_for(has_driver(user, "/opt/nvidia-535"), NOTICED, every=0.2)
    # A slip: the last good settings stay, and the log says what is wrong.
    accelerators.write_text(DRIVER % "opt/nvidia-550")
    wait_for(lambda: "invalid settings ignored" in private.log.read_text(), NOTICED)
    assert has_driver(user, "/opt/nvidia-535")()
    accelerators.write_text(DRIVER % "/opt/nvidia-550")
    wait_for(has_driver(user, "/opt/nvidia-550"), NOTICED, every=0.2)


def test_a_job_stored_without_drivers_is_not_stuck_once_there_are_some(
    user: User, private: PrivateWebhook, accelerators: Path
) -> None:
    accelerators.write_text("accelerators: {}\n")
    wait_for(lambda: has_no_driver(user), NOTICED, every=0.2)
    job = yaml.safe_load(MXJOB)
    job["metadata"]["name"] = "older"
    done, output = user.apply(job)
    assert done, output
    accelerators.write_text(DRIVER % "/opt/nvidia")
    wait_for(has_driver(user, "/opt/nvidia"), NOTICED, every=0.2)
    labelled = copy.deepcopy(job)
    labelled["metadata"]["labels"] = {"team": "vision"}
    done, output = user.apply(labelled)
    assert done, output
    assert user.stored("older", MXJOBS)["metadata"]["labels"] == {"team": "vision"}
    done, said = user.delete("older", MXJOBS)
    assert done, said
