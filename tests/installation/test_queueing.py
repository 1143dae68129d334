"""An installation beside a system that queues pods."""

from typing import Any

import pytest

from jobgate.installation import Installation, objects
from jobgate.kinds import installed

KEPT = ["get", "list", "watch", "create", "patch", "delete"]


def wires(one: dict[str, Any]) -> bool:
    """Whether an object is the Deployment of the server, of the controller or of the runner."""
    names = {"jobgate-webhook", "jobgate-controller", "jobgate-runner"}
    return one["kind"] == "Deployment" and one["metadata"]["name"] in names


def rendered(queueing: str, run: tuple[str, ...] = ()) -> tuple[list[list[str]], list[dict[str, Any]]]:
    """Return the arguments of the Deployments, and the rules of all cluster roles on groups of pods."""
    result = objects(installed(), Installation(crds=False, queueing=queueing, run=run))
    deployments = [each["spec"]["template"]["spec"] for each in result if wires(each)]
    rules = [rule for entry in result if entry["kind"] == "ClusterRole" for rule in entry["rules"]]
    return [deployment["containers"][0]["args"] for deployment in deployments], [
        rule for rule in rules if "podgroups" in rule["resources"]
    ]


@pytest.mark.parametrize(
    ("queueing", "group"),
    [("coscheduling", "scheduling.x-k8s.io"), ("volcano=batch", "scheduling.volcano.sh"), ("kueue", "")],
)
def test_server_and_controller_know_the_system_and_the_controller_may_keep_its_groups(
    queueing: str, group: str
) -> None:
    arguments, rules = rendered(queueing)
    assert [f"--queueing={queueing}" in argument for argument in arguments] == [True, True]
    wanted = [{"apiGroups": [group], "resources": ["podgroups"], "verbs": KEPT}] if group else []
    assert rules == wanted


@pytest.mark.parametrize(
    ("queueing", "group", "count"),
    [
        ("kubernetes", "scheduling.k8s.io", 1),
        ("coscheduling", "scheduling.x-k8s.io", 2),
        ("volcano=batch", "scheduling.volcano.sh", 2),
        ("kueue", "", 0),
    ],
)
def test_the_runner_knows_the_system_and_may_keep_its_groups(queueing: str, group: str, count: int) -> None:
    arguments, rules = rendered(queueing, ("torchjobs.train.distributed.io",))
    assert [f"--queueing={queueing}" in argument for argument in arguments] == [True] * 3
    assert rules == [{"apiGroups": [group], "resources": ["podgroups"], "verbs": KEPT}] * count


@pytest.mark.parametrize(
    ("queueing", "run", "verbs"),
    [
        ("kueue", ("torchjobs.train.distributed.io",), [["get"]]),
        ("kueue", (), []),
        ("volcano=batch", ("torchjobs.train.distributed.io",), []),
        ("", ("torchjobs.train.distributed.io",), []),
    ],
)
def test_only_a_runner_beside_kueue_may_read_workloads_and_only_one_by_one(
    queueing: str, run: tuple[str, ...], verbs: list[list[str]]
) -> None:
    result = objects(installed(), Installation(crds=False, queueing=queueing, run=run))
    rules = [rule for each in result if each["kind"] == "ClusterRole" for rule in each["rules"]]
    assert [rule["verbs"] for rule in rules if rule["apiGroups"] == ["kueue.x-k8s.io"]] == verbs


@pytest.mark.parametrize("queueing", ["kueue", "volcano=batch"])
def test_a_job_waits_in_one_sort_of_queue(queueing: str) -> None:
    with pytest.raises(ValueError, match="queues may not be set with queueing"):
        Installation(queueing=queueing, queues="queues: []")


def test_without_a_system_nothing_is_reported_and_nothing_may_be_kept() -> None:
    arguments, rules = rendered("")
    assert not any("queueing" in word for argument in arguments for word in argument)
    assert rules == []


def test_server_and_controller_know_the_domain_of_services_where_it_is_another() -> None:
    result = objects(installed(), Installation(crds=False, cluster_domain="svc.grid.example"))
    deployments = [each["spec"]["template"]["spec"]["containers"][0] for each in result if wires(each)]
    assert ["--cluster-domain=svc.grid.example" in deployment["args"] for deployment in deployments] == [True, True]
