"""Prerequisites by an annotation of an object whose kind is configured: its pods get them, if their creator may use them."""

from typing import Any

import pytest

from jobgate.configured.binding import configured
from jobgate.configured.catalogue import named_in_catalogue
from jobgate.configured.kind import ConfiguredKind
from jobgate.jobs.context import Settings
from jobgate.jobs.prerequisites import wanted
from jobgate.plugins import Crew
from jobgate.pods import PodReviewer, digest_of
from jobgate.pods.lookup import Lookup
from jobgate.prerequisites.reference import ANNOTATION, RECORD, read_record
from tests.corpus import CATALOGUE, jobs
from tests.prerequisites.items import NAMESPACE, Granted, Known, item
from tests.prerequisites.test_pods import CONTROLLER, EXAMPLES, Rights, ask, pod, prerequisites
from webhook import Access, Operation, Phase, Registry, Request, User, review

RAY, JOBSET, TORCH, SPARK, LWS = (
    "rayclusters.ray.io",
    "jobsets.jobset.x-k8s.io",
    "pytorchjobs.kubeflow.org",
    "sparkapplications.sparkoperator.k8s.io",
    "leaderworkersets.leaderworkerset.x-k8s.io",
)
KUBERAY = "system:serviceaccount:ray-system:kuberay-operator"
RAY_POD = {"ray.io/cluster": "training", "ray.io/group": "gpu"}
JOBSET_POD = {"jobset.sigs.k8s.io/jobset-name": "training", "jobset.sigs.k8s.io/replicatedjob-name": "leader"}
POD_ACCOUNT = f"system:serviceaccount:{NAMESPACE}:default"


def kind(name: str) -> ConfiguredKind:
    return configured(named_in_catalogue(name)[0])


def asks(name: str, text: str, **annotations: str) -> dict[str, Any]:
    """Return the correct example of a kind, with the annotation."""
    (job,) = jobs(CATALOGUE / f"{name}.yaml")
    about = {"namespace": NAMESPACE, "uid": "1", "annotations": {ANNOTATION: text, **annotations}}
    return {**job, "metadata": {**job["metadata"], **about}}


def findings(name: str, job: dict[str, Any], known: Known = EXAMPLES, access: Access | None = None) -> list[str]:
    """Return the faults and warnings of the review of an object."""
    of_kind = kind(name)
    request = Request(
        "1", of_kind.gvk.api_version, of_kind.kind, Operation.CREATE, "training", NAMESPACE, user=User("alice"),
        document=job,
    )  # fmt: skip
    answer = review(request, Phase.VALIDATE, Registry([of_kind]), Settings(), known, access=access)
    return [*map(str, answer.causes), *answer.warnings]


def created(name: str, job: dict[str, Any], document: dict[str, Any], user: str, *rights: str) -> tuple[list[str], str]:
    """Return the record in a pod that a user creates, and the reasons if it is denied."""
    of_kind = kind(name)

    class Jobs:
        def get(self, name: str, namespace: str = "") -> Any:
            return digest_of(of_kind, job)

    async def fetch(name: str, namespace: str) -> Any:
        return digest_of(of_kind, job)

    reviewer = PodReviewer([(of_kind, Lookup(of_kind.kind, Jobs(), fetch))], prerequisites(Rights(*rights)))
    answer = ask(reviewer, document, Phase.MUTATE, User(user))
    assert answer is not None
    added = [operation["value"] for operation in answer.patch if "annotations" in operation["path"]]
    record = next((value[RECORD] for value in added if isinstance(value, dict)), added[0] if added else "{}")
    return [*read_record(record)], answer.later or "; ".join(map(str, answer.causes))


@pytest.mark.parametrize(("name", "tasks"), [(RAY, 2), (JOBSET, 2), (TORCH, 2), (SPARK, 2), (LWS, 0)])
def test_all_tasks_have_the_references_of_the_job_if_its_pods_are_recognized(name: str, tasks: int) -> None:
    crew = digest_of(kind(name), asks(name, "mnist"))
    assert isinstance(crew, Crew)
    assert [[each.name for each in part.prerequisites] for part in crew.parts] == [["mnist"]] * tasks


def test_the_annotation_of_a_template_is_used_instead() -> None:
    job = asks(RAY, "mnist")
    template = job["spec"]["workerGroupSpecs"][0]["template"]
    template["metadata"] = {"annotations": {ANNOTATION: "debug-hook"}}
    crew = digest_of(kind(RAY), job)
    assert isinstance(crew, Crew)
    assert [[each.name for each in part.prerequisites] for part in crew.parts] == [["mnist"], ["debug-hook"]]


@pytest.mark.parametrize(
    ("name", "labels", "user", "rights", "allowed"),
    [
        (RAY, RAY_POD, KUBERAY, [KUBERAY], True),
        (RAY, RAY_POD, KUBERAY, [POD_ACCOUNT], True),
        (RAY, RAY_POD, KUBERAY, ["alice"], False),
        (RAY, RAY_POD, KUBERAY, [], False),
        (JOBSET, JOBSET_POD, CONTROLLER.name, [POD_ACCOUNT], True),
        (JOBSET, JOBSET_POD, "system:kube-controller-manager", [POD_ACCOUNT], True),
        (JOBSET, JOBSET_POD, CONTROLLER.name, [], False),
        (JOBSET, JOBSET_POD, "bob", [POD_ACCOUNT], False),
    ],
)
def test_who_creates_the_pod_needs_the_right_because_the_job_proves_none(
    name: str, labels: dict[str, str], user: str, rights: list[str], allowed: bool
) -> None:
    owner = ("batch/v1", "Job") if name == JOBSET else ("ray.io/v1", "RayCluster")
    record, why = created(name, asks(name, "mnist"), pod(None, owner, labels=labels), user, *rights)
    assert ("Prerequisite/mnist" in record) == allowed
    assert ("cannot use" in why) == (not allowed), why


def test_a_group_without_replicas_that_its_autoscaler_grows_gets_them_too() -> None:
    job = asks(RAY, "mnist")
    job["spec"]["workerGroupSpecs"][0] |= {"replicas": 0, "minReplicas": 0}
    record, why = created(RAY, job, pod(None, labels=RAY_POD), "alice", "alice")
    assert "Prerequisite/mnist" in record, why


def test_a_pod_whose_index_plugins_need_is_asked_for_again() -> None:
    labels = {"training.kubeflow.org/job-name": "training", "training.kubeflow.org/replica-type": "worker"}
    for annotations, later in (({}, False), ({"jobgate.dev/plugins": "env"}, True)):
        _, why = created(TORCH, asks(TORCH, "mnist", **annotations), pod(None, labels=labels), "alice", "alice")
        assert ("cannot determine the index" in why) == later, why


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (RAY, "mnist", None),
        (RAY, "no-such", 'metadata.annotations[jobgate.dev/prerequisites]: Not found: "no-such"'),
        (RAY, "a b", "metadata.annotations[jobgate.dev/prerequisites]: Invalid value"),
        (SPARK, "no-such", 'metadata.annotations[jobgate.dev/prerequisites]: Not found: "no-such"'),
        (RAY, "ClusterPrerequisite/wires", "plugin svc is not offered here; available plugins: (none)"),
        (LWS, "mnist", "has no effect: the description of LeaderWorkerSet lacks members"),
    ],
)
def test_the_review_of_the_object_reports_faults_of_the_annotation(name: str, text: str, expected: str | None) -> None:
    known = Known([*EXAMPLES.documents.values(), item("wires", plugin={"name": "svc"})])
    texts = [each for each in findings(name, asks(name, text), known) if "rerequisite" in each or "plugin" in each]
    assert bool(texts) == (expected is not None), texts
    assert all(str(expected) in each for each in texts), texts


def test_the_author_needs_the_right_to_what_the_object_newly_names() -> None:
    job = asks(RAY, "mnist")
    request = Request("1", "ray.io/v1", "RayCluster", Operation.CREATE, "training", NAMESPACE, document=job)
    names = [name for _, name in wanted(kind(RAY), request, EXAMPLES)]
    assert "mnist" in names
    assert any("cannot use" in text for text in findings(RAY, job, access=Granted({})))
    granted = Granted(
        {"alice": [f"{what}/{name}" for name in names for what in ("Prerequisite", "ClusterPrerequisite")]}
    )
    assert not findings(RAY, job, access=granted)


def test_an_item_cannot_ask_for_plugins() -> None:
    known = Known([item("wires", plugin={"name": "svc"})])
    of_kind = kind(RAY)
    job = asks(RAY, "ClusterPrerequisite/wires")

    class Jobs:
        def get(self, name: str, namespace: str = "") -> Any:
            return digest_of(of_kind, job)

    reviewer = PodReviewer([(of_kind, Lookup("RayCluster", Jobs(), None))], prerequisites(Rights("alice"), known))  # type: ignore[arg-type]
    answer = ask(reviewer, pod(None, labels=RAY_POD), Phase.MUTATE, User("alice"))
    assert answer is not None
    assert "UnsupportedPlugin" in str(answer.causes)
