"""The plugin `queueing`: queues and gangs of jobs whose operator knows neither, by what their pods say."""

from typing import Any

import pytest
from pydantic.alias_generators import to_snake

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.plugins import Crew, CrewContainer, Member, Part, Pod, parse, wire
from jobgate.plugins.queueing import Queueing, QueueingArguments, group_name
from tests.kinds.reviews import request_of
from tests.runner.world import dijob, task, torchjob
from webhook import Draft, Operation, Path, Phase, Registry, Request, review


def crew(system: str, **more: Any) -> Crew:
    arguments = QueueingArguments.model_validate({"system": system} | more.pop("arguments", {}))
    words: dict[str, Any] = {"name": "job", "uid": "0123456789", "queue": "high", "least": 2} | more
    part = words.pop("part", None) or Part("worker", replicas=3, containers=(CrewContainer("main"),))
    return Crew(
        api_version="example.com/v1",
        kind="Kind",
        plural="kinds.example.com",
        namespace="ns",
        parts=(part,),
        plugins={"queueing": arguments},
        **words,
    )


def wired(crew: Crew, **spec: Any) -> dict[str, Any]:
    draft = Draft({"spec": {"containers": [{"name": "main"}], "schedulerName": "default-scheduler"} | spec})
    wire(Pod(draft, Member(crew, crew.parts[0], 1)))
    again = Draft(draft.value)
    wire(Pod(again, Member(crew, crew.parts[0], 1)))
    assert again.patch == []
    pod: dict[str, Any] = draft.value
    return pod


def groups(crew: Crew) -> list[dict[str, Any]]:
    return [dict(manifest.manifest) for manifest in Queueing().objects(crew, crew.plugins["queueing"])]


def test_kueue_finds_the_queue_and_the_whole_group_on_the_pod_and_lifts_the_gate() -> None:
    pod = wired(crew("kueue"))
    assert pod["metadata"] == {
        "labels": {
            "kueue.x-k8s.io/queue-name": "high",
            "kueue.x-k8s.io/managed": "true",
            "kueue.x-k8s.io/pod-group-name": "job-01234567",
        },
        "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3"},
    }
    assert pod["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    assert groups(crew("kueue")) == []


def test_the_group_of_a_long_name_is_a_label() -> None:
    assert len(group_name("a" * 60, "01234567")) == 63
    assert group_name("a" * 53 + "-" * 3 + "b", "01234567") == "a" * 53 + "-01234567"


def test_a_pod_that_has_a_node_is_not_gated() -> None:
    assert "schedulingGates" not in wired(crew("kueue"), nodeName="a")["spec"]


def test_coscheduling_finds_the_group_by_its_label_and_its_size_in_the_pod_group() -> None:
    job = crew("coscheduling")
    pod = wired(job)
    assert pod["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "job"}
    assert pod["spec"]["schedulerName"] == "scheduler-plugins-scheduler"
    assert groups(job) == [
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "job"},
            "spec": {"minMember": 2},
        }
    ]


def test_volcano_finds_group_queue_and_priority() -> None:
    job = crew("volcano", priority_class="urgent")
    pod = wired(job)
    assert pod["metadata"]["annotations"] == {
        "scheduling.k8s.io/group-name": "job",
        "scheduling.volcano.sh/queue-name": "high",
    }
    assert pod["spec"]["schedulerName"] == "volcano"
    assert [group["spec"] for group in groups(job)] == [
        {"minMember": 2, "queue": "high", "priorityClassName": "urgent"}
    ]


def test_a_queue_without_a_gang_starts_pod_by_pod() -> None:
    assert [group["spec"]["minMember"] for group in groups(crew("volcano", least=None))] == [1]


@pytest.mark.parametrize("system", ["kueue", "coscheduling", "volcano"])
def test_a_job_that_asks_for_neither_is_left_alone(system: str) -> None:
    job = crew(system, queue="", least=None)
    pod = wired(job)
    assert pod == {"spec": {"containers": [{"name": "main"}], "schedulerName": "default-scheduler"}}
    assert groups(job) == []


def test_the_scheduler_of_the_template_wins_over_the_job_s_and_the_job_s_over_the_installation_s() -> None:
    own = Part("worker", replicas=3, containers=(CrewContainer("main"),), scheduler="mine")
    assert wired(crew("volcano", part=own), schedulerName="mine")["spec"]["schedulerName"] == "mine"
    assert wired(crew("kueue", scheduler="ours"))["spec"]["schedulerName"] == "ours"
    named = crew("coscheduling", arguments={"scheduler": "gang-scheduler"})
    assert wired(named)["spec"]["schedulerName"] == "gang-scheduler"


def test_what_the_installation_says_is_checked() -> None:
    arguments, causes = parse(QueueingArguments, "queueing", {"system": "yarn"}, Path("queueing"))
    assert arguments is None
    assert [str(cause) for cause in causes] == [
        'queueing.system: Invalid value: "system": its value must be kubernetes, kueue, coscheduling or volcano'
    ]


@pytest.mark.parametrize(
    ("system", "supported"),
    [
        ("kueue", {"queue", "scheduler_name"}),
        ("coscheduling", {"min_available", "scheduler_name"}),
        ("volcano", {"queue", "min_available", "priority_class_name", "scheduler_name"}),
    ],
)
def test_what_the_system_acts_on_is_not_warned_of(system: str, supported: set[str]) -> None:
    words = {"queue": "high", "minAvailable": 1, "priorityClassName": "urgent", "schedulerName": "mine"}
    arguments = QueueingArguments.model_validate({"system": system})
    ignored = {to_snake(path.removeprefix("spec.")) for path in ignored_in(words, {"queueing": arguments})}
    assert ignored == {to_snake(word) for word in words} - supported
    assert len(ignored_in(words, {})) == 4


def scaled(system: str, replicas: int, status: Any = None, **words: Any) -> list[str]:
    """The answers that name Kueue, if a job of two pods gets another number: warnings, and causes of a denial."""

    def job(count: int) -> dict[str, Any]:
        task = {
            "type": "learner",
            "replicas": count,
            "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}},
        }
        spec = {"tasks": [task], **words}
        return {"apiVersion": DIJOB.gvk.api_version, "kind": "DIJob", "metadata": {"name": "job"}, "spec": spec}

    request = Request(
        uid="1",
        api_version=DIJOB.gvk.api_version,
        kind="DIJob",
        operation=Operation.UPDATE,
        name="job",
        namespace="ns",
        document=job(replicas),
        old_document=job(2) | {"metadata": {"name": "job", "labels": {"a": "b"}}, "status": status or {}},
    )
    plugins = {"queueing": QueueingArguments.model_validate({"system": system})}
    response = review(request, Phase.VALIDATE, Registry([DIJOB]), Settings(plugins=plugins))
    assert response.allowed != bool(response.causes)
    answers = [*response.causes, *response.notices]
    return [f"{answer.path}: {answer.message}" for answer in answers if "Kueue" in answer.message]


def test_a_job_in_a_queue_of_kueue_does_not_grow_and_shrinks_with_a_warning() -> None:
    (denial,), (warning,) = scaled("kueue", 3, queue="high"), scaled("kueue", 1, queue="high")
    assert "spec.tasks[0].replicas: Forbidden: Kueue counts the pods of a job once" in denial
    assert "spec.tasks[0].replicas: Kueue counts the pods of a job once: the quota of those that go" in warning
    assert scaled("kueue", 2, queue="high", priority="high") == []
    assert scaled("kueue", 3) == scaled("volcano", 3, queue="high") == []


def test_a_stopped_job_in_a_queue_of_kueue_is_scaled() -> None:
    assert scaled("kueue", 3, queue="high", suspend=True) == []
    assert scaled("kueue", 3, {"jobgate": {"attempt": 0, "held": "AbortJob"}}, queue="high") == []


def ignored_in(words: dict[str, Any], plugins: dict[str, Any]) -> list[str]:
    spec = {
        "tasks": [{"type": "learner", "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}],
        **words,
    }
    document = {"apiVersion": DIJOB.gvk.api_version, "kind": "DIJob", "metadata": {"name": "job"}, "spec": spec}
    request = Request(
        uid="1",
        api_version=DIJOB.gvk.api_version,
        kind="DIJob",
        operation=Operation.CREATE,
        name="job",
        namespace="ns",
        document=document,
    )
    response = review(request, Phase.VALIDATE, Registry([DIJOB]), Settings(plugins=plugins))
    assert response.allowed, response.causes
    return [str(notice.path) for notice in response.notices if "ignores this field" in notice.message]


def ordered(kind: JobKind, system: str, document: dict[str, Any]) -> list[str]:
    """Return the warnings that gangs of a job that jobgate runs can wait for each other."""
    plugins = {"queueing": QueueingArguments.model_validate({"system": system})}
    settings = Settings(plugins=plugins, runs=frozenset({kind.qualified_plural}))
    response = review(request_of(kind, document, name="job"), Phase.VALIDATE, Registry([kind]), settings)
    return [f"{notice.path}: {notice.message}" for notice in response.notices if "gang of its own" in notice.message]


def test_gangs_of_a_job_that_can_wait_for_each_other_are_warned_of() -> None:
    tasks = task(name="a"), task(2, "b", dependsOn={"name": ["a"]}), task(name="c", dependsOn={"name": ["a"]})
    expected = (
        "spec.tasks[1].dependsOn: starts after a, as a gang of its own: jobs whose first gangs run can wait for ever "
        "for room for their next. Tasks without an order are one gang"
    )
    assert ordered(DIJOB, "volcano", dijob(*tasks)) == [expected]
    assert ordered(DIJOB, "kueue", dijob(*tasks, queue="high")) == [expected]
    assert ordered(DIJOB, "kueue", dijob(*tasks)) == ordered(DIJOB, "volcano", dijob(*tasks, minAvailable=0)) == []


@pytest.mark.parametrize(
    ("case", "worker", "spec", "warned"),
    [
        ("no order", {}, {}, False),
        ("an order of its own", {"dependsOn": [{"dependsOn": "Master"}]}, {}, True),
        ("after the end of the first", {"dependsOn": [{"dependsOn": "Master", "onPhase": "Succeeded"}]}, {}, False),
        ("minima by task", {}, {"minMembers": {"Worker": 2}}, True),
    ],
)
def test_a_torchjob_is_one_gang_unless_it_has_an_order_of_its_own(
    case: str, worker: dict[str, Any], spec: dict[str, Any], warned: bool
) -> None:
    job = torchjob(worker=worker, **spec)
    assert bool(ordered(TORCHJOB, "volcano", job)) == warned, case
