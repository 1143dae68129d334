"""The rules of a DIJob: a case that passes, a case that fails, the message that the user reads."""

from typing import Any

import pytest

from tests.kinds.dijob.jobs import faults, job, task, template, validate
from tests.messages import compare

LONG = "x" * 70
USES = (
    "DI-orchestrator names the pods <job>-<task>-<index> and the Service di-<job>; each name may have at "
    "most 63 characters"
)


@pytest.mark.parametrize(
    "case, document",
    [
        ("one task of each type and any number without", job(task("learner"), task("collector"), task("evaluator"),
                                                             task(name="a"), task(name="b"))),
        ("a typed task needs no name", job(task("learner"))),
        ("bounds that the tasks fit in", job(task("learner", replicas=2), minReplicas=2, maxReplicas=2)),
        ("only a minimum", job(task("learner", replicas=2), minReplicas=1)),
        ("only a maximum", job(task("learner", replicas=2), maxReplicas=3)),
        ("a name with the most characters", job(task("learner"), name="j" * 53)),
        ("a name that begins with a digit", job(task("learner"), name="0job")),
        ("a generated name", job(task("learner"), metadata={"generateName": "sweep-"})),
        ("a volume of the job mounted by a template",
         job(task("learner", template=template(containers=[{"name": "m", "image": "i",
             "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])), volumes=[{"name": "v", "emptyDir": {}}])),
    ],
)  # fmt: skip
def test_what_is_sound_is_allowed(case: str, document: dict[str, object]) -> None:
    assert faults(validate(document)) == [], case


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(task("learner"), task("learner", "b")), ["spec.tasks[1].type: Duplicate value"]),
        (job(task("collector"), task("none", "n"), task("collector", "b"), task("collector", "c")),
         ["spec.tasks[2].type: Duplicate value", "spec.tasks[3].type: Duplicate value"]),
        (job(task()), ["spec.tasks[0].name: Required value"]),
        (job(task("none", "")), ["spec.tasks[0].name: Required value"]),
        (job(task(name="a"), task(name="a")), ["spec.tasks[1].name: Duplicate value"]),
        (job(task("learner"), task(name="learner")), ["spec.tasks[1].name: Duplicate value"]),
        (job(task(name="A_b")), ["spec.tasks[0].name: Invalid value"]),
        (job(task("learner"), minReplicas=3, maxReplicas=2), ["spec.minReplicas: Invalid value"]),
        (job(task("learner"), task("collector"), minReplicas=3), ["spec.minReplicas: Invalid value"]),
        (job(task("learner", replicas=2**31 - 1), task("collector", replicas=2**31 - 1), maxReplicas=5),
         ["spec.maxReplicas: Invalid value", "spec.tasks[0].replicas: Invalid value"]),
        (job(task("learner"), maxReplicas=10_001), ["spec.maxReplicas: Invalid value"]),
        (job(task("learner"), name=LONG), ["metadata.name: Too long"]),
        (job(task("learner", replicas=1001), name="j" * 51), ["metadata.name: Too long"]),
        (job(task(name="t" * 60), name="job"), ["spec.tasks[0].name: Too long"]),
        (job(task("learner"), name="a.b"), ["metadata.name: Invalid value"]),
        (job(task("learner"), metadata={"generateName": "g" * 70}), ["metadata.generateName: Too long"]),
        (job(task("learner"), metadata={}), ["metadata.name: Required value"]),
        (job(task("learner"), preemptible=True), ["spec.preemptible: Forbidden"]),
        (job(task("learner"), backoffLimit=-1), ["spec.backoffLimit: Invalid value"]),
        (job(), ["spec.tasks: Invalid value"]),
        (job(task("learner", replicas=0)), ["spec.tasks[0].replicas: Invalid value"]),
        (job(task("learner"), priority="urgent"), ["spec.priority: Unsupported value"]),
        (job(task("learner", template=template(volumes=[{"name": "v", "emptyDir": {}}])), volumes=[{"name": "v", "emptyDir": {}}]),
         ["spec.volumes[0].name: Duplicate value"]),
        (job(task("learner"), task("collector"), volumes=[{"name": "v", "hostPath": {}}]),
         ["spec.volumes[0].hostPath.path: Required value"]),
    ],
)  # fmt: skip
def test_what_is_not_is_rejected_with_every_fault(document: dict[str, object], expected: list[str]) -> None:
    compare("kinds/dijob", faults(validate(document)), expected)


def test_a_preemptible_job_is_allowed_where_the_operator_can_take_it() -> None:
    response = validate(job(task("learner"), preemptible=True), operator_can=frozenset({"dijobs/preemptible"}))
    assert response.allowed


@pytest.mark.parametrize(
    "pod, warning",
    [
        ({"restartPolicy": "Always"}, "spec.tasks[0].template.spec.restartPolicy: DI-orchestrator sets this "
                                      "field to Never in every pod"),
        ({"hostname": "me"}, "spec.tasks[0].template.spec.hostname: DI-orchestrator overwrites this field in "
                             "every pod"),
        ({"subdomain": "us"}, "spec.tasks[0].template.spec.subdomain: DI-orchestrator overwrites this field "
                              "in every pod"),
    ],
)  # fmt: skip
def test_what_the_operator_overwrites_is_a_warning(pod: dict[str, object], warning: str) -> None:
    response = validate(job(task("learner", template=template(**pod))))
    assert (response.allowed, response.warnings) == (True, [warning])


def test_a_node_that_the_template_names_is_kept_and_no_warning() -> None:
    assert validate(job(task("learner", template=template(nodeName="node")))).warnings == []


def test_a_second_container_is_a_warning() -> None:
    """Of init containers, which have ended by then, there may be any number."""
    one, two = {"name": "main", "image": "i"}, {"name": "side", "image": "i"}
    alone = job(task("learner", template=template(containers=[one], initContainers=[two])))
    assert validate(alone).warnings == []
    response = validate(job(task("learner", template=template(containers=[one, two]))))
    assert (response.allowed, response.warnings) == (
        True,
        ["spec.tasks[0].template.spec.containers: with 2 containers in a pod, the job stays Starting forever: "
         "DI-orchestrator waits for as many ready containers as there are replicas. Run everything in one container"],
    )  # fmt: skip


def test_the_policy_that_the_operator_sets_anyway_is_no_warning() -> None:
    assert validate(job(task("learner", template=template(restartPolicy="Never")))).warnings == []


@pytest.mark.parametrize(
    "metadata, reported",
    [({"labels": {"a": "b"}}, True), ({"name": "di"}, True), ({}, False), ({"creationTimestamp": None}, False)],
)
def test_a_template_with_metadata_is_a_warning(metadata: dict[str, object], reported: bool) -> None:
    document = job(task("learner", template=template() | {"metadata": metadata}))
    assert bool(validate(document).warnings) is reported


def test_a_broken_part_hides_no_fault_of_another() -> None:
    document = job(
        task("leaner"), task(), task("learner", replicas="3"), task("learner", "b"), maxReplicas=1, preemptible=1
    )
    assert faults(validate(document)) == [
        "spec.preemptible: Invalid value: 1: must be true or false",
        'spec.tasks[0].type: Unsupported value: "leaner": supported values: "learner", "collector", "evaluator", "none"',
        'spec.tasks[2].replicas: Invalid value: "3": must be an integer',
        'spec.tasks[3].type: Duplicate value: "learner": spec.tasks[2] already has type learner: increase '
        "its replicas, or use type none",
        "spec.tasks[1].name: Required value: must be set for a task of type none",
    ]


RUNNING = {"status": {"phase": "Running"}}
TWO = job(task("learner", "learner"), task("collector", "collector")) | RUNNING
BEFORE = "Forbidden: may change only before the job starts"


@pytest.mark.parametrize(
    "tasks, expected",
    [
        ([task("learner", "learner"), task("collector", "collector", replicas=3)], []),
        ([task("learner", "learner"), task("collector", "collector"), task(name="logs")], []),
        ([task("learner", "learner"), task("collector", "games"), task(name="logs")],
         ["spec.tasks[1].name: Forbidden"]),
        ([task("learner", "learner")], ["spec.tasks: Forbidden"]),
        ([task("collector", "collector"), task("learner", "learner")], ["spec.tasks: Forbidden"]),
    ],
)  # fmt: skip
def test_the_tasks_of_a_running_job_keep_their_names_and_order(tasks: list[Any], expected: list[str]) -> None:
    compare("kinds/dijob", faults(validate(job(*tasks) | RUNNING, TWO)), expected)
    assert faults(validate(job(*tasks), TWO | {"status": {"phase": "Pending"}})) == []


def test_bounds_that_cross_otherwise_than_stored_are_rejected() -> None:
    stored = job(task("learner"), minReplicas=3, maxReplicas=2)
    assert faults(validate(stored | {"spec": stored["spec"] | {"priority": "high"}}, stored)) == []
    for most in (1, 2):
        changed = job(task("learner", replicas=2), minReplicas=3, maxReplicas=most)
        expected = (
            ["spec.minReplicas: Invalid value: 3: must be at most spec.maxReplicas, which is 1"] if most == 1 else []
        )
        assert faults(validate(changed, stored)) == expected
