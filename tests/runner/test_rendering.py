"""Objects of a job: names, hosts and variables as the kind's operator has them, and valid fields of a batch Job."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch
import pytest
import yaml
from msgspec.structs import replace

from controlplane.operators import dijob as di
from controlplane.operators import mxjob as mx
from controlplane.operators import torchjob as torch
from controlplane.operators import vcjob as volcano
from controlplane.operators import vcjob_plugins
from jobgate.jobs.kind import job_kinds
from jobgate.jobs.progress import StartCondition
from jobgate.jobs.wiring import claimed_job
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins import Member
from jobgate.plugins.crew import COMPLETION_INDEX
from jobgate.plugins.queueing import Grouping, Queueing, QueueingArguments, System
from jobgate.runner.gangs import given_up
from jobgate.runner.rendering import batch_job, beside
from jobgate.runner.subject import Subject, read
from tests.operators.conftest import env_of
from tests.pods.pods import patch
from tests.runner.world import KINDS, UID, adopted, dijob, merge, stored, subject, task, torchjob

ROOT = Path(__file__).parents[2]
NATIVE = Grouping(System.KUBERNETES, "scheduling.k8s.io/v1alpha2")

FOLDERS = ("dijob", "mxjob", "torchjob", "vcjob")
EXAMPLES = [path for folder in FOLDERS for path in sorted((ROOT / "examples" / folder).glob("*.yaml"))]


class Children(NamedTuple):
    """Services and groups by name, batch Jobs by task."""

    services: dict[str, dict[str, Any]]
    groups: dict[str, dict[str, Any]]
    jobs: dict[str, dict[str, Any]]


def children(of: Subject) -> Children:
    """The objects of a job."""
    services, pod_groups, gang_of = beside(of)
    jobs = {name: batch_job(of, name, gang_of.get(name)) for name in of.tasks if name and of.replicas(name) > 0}
    return Children(services, pod_groups, jobs)


def waiting(of: Subject) -> list[str]:
    """The tasks that wait for something."""
    return [name for name in of.tasks if of.start_condition(name) != StartCondition()]


def example(path: Path | str) -> dict[str, Any]:
    """A job of the examples, as it is stored and taken over."""
    document = yaml.safe_load((ROOT / "examples" / path).read_text(encoding="utf-8"))
    if "spec" in document and document["kind"] == "DIJob":
        document["spec"].pop("suspend", None)
    job = stored(judge(document, ReviewOptions(kinds=KINDS)).document)
    merge(job, {"spec": adopted(job)})
    return job


def pods_of(found: Subject) -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    """The pods that come of a job, as Kubernetes makes them and the webhook wires them: task, index, host, pod."""
    for name, batch in children(found).jobs.items():
        for index in range(batch["spec"]["completions"]):
            template = batch["spec"]["template"]
            labels = {**template["metadata"]["labels"], COMPLETION_INDEX: str(index)}
            pod = {"metadata": {**template["metadata"], "labels": labels}, "spec": template["spec"]}
            claimed = claimed_job(pod, job_kinds(KINDS))
            assert claimed is not None
            assert (claimed.claim.uid, claimed.claim.index) == (UID, index)
            part = found.crew.part(claimed.claim.task)
            assert part is not None
            wired = jsonpatch.apply_patch(pod, list(patch(pod, Member(found.crew, part, index))))
            yield name, index, f"{batch['metadata']['name']}-{index}", wired


Oracle = Callable[[dict[str, Any]], dict[str, dict[str, str]]]


def of_dijob(job: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By host name, the variables that DI-orchestrator sets; of tasks each pod here has all lists."""
    made, rank = {}, 0
    tasks = di.typed(job, erases=False)["spec"]["tasks"]
    for each in tasks:
        for index in range(each["replicas"]):
            every = [variable for other in tasks for variable in di.variables(job, other, rank)]
            made[di.pod_name(job, each, index)] = env(every)
            del made[di.pod_name(job, each, index)]["DI_SERVER_URL"]  # there is no server
            rank += 1
    return made


def of_mxjob(job: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By host name, the variables that mxnet-operator sets."""
    local = job["spec"]["jobMode"] == "local"
    return {
        mx.replica_name(job, role, index): {} if local else env(mx.variables(job, role))
        for role in job["spec"]["replicaSpecs"]
        for index in range(1 if local else role["replicas"])
    }


def of_torchjob(job: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By host name, the variables that torch-on-k8s sets; of a job whose AIMaster scales it, as at its start."""
    job = torch.defaulted(job)
    job["metadata"]["annotations"].pop(torch.ELASTIC, None)
    return {
        torch.pod_name(job, kind, index): env(torch.variables(job, kind, index))
        for kind, one in job["spec"]["torchTaskSpecs"].items()
        for index in range(one["numTasks"])
    }


def of_vcjob(job: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By host name, the variables that Volcano's plugins env and svc set."""
    made = {}
    for each in job["spec"]["tasks"]:
        for index in range(each["replicas"]):
            pod = volcano.pod(job, each, index, [f"v{number}" for number, _ in enumerate(volcano.volumes_of(job))])
            for container in pod["spec"]["containers"]:
                container["env"] = []
            vcjob_plugins.change(job, pod)
            made[volcano.pod_name(job, each, index)] = env(pod["spec"]["containers"][0]["env"])
    return made


def env(variables: list[dict[str, Any]]) -> dict[str, str]:
    """Variables by name."""
    return env_of({"env": variables})


ORACLES: dict[str, Oracle] = {"DIJob": of_dijob, "Job": of_vcjob, "MxJob": of_mxjob, "TorchJob": of_torchjob}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_hosts_and_variables_are_those_of_the_operator(path: Path) -> None:
    job = example(path)
    expected = ORACLES[job["kind"]](job)
    result = {host: pod for _, _, host, pod in pods_of(subject(job))}
    assert sorted(result) == sorted(expected)
    written = {
        (f"{batch['metadata']['name']}-{index}", container["name"]): {each["name"] for each in container.get("env", ())}
        for batch in children(subject(job)).jobs.values()
        for index in range(batch["spec"]["completions"])
        for container in batch["spec"]["template"]["spec"]["containers"]
    }
    for host, variables in expected.items():
        for container in result[host]["spec"]["containers"]:
            users = written.get((host, container["name"]), set())
            made = {name: value for name, value in env_of(container).items() if name in variables}
            assert made == {name: value for name, value in variables.items() if name not in users}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("dijob/minimal.yaml", {"di-{job}": ("None", 22270)}),
        ("mxjob/dist.yaml", {"{job}-scheduler-0123-0": (None, 9000)}),
        ("mxjob/local.yaml", {}),
        ("torchjob/minimal.yaml", {"{job}-master-0": ("None", 23456)}),
    ],
)
def test_the_services_are_those_of_the_kind(path: str, expected: dict[str, tuple[str | None, int]]) -> None:
    result = subject(example(path))
    services = children(result).services
    results = {name: (one["spec"].get("clusterIP"), one["spec"]["ports"][0]["port"]) for name, one in services.items()}
    assert results == {name.format(job=result.crew.name): one for name, one in expected.items()}


def test_a_service_of_one_pod_selects_it_alone() -> None:
    result = subject(example("torchjob/minimal.yaml"))
    (service,) = children(result).services.values()
    (master,) = [pod for _, _, _, pod in pods_of(result)]
    assert service["spec"]["selector"].items() <= master["metadata"]["labels"].items()


def batch(name: str = "work", job: dict[str, Any] | None = None) -> dict[str, Any]:
    """The batch Job of a task."""
    return children(subject(job or dijob())).jobs[name]


def test_a_task_is_an_indexed_job_owned_by_its_job() -> None:
    result = batch(job=dijob(task(3)))
    spec = result["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["podReplacementPolicy"] == "Failed"
    (owner,) = result["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("DIJob", UID, True)


@pytest.mark.parametrize(
    ("policies", "replaces", "rules"),
    [
        ([], True, ["Ignore"]),
        ([("PodFailed", "RestartPod")], True, ["Ignore"]),
        ([("PodFailed", "RestartJob")], False, []),
        ([("PodEvicted", "RestartJob")], True, []),
        ([(7, "RestartTask"), (9, "RestartPod")], True, ["Ignore", "FailJob"]),
        ([(7, "ResumeJob")], True, ["Ignore"]),
    ],
)
def test_failures_that_a_policy_answers_are_left_to_the_runner(
    policies: list[tuple[Any, str]], replaces: bool, rules: list[str]
) -> None:
    written = [
        {"action": action, **({"exitCode": when} if isinstance(when, int) else {"event": when})}
        for when, action in policies
    ]
    spec = batch(job=dijob(policies=written))["spec"]
    limits = {key: spec[key] for key in ("backoffLimit", "backoffLimitPerIndex") if key in spec}
    no_limit = 2**31 - 1
    assert limits == (
        {"backoffLimit": 3, "backoffLimitPerIndex": no_limit} if replaces else {"backoffLimitPerIndex": 0}
    )
    assert [rule["action"] for rule in spec.get("podFailurePolicy", {}).get("rules", ())] == rules


@pytest.mark.parametrize(
    ("policy", "restarts", "codes"),
    [
        ("ExitCode", "Never", ("NotIn", [130, 137, 138, 143])),
        ("OnFailure", "OnFailure", None),
        ("Always", "OnFailure", None),
        ("Never", "Never", None),
    ],
)
def test_a_restart_policy_of_torch_is_a_failure_policy(policy: str, restarts: str, codes: Any) -> None:
    job = example("torchjob/minimal.yaml")
    job["spec"]["torchTaskSpecs"]["Master"]["restartPolicy"] = policy
    spec = batch("master", job)["spec"]
    assert spec["template"]["spec"]["restartPolicy"] == restarts
    rules = [rule["onExitCodes"] for rule in spec.get("podFailurePolicy", {}).get("rules", ()) if "onExitCodes" in rule]
    assert [(each["operator"], each["values"]) for each in rules] == ([codes] if codes else [])


# Gangs.


@pytest.mark.parametrize(
    ("tasks", "spec", "expected"),
    [
        ([task(3), task(1, name="judge")], {}, {"train": 4}),
        ([task(3), task(1, name="judge")], {"minAvailable": 2}, {"train": 2}),
        ([task(3, minAvailable=2), task(1, name="judge")], {}, {"train": 3}),
        ([task(3)], {"minAvailable": 0}, {}),
        ([task(3), task(1, name="judge", dependsOn={"name": ["work"]})], {}, {"train-work": 3, "train-judge": 1}),
        (
            [task(1), *(task(2, name=name, dependsOn={"name": ["work"]}) for name in "ab")],
            {},
            {"train-work": 1, "train-a": 4},
        ),
    ],
)
def test_a_gang_is_what_starts_together(tasks: Any, spec: dict[str, Any], expected: dict[str, int]) -> None:
    made = children(subject(dijob(*tasks, **spec), groups=NATIVE))
    least = {name: job["spec"]["schedulingPolicy"]["gang"]["minCount"] for name, job in made.groups.items()}
    assert least == expected
    for job in made.jobs.values():
        group = job["spec"]["template"]["spec"].get("schedulingGroup", {}).get("podGroupName")
        assert (group in made.groups) == bool(expected)


def test_a_torchjobs_tasks_are_gangs_of_their_own_because_workers_wait_for_the_master() -> None:
    result = children(subject(example("torchjob/full.yaml"), groups=NATIVE))
    least = {name: one["spec"]["schedulingPolicy"]["gang"]["minCount"] for name, one in result.groups.items()}
    assert least == {"gpt-master": 1, "gpt-worker": 4}


def test_without_a_scheduler_of_gangs_there_is_no_group() -> None:
    made = children(subject(dijob()))
    assert made.groups == {}
    assert "schedulingGroup" not in made.jobs["work"]["spec"]["template"]["spec"]


# The fields that each system reads.

KUEUE = {"queue": "high"}


def template_of(system: System, job: dict[str, Any], name: str = "work", api_version: str = "") -> dict[str, Any]:
    """The template of a task's pods, where a system schedules gangs."""
    grouping = Grouping(system, api_version, "gang-scheduler" if system is System.VOLCANO else "")
    result: dict[str, Any] = children(subject(job, groups=grouping)).jobs[name]["spec"]["template"]
    return result


@pytest.mark.parametrize(
    ("system", "spec", "expected"),
    [
        (System.KUBERNETES, KUEUE, {"schedulingGroup": {"podGroupName": "train"}}),
        (System.COSCHEDULING, KUEUE, {"scheduling.x-k8s.io/pod-group": "train"}),
        (
            System.VOLCANO,
            KUEUE,
            {
                "scheduling.k8s.io/group-name": "train",
                "scheduling.volcano.sh/queue-name": "high",
                "schedulerName": "gang-scheduler",
            },
        ),
        (System.VOLCANO, {}, {"scheduling.k8s.io/group-name": "train", "schedulerName": "gang-scheduler"}),
        (
            System.VOLCANO,
            {"schedulerName": "mine"},
            {"scheduling.k8s.io/group-name": "train", "schedulerName": "mine"},
        ),
        (
            System.KUEUE,
            KUEUE,
            {
                "kueue.x-k8s.io/queue-name": "high",
                "kueue.x-k8s.io/managed": "true",
                "kueue.x-k8s.io/pod-group-name": f"train-{UID[:8]}-0",
                "kueue.x-k8s.io/pod-group-total-count": "3",
                "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
            },
        ),
        (System.KUEUE, {"queue": "high", "minAvailable": 0}, {"kueue.x-k8s.io/pod-group-total-count": "3"}),
        (System.KUEUE, {}, {}),
        (System.KUBERNETES, {"minAvailable": 0}, {}),
    ],
)
def test_pods_say_their_gang_as_the_system_reads_it(
    system: System, spec: dict[str, Any], expected: dict[str, Any]
) -> None:
    template = template_of(system, dijob(task(3), **spec))
    result = {**template["metadata"]["labels"], **template["metadata"].get("annotations", {}), **template["spec"]}
    plain = children(subject(dijob(task(3), **spec))).jobs["work"]["spec"]["template"]
    known = {**plain["metadata"]["labels"], **plain["metadata"].get("annotations", {}), **plain["spec"]}
    added = {key: value for key, value in result.items() if known.get(key) != value}
    if "minAvailable" in spec:
        assert expected.items() <= added.items()
        assert bool(expected) == bool(added)
    else:
        assert added == {key: value for key, value in expected.items() if known.get(key) != value}


@pytest.mark.parametrize(
    ("system", "spec", "expected"),
    [
        (System.COSCHEDULING, {}, {"train": {"minMember": 4}}),
        (
            System.VOLCANO,
            {"minAvailable": 2, "queue": "high", "priorityClassName": "urgent"},
            {"train": {"minMember": 2, "queue": "high", "priorityClassName": "urgent"}},
        ),
        (System.VOLCANO, {"minAvailable": 0, "queue": "high"}, {"train": {"minMember": 1, "queue": "high"}}),
        (System.COSCHEDULING, {"minAvailable": 0}, {}),
    ],
)
def test_a_system_has_groups_of_its_own(system: System, spec: dict[str, Any], expected: dict[str, Any]) -> None:
    made = children(subject(dijob(task(3), task(1, name="judge"), **spec), groups=Grouping(system, "a/v1"))).groups
    assert {name: one["spec"] for name, one in made.items()} == expected
    assert all(value["apiVersion"] == "a/v1" and value["metadata"]["ownerReferences"] for value in made.values())


@pytest.mark.parametrize(
    ("case", "worker", "spec", "expected"),
    [
        ("no order", {}, {}, {"train": 4}),
        ("a minimum", {}, {"schedulingPolicy": {"minAvailable": 3}}, {"train": 3}),
        ("an order of its own", {"dependsOn": [{"dependsOn": "Master"}]}, {}, {"train-master": 1, "train-worker": 3}),
        ("minima by task", {}, {"minMembers": {"Worker": 2}}, {"train-master": 1, "train-worker": 2}),
    ],
)
@pytest.mark.parametrize("system", [System.COSCHEDULING, System.VOLCANO])
def test_a_torchjob_is_one_gang_unless_it_has_an_order_of_its_own(
    system: System, case: str, worker: dict[str, Any], spec: dict[str, Any], expected: dict[str, int]
) -> None:
    result = subject(torchjob(worker=worker, **spec), groups=Grouping(system, "a/v1"))
    groups = children(result).groups
    assert {name: group["spec"]["minMember"] for name, group in groups.items()} == expected, case
    assert waiting(result) == (["worker"] if len(expected) > 1 else [])


@pytest.mark.parametrize(
    ("system", "queue", "waits"), [(None, "q", True), (System.KUEUE, "", True), (System.KUEUE, "q", False)]
)
def test_workers_wait_for_their_master_without_a_gang(system: System | None, queue: str, waits: bool) -> None:
    job = torchjob(worker={}, schedulingPolicy={"queue": queue} if queue else {})
    result = subject(job, groups=None if system is None else Grouping(system))
    assert waiting(result) == (["worker"] if waits else [])


def test_the_gang_of_a_torchjob_waits_for_its_aimaster() -> None:
    job = torchjob(worker={})
    job["spec"]["torchTaskSpecs"]["AIMaster"] = job["spec"]["torchTaskSpecs"]["Master"]
    result = subject(job, groups=Grouping(System.VOLCANO, "a/v1"))
    groups = children(result).groups
    assert {name: group["spec"]["minMember"] for name, group in groups.items()} == {"train": 4}
    assert waiting(result) == ["master", "worker"]


def test_kueue_queues_apart_what_starts_at_another_time() -> None:
    job = dijob(task(2), task(3, name="judge", dependsOn={"name": ["work"]}), queue="high")
    counts = {}
    for name in ("work", "judge"):
        metadata = template_of(System.KUEUE, job, name)["metadata"]
        group = metadata["labels"]["kueue.x-k8s.io/pod-group-name"]
        counts[group] = metadata["annotations"]["kueue.x-k8s.io/pod-group-total-count"]
    assert counts == {f"train-work-{UID[:8]}-0": "2", f"train-judge-{UID[:8]}-0": "3"}


def test_groups_of_kueue_are_as_many_where_a_long_name_of_a_job_is_cut() -> None:
    job = dijob(task(2), task(3, name="judge", dependsOn={"name": ["work"]}), queue="high")
    job["metadata"]["name"] = "x" * 52
    groups = {
        template_of(System.KUEUE, job, name)["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"]
        for name in ("work", "judge")
    }
    assert len(groups) == 2
    assert all(len(group) <= 63 and group.endswith(f"-{UID[:8]}-0") for group in groups)


@pytest.mark.parametrize("system", [System.KUEUE, System.COSCHEDULING, System.VOLCANO])
def test_the_webhook_adds_no_other_group_to_a_job_that_is_run(system: System) -> None:
    job = dijob(task(2), task(1, name="judge", dependsOn={"name": ["work"]}), queue="high", minAvailable=3)
    result = subject(job, groups=Grouping(system, "a/v1"))
    crew = replace(result.crew, plugins={**result.crew.plugins, "queueing": QueueingArguments(system=system)})
    part = crew.part("judge")
    assert part is not None
    template = children(result).jobs["judge"]["spec"]["template"]
    labels = {**template["metadata"]["labels"], COMPLETION_INDEX: "0"}
    pod = {"metadata": {**template["metadata"], "labels": labels}, "spec": template["spec"]}
    wired = jsonpatch.apply_patch(pod, list(patch(pod, Member(crew, part, 0))))
    assert wired["metadata"].get("annotations") == template["metadata"].get("annotations")
    assert wired["metadata"]["labels"] == {**labels, "jobgate.dev/index": "0"}
    assert list(Queueing().objects(crew, QueueingArguments(system=system))) == []


@pytest.mark.parametrize(("replicas", "is_run"), [(99_999, True), (100_000, False), (2**31 - 1, False)])
def test_a_job_that_no_indexed_job_can_hold_is_not_run(replicas: int, is_run: bool) -> None:
    """It may have been stored while nothing was denied. Of a TorchJob, each pod would have a Service."""
    job = example("torchjob/plugins.yaml")
    job["spec"]["torchTaskSpecs"]["Worker"]["numTasks"] = replicas
    (kind,) = (each for each in job_kinds(KINDS) if each.kind == job["kind"])
    assert (read(kind, job) is not None) == is_run


def grouped(group: str, phase: str, retriable: str = "", count: int = 2) -> dict[str, Any]:
    """A pod of a group of Kueue."""
    annotations = {"kueue.x-k8s.io/pod-group-total-count": str(count)}
    annotations |= {"kueue.x-k8s.io/retriable-in-group": retriable} if retriable else {}
    labels = {"kueue.x-k8s.io/pod-group-name": group}
    return {"metadata": {"name": group, "labels": labels, "annotations": annotations}, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("case", "pods", "kept", "ended"),
    [
        ("one of a group", [grouped("a", "Failed"), grouped("a", "Running")], (), ["a"]),
        ("one of each group", [grouped("a", "Failed"), grouped("b", "Pending")], (), ["a", "b"]),
        ("none of a group that goes on", [grouped("a", "Failed"), grouped("b", "Failed")], ("a",), ["b"]),
        ("none twice", [grouped("a", "Failed", "false"), grouped("a", "Failed")], (), []),
        ("one that a user annotated otherwise", [grouped("a", "Failed", "true")], (), ["a"]),
        ("none of a group that has succeeded whole", [grouped("a", "Succeeded")] * 2, (), []),
        ("one that has succeeded in part", [grouped("a", "Succeeded"), grouped("a", "Failed")], (), ["a"]),
        ("none without a group", [{"metadata": {"name": "x"}, "status": {"phase": "Failed"}}], (), []),
    ],
)
def test_a_group_of_kueue_ends_by_an_annotation_of_one_pod(
    case: str, pods: list[dict[str, Any]], kept: tuple[str, ...], ended: list[str]
) -> None:
    """Kueue v0.19 frees the quota of a group whose pods have all succeeded by itself."""
    changes = [*given_up(pods, kept)]
    assert [change.found["metadata"]["name"] for change in changes] == ended, case
    expected = {"metadata": {"annotations": {"kueue.x-k8s.io/retriable-in-group": "false"}}}
    assert all(change.changes == expected for change in changes)
