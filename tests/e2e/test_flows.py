"""JobFlows on a whole control plane: webhook, runner, and pods that are processes."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.processes import ProcessNode
from controlplane.processes.node import CHOSEN
from controlplane.processes.sandbox import MissingError
from controlplane.runner import USER, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, space
from tests.kinds.vcjob.jobs import job, task
from tests.kinds.vcjob.test_flows import as_template, flow, jobflow
from tests.missing import lacking

__all__ = ["space"]

FLOW, VOLCANO = "flow.volcano.sh/v1alpha1", "batch.volcano.sh/v1alpha1"
DIAMOND = (flow("a"), flow("b", "a"), flow("c", "a"), flow("d", "b", "c"))


#: Waits until `let_go` creates this file in the pod's folder, which is mounted at /mnt.
WAITS = "until [ -e /mnt/go ]; do sleep 0.1; done"


@pytest.fixture(scope="module", autouse=True)
def node(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessNode]:
    """A node whose pods are processes, and the runner."""
    try:
        with (
            ProcessNode(whole_controlplane, "flows", tmp_path_factory.mktemp("node")) as node,
            runner(whole_controlplane, tmp_path_factory.mktemp("runner") / "log"),
        ):
            yield node
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")


def template(space: Space, name: str, command: str = "exit 0", **annotations: str) -> None:
    """Create a JobTemplate whose pod has annotations and runs a command."""
    container = {"name": "main", "image": "none", "command": ["sh", "-c", command]}
    pod = {**CHOSEN, "restartPolicy": "Never", "containers": [container]}
    metadata = {"annotations": annotations}
    spec = {"tasks": [{"name": "main", "replicas": 1, "template": {"metadata": metadata, "spec": pod}}]}
    space.create(
        "jobtemplates", {"apiVersion": FLOW, "kind": "JobTemplate", "metadata": {"name": name}, "spec": spec}, FLOW
    )


def refused(plane: WholeControlPlane, space: Space, document: dict[str, Any], user: str) -> str:
    """Create an object as a user, and return why it is denied; empty if it is not."""
    done = plane.kubectl(user, "-n", space.name, "create", "-f", "-", input=json.dumps(document), check=False)
    return done.stderr if done.returncode else ""


def status(space: Space) -> dict[str, Any]:
    """The status of the flow."""
    value: dict[str, Any] = space.get("jobflows", "train", FLOW).get("status", {})
    return value


def reaches(space: Space, phase: str) -> dict[str, Any]:
    """Wait until the flow is in a phase, and return its status."""
    wait_for(
        lambda: status(space).get("state", {}).get("phase") == phase, WAIT, every=0.2, what=f"{phase}: {status(space)}"
    )
    return status(space)


def running(space: Space) -> set[str]:
    """The Jobs of the flow that run."""
    return {each["name"] for each in status(space).get("jobStatusList") or () if each.get("state") == "Running"}


def let_go(node: ProcessNode, space: Space, *names: str) -> None:
    """Wait until exactly these Jobs of the flow run, at the same time, and let them end."""
    wait_for(lambda: running(space) == set(names), WAIT, what=f"{names} run")
    for name in names:
        (folder,) = node.folder.glob(f"{space.name}.{name}-main-*")
        (folder / "go").touch()


def times(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """When each Job was created, and ended."""
    return {each["name"]: (each["startTimestamp"], each["endTimestamp"]) for each in status["jobStatusList"]}


def events(space: Space) -> set[str]:
    """The reasons of Events of the flow."""
    return {event["reason"] for event in space.items("events") if event["involvedObject"]["kind"] == "JobFlow"}


def test_a_diamond_runs_in_order_to_its_end_and_its_jobs_are_deleted(node: ProcessNode, space: Space) -> None:
    for name in "abcd":
        template(space, name, WAITS)
    space.create("jobflows", jobflow(*DIAMOND, jobRetainPolicy="delete"), FLOW)
    let_go(node, space, "train-a")
    let_go(node, space, "train-b", "train-c")
    let_go(node, space, "train-d")
    ended = reaches(space, "Succeed")
    assert sorted(ended["completedJobs"]) == [f"train-{name}" for name in "abcd"]
    of = times(ended)
    assert of["train-a"][1] <= min(of["train-b"][0], of["train-c"][0])
    assert max(of["train-b"][1], of["train-c"][1]) <= of["train-d"][0]
    assert [each["state"] for each in ended["jobStatusList"][0]["runningHistories"]][-2:] == ["Running", "Completed"]
    wait_for(lambda: space.names("jobs", VOLCANO) == [], WAIT, what="the Jobs are deleted")
    assert sorted(status(space)["completedJobs"]) == [f"train-{name}" for name in "abcd"]


def test_a_job_that_fails_ends_its_flow_and_others_run_on(node: ProcessNode, space: Space) -> None:
    for name in "acd":
        template(space, name, WAITS if name == "c" else "exit 0")
    template(space, "b", "exit 3")
    space.create("jobflows", jobflow(*DIAMOND), FLOW)
    failed = reaches(space, "Failed")
    assert failed["failedJobs"] == ["train-b"]
    assert failed["state"]["message"] == "train-b failed: no more Jobs are created"
    let_go(node, space, "train-c")
    wait_for(lambda: "train-c" in status(space).get("completedJobs", ()), WAIT, what="train-c runs to its end")
    assert space.names("jobs", VOLCANO) == ["train-a", "train-b", "train-c"]
    wait_for(lambda: events(space) == {"Pending", "Created", "Running", "Failed"}, WAIT, what="Events say so")


def test_a_template_may_be_created_later_and_a_denial_is_shown_until_it_is_corrected(space: Space) -> None:
    space.create("jobflows", jobflow(flow("a"), flow("b", "a")), FLOW)
    assert space.api.warnings[-1].startswith("spec.flows[1].name: no JobTemplate b exists yet")
    wait_for(lambda: "JobTemplate a does not exist" in str(status(space)), WAIT, what="the flow waits")
    template(space, "a")
    template(space, "b")
    reaches(space, "Succeed")
    listed = {"jobDependsOnList": ["train-a"]}
    wait_for(lambda: space.get("jobtemplates", "a", FLOW).get("status") == listed, WAIT, what="its Jobs are listed")


def test_a_denial_is_shown_until_the_template_is_corrected(space: Space) -> None:
    items = "jobgate.dev/v1alpha1"
    env = {"env": [{"name": "A", "value": "b"}]}
    space.create(
        "prerequisites", {"apiVersion": items, "kind": "Prerequisite", "metadata": {"name": "data"}, "spec": env}, items
    )
    template(space, "a", **{"jobgate.dev/prerequisites": "data"})
    space.create("jobflows", jobflow(flow("a")), FLOW)
    denied = "Job train-a cannot be created: admission webhook"
    wait_for(lambda: denied in str(status(space).get("state")), WAIT, what="the status shows the denial")
    assert "cannot use Prerequisite" in status(space)["state"]["message"]
    wait_for(lambda: events(space) & {"Pending", "CannotCreateJob"}, WAIT, what="an Event says so")
    time.sleep(3)
    counts = [event["count"] for event in space.items("events") if event["reason"] in {"Pending", "CannotCreateJob"}]
    assert counts == [1]
    tasks = space.get("jobtemplates", "a", FLOW)["spec"]["tasks"]
    del tasks[0]["template"]["metadata"]
    space.patch("jobtemplates", "a", {"spec": {"tasks": tasks}}, FLOW)
    assert reaches(space, "Succeed")["state"] == {"phase": "Succeed"}


def test_a_user_without_the_right_to_create_jobs_writes_no_flow_and_no_template(
    space: Space, whole_controlplane: WholeControlPlane
) -> None:
    rules = [{"apiGroups": ["flow.volcano.sh"], "resources": ["*"], "verbs": ["*"]}]
    rbac = "rbac.authorization.k8s.io/v1"
    space.create("roles", {"metadata": {"name": "flows"}, "rules": rules}, rbac)
    of = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "flows"}
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "flora"}
    space.create("rolebindings", {"metadata": {"name": "flows"}, "roleRef": of, "subjects": [user]}, rbac)

    def created(document: dict[str, Any]) -> str:
        return refused(whole_controlplane, space, document, "--as=flora")

    documents = jobflow(flow("a")), as_template(job(task("main")))
    wait_for(lambda: "you need the right to create these" in created(documents[0]), WAIT, what="the role is bound")
    assert "you need the right to create these" in created(documents[1])
    rules += [{"apiGroups": ["batch.volcano.sh"], "resources": ["jobs"], "verbs": ["create"]}]
    space.patch("roles", "flows", {"rules": rules}, rbac)
    wait_for(lambda: created(documents[0]) == "", WAIT, what="the role has the right")
    assert created(documents[1]) == ""


def test_the_runner_creates_no_job_that_no_flow_owns(space: Space, whole_controlplane: WholeControlPlane) -> None:
    why = refused(whole_controlplane, space, job(task("main"), name="alone"), f"--as={USER}")
    assert "only jobs that are created from an object which owns them" in why


def test_a_cycle_is_denied_with_its_path(space: Space) -> None:
    code, answer = space.api.post(space.path("jobflows", group=FLOW), jobflow(flow("a", "b"), flow("b", "a")))
    assert (code, "dependency cycle: a → b → a; none of these flows would ever start" in answer["message"]) == (
        422,
        True,
    )
