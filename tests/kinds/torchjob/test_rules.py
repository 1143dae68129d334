"""The rules of a TorchJob: cases that pass, cases that fail, and the messages that the user reads."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import corpus
from tests.kinds.torchjob.jobs import (
    TASKS,
    container,
    elastic,
    faults,
    job,
    master,
    mutate,
    output,
    task,
    tasks,
    template,
    validate,
)
from tests.messages import compare

EXAMPLES = Path(__file__).parents[3] / "examples" / "torchjob"
WITH_THE_WORKER = (
    "the job fails when a worker fails, although the worker is restarted: torch then exits with code 1 on the master, "
    "too. Set OnFailure to restart both"
)
ELASTIC = "distributed.io/enable-elastic-training"
NETWORK = "distributed.io/network-mode"
NAME = "j" * 55


def spot(**fields: Any) -> dict[str, Any]:
    """Return tasks whose Worker has spot pods."""
    return tasks(task(4, spotTaskSpec=fields))


@pytest.mark.parametrize(
    "case, document",
    [
        ("a master alone", job({"Master": task()})),
        ("keys in any case", job({"mAsTer": task(), "WORKER": task(2), "aimaster": task()})),
        ("a worker without pods that an AIMaster scales", job(tasks(task(0), AIMaster=task()), annotations={ELASTIC: "true"})),
        ("an AIMaster needs no container called torch", job(tasks(AIMaster=task(template=template(container("main")))))),
        ("a name with the most characters", job(name="j" * 54)),
        ("a generated name", job(metadata={"generateName": "sweep-"})),
        ("spot pods, up to all", job(spot(numSpotTasks=4, priorityClassName="spot", labels={"a/b": "c"}))),
        ("no spot pods of the master", job(tasks(master=task(spotTaskSpec={"numSpotTasks": 0})))),
        ("minima up to the pods", job(minMembers={"master": 1, "Worker": 4})),
        ("a minimum of the job", job(schedulingPolicy={"minAvailable": 5})),
        ("an elastic job", job(**elastic())),
        ("an elastic job at its lower bound", job(tasks(task(2)), **elastic())),
        ("an elastic job at its upper bound", job(tasks(task(8)), **elastic())),
        ("training that an AIMaster scales", job(tasks(AIMaster=task()), annotations={ELASTIC: "true"})),
        ("the network of the host", job(annotations={NETWORK: "host"})),
        ("a model on NFS", job(**output())),
        ("a model on the node", job(**output({"localStorage": {"path": "/models", "mountPath": "/model"}}))),
        ("a queue", job(schedulingPolicy={"queue": "research.team", "priority": -5, "priorityClassName": "high"})),
        ("old spellings", job(clenPodPolicy="Running", TTLSecondsAfterFinished=0, activeDurations=1)),
        ("canonical spellings", job(cleanPodPolicy="All", ttlSecondsAfterFinished=0, activeDeadlineSeconds=1)),
        ("every restart policy", job(tasks(task(1, restartPolicy="Always"), task(restartPolicy="Never")))),
        ("a task that waits", job(tasks(task(1, dependsOn=[{"dependsOn": "master", "onPhase": "Running"}])))),
        ("a task that waits for nothing", job(tasks(task(1, dependsOn=[])))),
        ("a master that waits for its workers", job(tasks(task(1, dependsOn=[]), task(dependsOn=[{"dependsOn": "Worker"}])))),
    ],
)  # fmt: skip
def test_what_is_sound_is_allowed(case: str, document: dict[str, Any]) -> None:
    assert mutate(document).allowed, case
    assert faults(validate(document)) == [], case


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(tasks(Wroker=task())), [f"{TASKS}[Wroker]: Unsupported value"]),
        (job(tasks() | {"": task()}), [f"{TASKS}[]: Unsupported value"]),
        (job(tasks(**{"a.b": task()})), [f"{TASKS}[a.b]: Unsupported value"]),
        (job(tasks() | {"worker": task()}), [f"{TASKS}[worker]: Duplicate value"]),
        (job(tasks() | {"master": task()}), [f"{TASKS}[master]: Duplicate value"]),
        (job({"Worker": task()}), [f"{TASKS}[Master]: Required value"]),
        (job({"Master": None, "Worker": task()}), [f"{TASKS}[Master]: Invalid value"]),
        (job({}), [f"{TASKS}[Master]: Required value"]),
        (job({"AIMaster": task()}), [f"{TASKS}[Master]: Required value"]),
        (job(tasks(master=task(2))), [f"{TASKS}[Master].numTasks: Invalid value"]),
        (job(tasks(master=task(0))), [f"{TASKS}[Master].numTasks: Invalid value"]),
        (job({"MASTER": task(2)}), [f"{TASKS}[MASTER].numTasks: Invalid value"]),
        (job(tasks(task(0))), [f"{TASKS}[Worker].numTasks: Invalid value"]),
        (job(tasks(task(-1))), [f"{TASKS}[Worker].numTasks: Invalid value"]),
        (job(tasks(task(1, template=template(container("main"))))),
         [f"{TASKS}[Worker].template.spec.containers: Required value"]),
        (job(tasks(master=task(template=template(container("main"))))),
         [f"{TASKS}[Master].template.spec.containers: Required value"]),
        (job(tasks(task(1, template=template(container(image=""))))),
         [f"{TASKS}[Worker].template.spec.containers[0].image: Required value"]),
        (job(tasks(task(1, restartPolicy="Sometimes"))), [f"{TASKS}[Worker].restartPolicy: Unsupported value"]),
        (job(name="0job"), ["metadata.name: Invalid value"]),
        (job(metadata={"generateName": "0-"}), ["metadata.generateName: Invalid value"]),
        (job(name=NAME), ["metadata.name: Too long"]),
        (job(spot(numSpotTasks=5)), [f"{TASKS}[Worker].spotTaskSpec.numSpotTasks: Invalid value"]),
        (job(spot(numSpotTasks=-1)), [f"{TASKS}[Worker].spotTaskSpec.numSpotTasks: Invalid value"]),
        (job(tasks(master=task(spotTaskSpec={"numSpotTasks": 1}))),
         [f"{TASKS}[Master].spotTaskSpec.numSpotTasks: Forbidden"]),
        (job(spot(labels={"a b": "c", "d": "e f"})),
         [f"{TASKS}[Worker].spotTaskSpec.labels: Invalid value", f"{TASKS}[Worker].spotTaskSpec.labels[d]: Invalid value"]),
        (job(spot(priorityClassName="A")), [f"{TASKS}[Worker].spotTaskSpec.priorityClassName: Invalid value"]),
        (job(annotations={NETWORK: "Host"}),
         ["metadata.annotations[distributed.io/network-mode]: Unsupported value"]),
        (job(backoffLimit=-1), ["spec.backoffLimit: Invalid value"]),
        (job(ttlSecondsAfterFinished=-1), ["spec.ttlSecondsAfterFinished: Invalid value"]),
        (job(TTLSecondsAfterFinished=-1), ["spec.TTLSecondsAfterFinished: Invalid value"]),
        (job(activeDurations=0), ["spec.activeDurations: Invalid value"]),
        (job(activeDeadlineSeconds=0), ["spec.activeDeadlineSeconds: Invalid value"]),
        (job(clenPodPolicy="Some"), ["spec.clenPodPolicy: Unsupported value"]),
        (job(schedulingPolicy={"queue": "A"}), ["spec.schedulingPolicy.queue: Invalid value"]),
    ],
)  # fmt: skip
def test_what_is_not_is_rejected_with_every_fault(document: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/torchjob", faults(validate(document)), expected)


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(tasks(task(1, template=template(restartPolicy="Always")))),
         [f"{TASKS}[Worker].template.spec.restartPolicy: torch-on-k8s sets this field to OnFailure in every "
          f"pod, because of {TASKS}[Worker].restartPolicy"]),
        (job(tasks(master=task(template=template(restartPolicy="Always"))), backoffLimit=0),
         [f"{TASKS}[Master].template.spec.restartPolicy: torch-on-k8s sets this field to Never in every pod, "
          f"because of {TASKS}[Master].restartPolicy"]),
        (job(tasks(task(1, restartPolicy="Never", template=template(restartPolicy="Never")), AIMaster=task()), annotations={ELASTIC: "true"}),
         [f"{TASKS}[Worker].template.spec.restartPolicy: torch-on-k8s sets this field to OnFailure in every "
          "pod, because of the annotation for elastic training"]),
        (job(tasks(task(1, template=template(restartPolicy="OnFailure")))), []),
        (job(tasks(task(1, template=template(container(env=[{"name": "RANK", "value": "1"}, {"name": "LR", "value": "1"}]))))),
         [f"{TASKS}[Worker].template.spec.containers[0].env[0].name: torch-on-k8s overwrites RANK"]),
        (job(tasks(AIMaster=task(0))),
         [f"{TASKS}[AIMaster].numTasks: the other tasks wait for the annotation aimaster: ready on the job: "
          "remove the AIMaster if it is not needed"]),
        (job(tasks(task(4, spotTaskSpec={"numSpotTasks": 1}, template=template(priorityClassName="high")))),
         [f"{TASKS}[Worker].spotTaskSpec.priorityClassName: must be set: otherwise the spot pods have no "
          "priority class, not even that of the template"]),
        (job(annotations={ELASTIC: "True"}),
         [f'metadata.annotations[{ELASTIC}]: has no effect: only the value "true" enables elastic training']),
        (job({"Master": master(), "worker": task(4)}, **elastic()),
         [f"{TASKS}[worker]: torch-on-k8s scales only the key Worker: use this spelling"]),
        (job(**{**elastic(), "enableTorchElastic": False}),
         ["spec.torchElasticPolicy: has no effect unless spec.enableTorchElastic is true"]),
        (job(minMembers={"Worker": 2}, schedulingPolicy={"minAvailable": 3}),
         ["spec.schedulingPolicy.minAvailable: torch-on-k8s ignores this field: the pods are not gang-scheduled",
          "spec.minMembers[Worker]: torch-on-k8s ignores this field: the task's pods are not gang-scheduled"]),
         (job(schedulingPolicy={"queue": "research"}),
          ["spec.schedulingPolicy.queue: torch-on-k8s ignores this field: the job is not queued"]),
        (job(tasks(master=task())), [f"{TASKS}[Master].restartPolicy: with ExitCode {WITH_THE_WORKER}"]),
        (job(tasks(master=task(restartPolicy="Never"))),
         [f"{TASKS}[Master].restartPolicy: with Never {WITH_THE_WORKER}"]),
        (job(tasks(master=task(), worker=task(2, restartPolicy="Never"))), []),
        (job({"Master": task()}), []),
        (job(tasks(master=task()), backoffLimit=0), []),
    ],
)  # fmt: skip
def test_what_does_not_happen_as_written_is_a_warning(document: dict[str, Any], expected: list[str]) -> None:
    response = validate(document)
    assert (faults(response), response.warnings) == ([], expected)


@pytest.mark.parametrize("gate, warns", [(frozenset(), True), (frozenset({"torchjobs/dependsOn"}), False)])
def test_who_says_what_a_task_waits_for_learns_whether_anybody_reads_it(gate: frozenset[str], warns: bool) -> None:
    document = job(tasks(task(1, dependsOn=[{"dependsOn": "Master"}])))
    reported = [
        f"{TASKS}[Worker].dependsOn: torch-on-k8s ignores this field: the Master waits for a running AIMaster, and the Worker for a running Master. If the operator supports it, an administrator declares that with the setting operator-can: [torchjobs/dependsOn]"
    ]
    assert validate(document, operator_can=gate).warnings == (reported if warns else [])


WAITS = f"{TASKS}[Worker].dependsOn"


@pytest.mark.parametrize(
    "document, places",
    [
        # Names are shown as the user wrote them.
        (job(tasks(task(1, dependsOn=[{"dependsOn": "Wroker"}]))),
         [f'{WAITS}[0].dependsOn: Not found: "Wroker": did you mean Worker? the job\'s tasks are Master, Worker']),
        (job(tasks(task(1, dependsOn=[{"dependsOn": "AIMaster"}]))), [f'{WAITS}[0].dependsOn: Not found: "AIMaster"']),
        (job(tasks(task(1, dependsOn=[{"dependsOn": "worKer"}]))), [f'{WAITS}[0].dependsOn: Invalid value: "worKer"']),
        (job(tasks(task(1, dependsOn=[{"dependsOn": "Master", "onPhase": "Failed"}]))),
         [f'{WAITS}[0].onPhase: Unsupported value: "Failed"']),
        (job(tasks(task(1, dependsOn=[{"onPhase": "Running"}]))), [f"{WAITS}[0].dependsOn: Required value"]),
        (job(tasks(task(1, dependsOn=[{"dependsOn": "Master"}]), task(dependsOn=[{"dependsOn": "Worker"}]))),
         [f'{WAITS}[0].dependsOn: Invalid value: "Master": dependency cycle: Master → Worker → Master']),
        (job(tasks(task(1), task(dependsOn=[{"dependsOn": "Worker"}]))), [f"{WAITS}: Invalid value"]),
    ],
)  # fmt: skip
def test_tasks_wait_for_what_can_be(document: dict[str, Any], places: list[str]) -> None:
    result = faults(validate(document))
    assert [fault[: len(place)] for fault, place in zip(result, places, strict=True)] == places


def test_a_worker_waits_for_its_master_though_it_does_not_say_so() -> None:
    document = job(tasks(task(1), task(dependsOn=[{"dependsOn": "Worker"}])))
    assert "dependency cycle" in faults(validate(document))[0]
    document["spec"]["torchTaskSpecs"]["Worker"]["dependsOn"] = []
    assert faults(validate(document)) == []


def test_a_broken_part_hides_no_fault_of_another() -> None:
    document = job(
        {
            "master": task("1"),
            "Worker": task(0, dependsOn="Master", spotTaskSpec={"numSpotTasks": "1", "labels": {"a b": "c"}}),
            "Wroker": task(template=[]),
        },
        minMembers={"Worker": "2"},
        clenPodPolicy="Some",
        activeDurations=5,
        activeDeadlineSeconds=5,
        **elastic(numMinReplicas=9, numMaxReplicas="9"),
    )
    assert sorted(fault.split(": ")[0] for fault in faults(validate(document))) == sorted(
        [
            "spec.clenPodPolicy",
            "spec.activeDurations",
            "spec.minMembers[Worker]",
            "spec.torchElasticPolicy.numMaxReplicas",
            f"{TASKS}[master].numTasks",
            f"{TASKS}[Worker].dependsOn",
            f"{TASKS}[Worker].numTasks",
            f"{TASKS}[Worker].spotTaskSpec.labels",
            f"{TASKS}[Worker].spotTaskSpec.numSpotTasks",
            f"{TASKS}[Wroker]",
            f"{TASKS}[Wroker].template",
        ]
    )


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_an_example_is_accepted_and_may_be_applied_again(file: Path) -> None:
    written = yaml.safe_load(file.read_text())
    before = copy.deepcopy(written)
    response = validate(written)
    assert (response.allowed, written) == (True, before)
    assert faults(validate(written, before | {"spec": {**before["spec"], "backoffLimit": 9}})) == []


@pytest.mark.parametrize("file", sorted((EXAMPLES / "broken").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_broken_example_is_denied_as_it_announces(file: Path) -> None:
    corpus.compare(file, faults(validate(yaml.safe_load(file.read_text()))))
