"""Settings of an installation, and its lookups in the cluster, from a user's point of view."""

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

#: Limit in seconds for a change to take effect: a busy machine is slow, and a server that waits for a CRD looks for it
#: less and less often.
NOTICED = 90.0

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
#: A minimal CRD. Without the status subresource, the status can be written like any field.
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
    """The settings file for accelerators; empty at first."""
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
    """A jobgate with settings for MxJobs, and only the rights of its account."""
    kubeconfig = controlplane.kubeconfig_for("system:serviceaccount:jobgate-system:jobgate-webhook")
    settings = [f"--kubeconfig={kubeconfig}", f"--kind-settings=mxjobs.mxnet.mlkube.io={accelerators}"]
    with PrivateWebhook(controlplane, tmp_path_factory.mktemp("private"), settings) as installed:
        yield installed


@pytest.fixture
def user(private: PrivateWebhook, controlplane: ControlPlane) -> User:
    return User(controlplane, private.namespace)


@dataclass(frozen=True)
class Queues:
    """The queues of the cluster, and trial jobs in them."""

    user: User
    api: ClusterApi

    def put(self, name: str, state: str | None) -> None:
        """Create a queue, or replace it by a queue in another state."""
        queue: dict[str, Any] = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
        queue |= {"metadata": {"name": name}} | ({"status": {"state": state}} if state else {})
        self.api.delete(f"{QUEUES}/{name}")
        status, answer = self.api.post(QUEUES, queue)
        assert status == 201, answer

    def try_job(self, queue: str) -> str:
        """Create a job in a queue, in a dry run; return the denial, or an empty text."""
        job = yaml.safe_load(VCJOB)
        job["spec"]["queue"] = queue
        done, output = self.user.create(job, dry_run=True)
        return "" if done else output

    def refuse(self, queue: str, fault: str) -> Callable[[], bool]:
        """Return the condition that a job in a queue is denied for this fault."""
        return lambda: fault in self.try_job(queue)

    def accept(self, queue: str) -> Callable[[], bool]:
        """Return the condition that a queue accepts jobs."""
        return lambda: not self.try_job(queue)


@pytest.fixture(scope="module")
def queues(private: PrivateWebhook, controlplane: ControlPlane, cluster_api: ClusterApi) -> Iterator[Queues]:
    """Queues; their CRD is created after a job with an unknown queue is stored."""
    queues = Queues(User(controlplane, private.namespace), cluster_api)
    early = yaml.safe_load(VCJOB)
    early["metadata"]["name"] = "early"
    early["spec"]["queue"] = "nowhere"
    done, output = queues.user.create(early)
    assert done, output
    definition = yaml.safe_load(QUEUE_DEFINITION)
    objects = ClusterObjects(controlplane.client)
    objects.apply(definition)
    wait_for(queues.refuse("nowhere", "no Queue with this name exists"), NOTICED, every=0.2)
    yield queues
    cluster_api.delete(objects.path(definition))
    # Other tests need a cluster without queues.
    wait_for(lambda: objects.stored(definition) is None, NOTICED, what="the queues are gone")


def test_a_job_in_a_missing_queue_is_rejected(queues: Queues) -> None:
    fault = 'spec.queue: Not found: "absent": no Queue with this name exists in the cluster'
    assert fault in queues.try_job("absent")


def test_a_job_stored_before_queues_were_known_can_be_scaled(queues: Queues) -> None:
    patch = [{"op": "replace", "path": "/spec/tasks/0/replicas", "value": 2}]
    done, output = queues.user.patch("early", patch, "jobs.batch.volcano.sh")
    assert done, output


@pytest.mark.parametrize("state, word", [("Closed", "Closed"), ("Closing", "Closing"), (None, "not known yet")])
def test_a_queue_accepts_jobs_once_it_is_open(queues: Queues, state: str | None, word: str) -> None:
    name = f"queue-{(state or 'new').lower()}"
    queues.put(name, state)
    fault = f"spec.queue: Forbidden: the queue {name} accepts no jobs: its state is {word}, must be Open"
    wait_for(queues.refuse(name, fault), NOTICED)
    queues.put(name, "Open")
    wait_for(queues.accept(name), NOTICED)


def test_a_deleted_queue_accepts_no_jobs(queues: Queues) -> None:
    queues.put("passing", "Open")
    wait_for(queues.accept("passing"), NOTICED)
    queues.api.delete(f"{QUEUES}/passing")
    wait_for(queues.refuse("passing", "no Queue with this name exists"), NOTICED)


def pod_of(user: User) -> dict[str, Any] | None:
    """Return the pod spec of a new MxJob in a dry run; None if the settings change between its two reviews."""
    job = yaml.safe_load(MXJOB) | {"metadata": {"name": "trial"}}
    collection = user.path("trial", MXJOBS).rpartition("/")[0]
    status, answer = user.plane.client.post(collection, job, {"dryRun": "All"})
    if status == 422:
        return None
    assert status == 201, answer
    spec: dict[str, Any] = answer["spec"]["replicaSpecs"][0]["template"]["spec"]
    return spec


def has_driver(user: User, host_path: str) -> Callable[[], bool]:
    """Return the condition that new jobs get the driver at a path of the host."""

    def condition() -> bool:
        if (pod := pod_of(user)) is None:
            return False
        paths = [volume["hostPath"]["path"] for volume in pod.get("volumes", [])]
        mounts = [mount["mountPath"] for mount in pod["containers"][0].get("volumeMounts", [])]
        return paths == [host_path] and mounts == ["/usr/local/nvidia"]

    return condition


def has_no_driver(user: User) -> bool:
    """Whether new jobs get no driver."""
    return (pod := pod_of(user)) is not None and "volumes" not in pod


def test_accelerators_are_read_again_while_the_server_runs(
    user: User, private: PrivateWebhook, accelerators: Path
) -> None:
    assert has_no_driver(user)
    done, output = user.create(yaml.safe_load(MXJOB))
    assert done, output
    accelerators.write_text(DRIVER % "/opt/nvidia-535")
    wait_for(has_driver(user, "/opt/nvidia-535"), NOTICED, every=0.2)
    # After a mistake the last valid settings stay, and the log names the mistake.
    accelerators.write_text(DRIVER % "opt/nvidia-550")
    wait_for(lambda: "invalid settings ignored" in private.log.read_text(), NOTICED)
    assert has_driver(user, "/opt/nvidia-535")()
    accelerators.write_text(DRIVER % "/opt/nvidia-550")
    wait_for(has_driver(user, "/opt/nvidia-550"), NOTICED, every=0.2)


def test_a_job_stored_without_drivers_can_be_changed_once_drivers_are_configured(
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
    done, output = user.delete("older", MXJOBS)
    assert done, output
