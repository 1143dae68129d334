"""Pods at admission: those of jobs get what the job names, others what their annotation names and their author may use."""

import asyncio
from collections.abc import Iterable
from typing import Any

import jsonpatch
import pytest

from jobgate.jobs.kind import JobKind, job_kinds
from jobgate.jobs.status import taken_over
from jobgate.kinds import installed
from jobgate.pods import ItemReviewer, PermissionCache, PodReviewer, Prerequisites, WorkloadReviewer, digest_of
from jobgate.pods.lookup import Lookup
from jobgate.prerequisites.reference import ANNOTATION, RECORD, RESOURCES, read_record
from tests.prerequisites.items import NAMESPACE, Known, examples, item, starts, wants
from tests.prerequisites.test_jobs import dijob, others
from webhook import Operation, Phase, Request, Response, User

KINDS = {kind.kind: kind for kind in job_kinds(installed())}
EXAMPLES = Known(examples())
CONTROLLER = User("system:serviceaccount:kube-system:job-controller")

_VOLCANO_STATUS = "jobs/status.v1alpha1.batch.volcano.sh"
VOLCANO_ACCOUNT = "system:serviceaccount:volcano-system:volcano-controllers"
RUNNER_ACCOUNT = "system:serviceaccount:jobgate-system:jobgate-runner"
DI_ACCOUNT = "system:serviceaccount:di-system:operator"
#: The rights of operators: the runner only patches.
OPERATORS = {
    VOLCANO_ACCOUNT: {("update", _VOLCANO_STATUS)},
    RUNNER_ACCOUNT: {("patch", _VOLCANO_STATUS)},
    DI_ACCOUNT: {("update", "dijobs/status.v2alpha1.diengine.opendilab.org")},
}


class Rights:
    """Answers questions as an API server would, and counts those about items: Volcano and DI-orchestrator may `use` none.

    The accounts of `OPERATORS` may write the status of all jobs of one resource.
    """

    def __init__(self, *users: str) -> None:
        self.users = set(users)
        self.asked: list[tuple[str, str, str]] = []

    async def __call__(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool:
        if "/status." in resource:
            assert (name, namespace) == ("", "")
            return (verb, resource) in OPERATORS.get(user.name, ())
        assert (verb, namespace) == ("use", NAMESPACE)
        assert resource in RESOURCES.values()
        self.asked.append((user.name, resource, name))
        return user.name in self.users


def prerequisites(rights: Rights, known: Known = EXAMPLES, runs: Iterable[str] = ()) -> Prerequisites:
    return Prerequisites(known, PermissionCache(rights, lambda: 0.0), frozenset(runs))


def pod(annotation: str | None, owner: tuple[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """A pod with one container."""
    annotations = {"annotations": {ANNOTATION: annotation}} if annotation is not None else {}
    owned = [{"apiVersion": owner[0], "kind": owner[1], "name": "o", "uid": "1", "controller": True}] if owner else None
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "one", **annotations, **({"ownerReferences": owned} if owned else {}), **metadata},
        "spec": {"containers": [{"name": "main", "image": "x", "command": ["python"]}]},
    }  # fmt: skip


def ask(reviewer: PodReviewer, document: dict[str, Any], phase: Phase, user: User) -> Response | None:
    request = Request("1", "v1", "Pod", Operation.CREATE, namespace=NAMESPACE, user=user, document=document)
    return asyncio.run(reviewer.review(request, phase))


def defaulted(
    document: dict[str, Any], rights: Rights, known: Known = EXAMPLES, user: str = "alice"
) -> tuple[dict[str, Any], list[str]]:
    """The pod as it is after both calls, and what it is rejected for."""
    for phase in Phase:
        answer = ask(PodReviewer((), prerequisites(rights, known)), document, phase, User(user))
        assert answer is not None
        if answer.causes:
            return document, [str(cause) for cause in answer.causes]
        document = jsonpatch.apply_patch(document, list(answer.patch))
    return document, []


def test_a_pod_without_the_annotation_is_left_alone() -> None:
    assert ask(PodReviewer((), prerequisites(Rights())), pod(None), Phase.MUTATE, User("alice")) is None


@pytest.mark.parametrize(("annotation", "allowed"), [("mnist", True), (None, False)])
def test_a_pod_with_names_is_served_whoever_owns_it_while_a_kind_is_missing(
    annotation: str | None, allowed: bool
) -> None:
    """A pod without names reaches the webhook only by the selector of the missing kind."""
    reviewer = PodReviewer((), prerequisites(Rights("alice")), lacking=["sweeps:KIND cannot be loaded"])
    answer = ask(reviewer, pod(annotation, ("ray.io/v1", "RayCluster")), Phase.MUTATE, User("alice"))
    assert answer is not None
    assert answer.allowed is allowed


@pytest.mark.parametrize("names", ["mnist", "imagenet", "imagenet, imagenet-only-validation", "debug-hook"])
def test_a_pod_gets_the_scenarios_that_it_names(names: str) -> None:
    after, causes = defaulted(pod(names), Rights("alice"))
    assert not causes
    assert after["spec"]["containers"][0]["command"][-1] == "python"
    assert len(after["spec"]["containers"][0]["command"]) > 1
    assert f"Prerequisite/{names.partition(',')[0]}" in read_record(after["metadata"]["annotations"][RECORD])


@pytest.mark.parametrize(
    ("document", "rights", "user", "refused"),
    [
        (pod("mnist"), ["alice"], "alice", False),
        (pod("mnist"), [], "alice", True),
        (pod("mnist"), ["system:serviceaccount:team:default"], "alice", True),
        (pod("mnist", ("example.com/v1", "Sweep")), ["system:serviceaccount:team:default"], "alice", True),
        (pod("mnist", ("example.com/v1", "Sweep")), ["system:serviceaccount:team:default"],
         "system:serviceaccount:sweeps:operator", False),
        (pod("mnist", ("example.com/v1", "Sweep")), [], "system:serviceaccount:sweeps:operator", True),
        (pod("mnist", ("batch/v1", "Job")), [], CONTROLLER.name, False),
        (pod("mnist", ("batch/v1", "Job")), [], "system:kube-controller-manager", False),
        (pod("mnist", ("batch/v1", "Job")), [], "alice", True),
        (pod("mnist", ("example.com/v1", "Job")), [], CONTROLLER.name, True),
        (pod("mnist"), [], CONTROLLER.name, True),
    ],
)  # fmt: skip
def test_who_creates_a_pod_needs_the_right_to_its_items(
    document: dict[str, Any], rights: list[str], user: str, refused: bool
) -> None:
    _, causes = defaulted(document, Rights(*rights), user=user)
    assert bool(causes) == refused
    assert all("cannot use" in cause for cause in causes)


@pytest.mark.parametrize(
    "spec",
    [
        {"templateVariables": [{"name": "x", "pattern": "hidden"}]},
        {"env": [{"name": "A", "value": "{{ hidden }}"}]},
        {"plugin": {"name": "hidden"}},
        {"pvcStorage": {"name": "hidden", "mountPath": "/a:b"}},
    ],
)
def test_a_denial_does_not_reveal_the_content_of_an_item(spec: dict[str, Any]) -> None:
    named, known = pod('[{"kind": "ClusterPrerequisite", "name": "a"}]'), Known([item("a", **spec)])
    _, causes = defaulted(named, Rights(), known)
    assert causes
    assert all("user 'alice' cannot use ClusterPrerequisite a" in cause for cause in causes), causes
    _, causes = defaulted(named, Rights("alice"), known)
    assert causes
    assert not any("cannot use" in cause for cause in causes)


def test_a_right_is_asked_for_once_in_a_while() -> None:
    rights = Rights("alice")
    reviewer = PodReviewer((), prerequisites(rights))

    async def twice() -> None:
        for _ in range(2):
            request = Request(
                "1", "v1", "Pod", Operation.CREATE, namespace=NAMESPACE, user=User("alice"), document=pod("mnist")
            )
            await reviewer.review(request, Phase.MUTATE)

    asyncio.run(twice())
    assert len(rights.asked) == 3


def test_what_someone_removes_after_us_rejects_the_pod() -> None:
    reviewer = PodReviewer((), prerequisites(Rights("alice")))
    answer = ask(reviewer, pod("imagenet"), Phase.VALIDATE, User("alice"))
    assert answer is not None
    assert "set by prerequisites" in str(answer.causes)


def test_a_plugin_is_for_pods_of_jobs_only() -> None:
    _, causes = defaulted(pod("ClusterPrerequisite/a"), Rights("alice"), Known([item("a", plugin={"name": "svc"})]))
    assert "UnsupportedPlugin" in causes[0]


class Unknown(Known):
    """The objects of a server before it has listed any."""

    def get(self, resource: str, name: str, namespace: str = "") -> Any:
        raise LookupError(resource)


def test_before_items_are_known_a_pod_is_answered_later() -> None:
    answer = ask(
        PodReviewer((), prerequisites(Rights("alice"), Unknown([]))), pod("mnist"), Phase.MUTATE, User("alice")
    )
    assert answer is not None
    assert answer.status()["code"] == 429


def of_dijob() -> dict[str, Any]:
    """A pod as DI-orchestrator makes it: it carries nothing of its template's metadata."""
    labels = {"diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": "work"}
    return pod(None, ("diengine.opendilab.org/v2alpha1", "DIJob"), name="train-work-0", labels=labels)


def test_a_pod_of_a_job_gets_what_the_job_names_without_a_question() -> None:
    job = dijob(wants("mnist"), of_job=[wants("debug-hook")])
    job["metadata"]["uid"] = "1"
    kind, rights = KINDS["DIJob"], Rights()

    class Jobs:
        def get(self, name: str, namespace: str = "") -> Any:
            return digest_of(kind, job)

    async def fetch(name: str, namespace: str) -> Any:
        raise AssertionError("the cache knows")

    reviewer = PodReviewer([(kind, Lookup("DIJob", Jobs(), fetch))], prerequisites(rights))
    document: dict[str, Any] = of_dijob()
    for phase in Phase:
        answer = ask(reviewer, document, phase, User(DI_ACCOUNT))
        assert answer is not None
        assert answer.allowed, answer.causes
        document = jsonpatch.apply_patch(document, list(answer.patch))
    assert not rights.asked
    assert list(read_record(document["metadata"]["annotations"][RECORD])) == [
        "ClusterPrerequisite/debug-hook", "Prerequisite/debug-hook",
        "ClusterPrerequisite/install-wget", "ClusterPrerequisite/mnist", "Prerequisite/mnist",
    ]  # fmt: skip


VOLCANO = {"volcano.sh/job-name": "train", "volcano.sh/task-spec": "w", "volcano.sh/task-index": "0"}
OURS = {"jobgate.dev/kind": "jobs.batch.volcano.sh", "jobgate.dev/job": "train", "jobgate.dev/task": "w"}


def volcano(annotation: str | None, *, run: bool = False) -> list[tuple[JobKind, Lookup]]:
    """What finds a stored Job of Volcano's, whose template names prerequisites; jobgate may run it."""
    metadata = {"name": "train", "namespace": NAMESPACE, "uid": "1"}
    job = {"kind": "Job", "metadata": metadata, **others(annotation)["Job"]}
    job = taken_over(job) if run else job
    kind = KINDS["Job"]

    class Jobs:
        def get(self, name: str, namespace: str = "") -> Any:
            return digest_of(kind, job)

    async def fetch(name: str, namespace: str) -> Any:
        raise AssertionError("the cache knows")

    return [(kind, Lookup("Job", Jobs(), fetch))]


@pytest.mark.parametrize(("named", "allowed"), [("mnist", True), ("mnist, debug-hook", False)])
def test_a_pod_of_volcano_gets_what_its_job_was_checked_for_and_nothing_beside(named: str, allowed: bool) -> None:
    reviewer = PodReviewer(volcano("mnist"), prerequisites(Rights()))
    document = pod(named, ("batch.volcano.sh/v1alpha1", "Job"), labels=VOLCANO)
    answer = ask(reviewer, document, Phase.MUTATE, User(VOLCANO_ACCOUNT))
    assert answer is not None
    assert answer.allowed == allowed


@pytest.mark.parametrize(("named", "allowed"), [("mnist", True), ("mnist, debug-hook", False)])
def test_a_workload_that_runs_a_task_of_a_job_needs_no_right_of_its_own(named: str, allowed: bool) -> None:
    document = deployment(named)
    document["spec"]["template"]["metadata"]["labels"] = OURS
    reviewer = WorkloadReviewer(prerequisites(Rights()), volcano("mnist"))
    request = Request(
        "1",
        "batch/v1",
        "Job",
        Operation.CREATE,
        "train-w",
        NAMESPACE,
        user=User(RUNNER_ACCOUNT),
        document=document,
    )
    answer = asyncio.run(reviewer.review(request))
    assert answer is not None
    assert answer.allowed == allowed


def deployment(annotation: str, command: list[str] | None = None) -> dict[str, Any]:
    template = {"metadata": {"annotations": {ANNOTATION: annotation}}, "spec": pod(None)["spec"]}
    template["spec"]["containers"][0]["command"] = command or ["python"]
    return {"metadata": {"name": "web"}, "spec": {"template": template}}


@pytest.mark.parametrize(
    ("kind", "document", "old", "rights", "expected"),
    [
        ("apps/v1 Deployment", deployment("mnist"), None, ["alice"], ""),
        ("apps/v1 Deployment", deployment("mnist"), None, [], "cannot use Prerequisite mnist"),
        ("apps/v1 Deployment", deployment("no"), None, ["alice"], "UnknownReference: Deployment web → Prerequisite no"),
        (
            "batch/v1 CronJob",
            {"spec": {"jobTemplate": {"spec": deployment("no")["spec"]}}},
            None,
            ["alice"],
            "UnknownRef",
        ),
        ("apps/v1 Deployment", deployment("no"), deployment("no"), [], None),
        ("apps/v1 Deployment", deployment("no"), deployment("mnist"), ["alice"], "UnknownReference"),
        ("example.com/v1 Deployment", deployment("no"), None, [], None),
        ("apps/v1 Deployment", "text", None, [], None),
    ],
)
def test_a_workload_is_told_what_its_pods_would_be_rejected_for(
    kind: str, document: Any, old: Any, rights: Iterable[str], expected: str | None
) -> None:
    version, _, name = kind.partition(" ")
    operation = Operation.UPDATE if old else Operation.CREATE
    request = Request(
        "1", version, name, operation, "web", NAMESPACE, user=User("alice"), document=document, old_document=old
    )
    answer = asyncio.run(WorkloadReviewer(prerequisites(Rights(*rights))).review(request))
    assert (answer is None) == (expected is None)
    if answer is not None and expected is not None:
        assert answer.allowed == (not expected)
        assert all(expected in str(cause) or "cannot use" in str(cause) for cause in answer.causes)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"cmd": starts("ls {{ x }}")}, "spec.cmd.callbacks[0].commands[0]: UndeclaredPlaceholder"),
        ({"templateVariables": [{"name": "x", "pattern": "("}]}, "spec.templateVariables[0].pattern: InvalidValue"),
        ({"templateVariables": [{"name": "x", "default": "a b"}]}, "spec.templateVariables[0].default: InvalidValue"),
        ({"require": [wants("a", "Prerequisite")]}, "spec.require[0].kind: UnknownReference"),
        ({"env": [{"name": "A=B"}]}, "spec.env[0].name: Malformed"),
        ({"require": [wants("not-there-yet")]}, ""),
    ],
)
def test_an_item_that_is_wrong_by_itself_is_rejected(spec: dict[str, Any], expected: str) -> None:
    request = Request("1", "jobgate.dev/v1alpha1", "ClusterPrerequisite", Operation.CREATE, document=item("a", **spec))
    answer = asyncio.run(ItemReviewer().review(request))
    assert answer is not None
    assert [str(cause).startswith(expected) for cause in answer.causes] == [True] * bool(expected)


JOB, OF_ANOTHER_KIND = ("batch.volcano.sh/v1alpha1", "Job"), ("diengine.opendilab.org/v2alpha1", "DIJob")
FORGED = [
    ("a person", "mallory", JOB, None, False),
    ("an account of the namespace", f"system:serviceaccount:{NAMESPACE}:default", JOB, None, False),
    ("an account of another namespace", "system:serviceaccount:ci:builder", JOB, None, False),
    ("the operator of another kind", DI_ACCOUNT, JOB, None, False),
    ("the operator", VOLCANO_ACCOUNT, JOB, None, True),
    ("the operator, by a template of another kind's job", VOLCANO_ACCOUNT, OF_ANOTHER_KIND, None, False),
    ("the control plane", "system:kube-controller-manager", JOB, None, False),
    ("a tenant's ReplicaSet", "system:serviceaccount:kube-system:replicaset-controller", ("apps/v1", "ReplicaSet"),
     None, False),
    ("a tenant's batch Job", CONTROLLER.name, ("batch/v1", "Job"), None, False),
    ("a batch Job that was checked", CONTROLLER.name, ("batch/v1", "Job"), "mnist", True),
    ("an account that is called so", "system:serviceaccount:kube-system:job-controller-2", ("batch/v1", "Job"), "mnist",
     False),
]  # fmt: skip


@pytest.mark.parametrize(("case", "user", "owner", "annotation", "allowed"), FORGED)
def test_who_copies_the_labels_and_owner_of_a_job_does_not_get_what_its_author_may_use(
    case: str, user: str, owner: tuple[str, str], annotation: str | None, allowed: bool
) -> None:
    document = pod(annotation, owner, labels=VOLCANO)
    answer = ask(PodReviewer(volcano("mnist"), prerequisites(Rights())), document, Phase.MUTATE, User(user))
    assert answer is not None
    assert (answer.allowed, bool(answer.patch)) == (allowed, allowed), case
    assert allowed or "cannot use" in str(answer.causes[0])


VOLCANO_JOBS = "jobs.batch.volcano.sh"


@pytest.mark.parametrize(
    ("case", "user", "owner", "runs", "allowed"),
    [
        ("of the runner", CONTROLLER.name, ("batch/v1", "Job"), VOLCANO_JOBS, True),
        ("the runner runs other kinds", CONTROLLER.name, ("batch/v1", "Job"), "mxjobs.mxnet.mlkube.io", False),
        ("of a Deployment", "system:kube-controller-manager", ("apps/v1", "ReplicaSet"), VOLCANO_JOBS, False),
        ("of a person", "mallory", ("batch/v1", "Job"), VOLCANO_JOBS, False),
    ],
)
def test_a_pod_that_names_no_item_by_itself_gets_those_of_a_job_that_the_runner_runs(
    case: str, user: str, owner: tuple[str, str], runs: str, allowed: bool
) -> None:
    labels = {**OURS, "jobgate.dev/run": "1", "batch.kubernetes.io/job-completion-index": "0"}
    document = pod(None, owner, labels=labels)
    reviewer = PodReviewer(volcano("mnist", run=True), prerequisites(Rights(), runs=[runs]))
    answer = ask(reviewer, document, Phase.MUTATE, User(user))
    assert answer is not None
    assert answer.allowed == allowed, case
    assert allowed == any("prerequisites-recorded" in str(operation) for operation in answer.patch)


def test_while_it_is_not_known_who_is_an_operator_a_pod_is_answered_later() -> None:
    async def ask_nobody(*_: Any) -> bool:
        raise TimeoutError

    items = Prerequisites(EXAMPLES, PermissionCache(ask_nobody, lambda: 0.0))
    answer = ask(PodReviewer(volcano("mnist"), items), pod(None, JOB, labels=VOLCANO), Phase.MUTATE, User("mallory"))
    assert answer is not None
    assert answer.status()["code"] == 429


@pytest.mark.parametrize(
    ("case", "owner", "in_template", "user", "allowed"),
    [
        ("a Deployment was checked, its ReplicaSet need not be", "Deployment", False, CONTROLLER.name, True),
        ("a user invents the owner", "Deployment", False, "mallory", False),
        ("the template invents one", "Deployment", True, CONTROLLER.name, False),
        ("the owner is of nobody's that was checked", "Sweep", False, CONTROLLER.name, False),
    ],
)
def test_what_a_workload_makes_of_itself_needs_no_right(
    case: str, owner: str, in_template: bool, user: str, allowed: bool
) -> None:
    document = deployment("mnist")
    metadata = document["spec"]["template"]["metadata"] if in_template else document["metadata"]
    metadata["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "1", "controller": True}
    ]
    request = Request(
        "1", "apps/v1", "ReplicaSet", Operation.CREATE, "web-1", NAMESPACE, user=User(user), document=document
    )
    answer = asyncio.run(WorkloadReviewer(prerequisites(Rights("alice"))).review(request))
    assert answer is not None
    assert answer.allowed == allowed, case


CHAIN = Known([item("mine", "Prerequisite"), item("shown", require=[wants("secret")]), item("secret", cmd=starts("x"))])


@pytest.mark.parametrize(
    ("case", "require", "old", "user", "refused"),
    [
        ("who may use it", [wants("secret", "ClusterPrerequisite")], [], "alice", ""),
        ("who may not", [wants("secret", "ClusterPrerequisite")], [], "mallory", "ClusterPrerequisite secret"),
        ("it is not there yet", [wants("later", "ClusterPrerequisite")], [], "mallory", "ClusterPrerequisite later"),
        ("by another item", [wants("shown", "ClusterPrerequisite")], [], "mallory", "ClusterPrerequisite secret"),
        ("behind many that are missing", [*(wants(f"m{n}") for n in range(31)), wants("shown", "ClusterPrerequisite")],
         [], "mallory", "ClusterPrerequisite secret"),
        ("it was required before", [wants("shown", "ClusterPrerequisite")], [wants("shown", "ClusterPrerequisite"),
         wants("mine")], "mallory", ""),
    ],
)  # fmt: skip
def test_who_writes_an_item_needs_the_right_to_what_it_newly_requires(
    case: str, require: list[Any], old: list[Any], user: str, refused: str
) -> None:
    """A job that names the item is stored and checked already: its next pod would get what the item requires now."""
    request = Request(
        "1", "jobgate.dev/v1alpha1", "Prerequisite", Operation.UPDATE, "mine", NAMESPACE, user=User(user),
        document=item("mine", "Prerequisite", require=require), old_document=item("mine", "Prerequisite", require=old),
    )  # fmt: skip
    answer = asyncio.run(ItemReviewer(CHAIN, PermissionCache(Rights("alice"), lambda: 0.0)).review(request))
    assert answer is not None
    assert answer.allowed == (not refused), case
    assert not refused or any(f"cannot use {refused}" in str(cause) for cause in answer.causes)
