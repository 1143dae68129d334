"""The pods of DIJobs: whose they are by labels and name, and what DI-engine reads in them."""

from typing import Any

import pytest

from jobgate.jobs.members import Claim
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.dijob.operator import MEMBERS, claim
from jobgate.plugins import Crew
from tests.kinds.dijob.jobs import faults, job, task, template, validate
from tests.messages import compare
from tests.plugins.crews import drafted, of_job, pod, promised, variables, wired

LABELS = {"diengine/operator": "di-operator", "diengine/job": "atari", "diengine/task-name": "collector"}
OWNER = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": "atari", "uid": "1-2-3"}


def of(*tasks: Any, **spec: Any) -> Crew:
    known = tasks or (task("learner"), task("collector", replicas=2), task(name="x"), task(name="y-z", type="none"))
    return of_job(DIJOB, job(*known, **spec))


def nodes(*names: str) -> str:
    return ",".join(f"job-{name}.di-job.team.svc.cluster.local" for name in names)


@pytest.mark.parametrize(
    "metadata, expected",
    [
        ({"name": "atari-collector-3", "ownerReferences": [OWNER]}, Claim("atari", "collector", 3, "1-2-3", owned=True)),
        ({"name": "atari-collector-3"}, Claim("atari", "collector", 3)),
        ({"name": "atari-collector-x"}, Claim("atari", "collector", None)),
        ({"generateName": "atari-"}, Claim("atari", "collector", None)),
        ({"name": "atari-collector-3", "ownerReferences": [OWNER | {"apiVersion": "other/v1"}]}, Claim("atari", "collector", 3)),
        ({"name": "atari-collector-3", "labels": {"diengine/job": "atari"}}, None),
        ({"name": "atari-collector-3", "labels": LABELS | {"diengine/job": 3}}, None),
        ({"name": "atari-collector-3", "labels": None}, None),
    ],
)  # fmt: skip
def test_whose_a_pod_is(metadata: dict[str, Any], expected: Claim | None) -> None:
    assert claim({"metadata": {"labels": LABELS} | metadata}) == expected


def test_pods_are_known_by_the_labels_of_the_operator() -> None:
    assert MEMBERS.selector == {"matchLabels": {"diengine/operator": "di-operator"}}
    assert of().labels == {"diengine/operator": "di-operator", "diengine/job": "job"}
    assert (of().service, of().service_made) == ("di-job", True)


@pytest.mark.parametrize(
    "name, index, rank", [("learner", 0, "0"), ("collector", 1, "2"), ("x", 0, "3"), ("y-z", 0, "4")]
)
def test_ranks_follow_the_tasks_and_lists_their_types(name: str, index: int, rank: str) -> None:
    assert promised(of(), name, index) == {
        "DI_JOB_ID": "team/job",
        "DI_RANK": rank,
        "DI_NODES": nodes("learner-0", "collector-0", "collector-1", "x-0", "y-z-0"),
        "DI_LEARNER_NODES": nodes("learner-0"),
        "DI_COLLECTOR_NODES": nodes("collector-0", "collector-1"),
        "DI_X_NODES": nodes("x-0", "y-z-0"),
        "DI_Y_Z_NODES": nodes("x-0", "y-z-0"),
    }


@pytest.mark.parametrize(
    "operators, expected",
    [("2", "2"), ("0", "2"), ("4", "2"), ("5", "2"), ("17", "2"), ("-1", "2"), ("", "2"), (None, "2")],
)
def test_a_rank_is_the_place_of_the_pod_whatever_the_operator_counts(operators: str | None, expected: str) -> None:
    env = [] if operators is None else [{"name": "DI_RANK", "value": operators}]
    after = wired(pod({"name": "main", "env": env}), of(plugins={"env": []}), "collector", 1)
    assert variables(after)["DI_RANK"] == expected


@pytest.mark.parametrize(
    "operators",
    [
        (0, 1, 2, 3),
        # All pods lost: made again one by one, each gets the rank after the highest that is there.
        (1, 2, 3, 3),
        # The collector scaled from 1 to 2: the new pod gets the rank after that of the last task.
        (0, 1, 5, 2),
    ],
)
def test_the_ranks_of_a_jobs_pods_are_their_places_and_unique(operators: tuple[int, ...]) -> None:
    crew = of(task("learner"), task("collector", replicas=2), task(name="x"), plugins={"env": []})
    places = [("learner", 0), ("collector", 0), ("collector", 1), ("x", 0)]
    pods = [
        wired(pod({"name": "main", "env": [{"name": "DI_RANK", "value": str(rank)}]}), crew, *place)
        for rank, place in zip(operators, places, strict=True)
    ]
    assert [variables(pod)["DI_RANK"] for pod in pods] == ["0", "1", "2", "3"]


def test_a_rank_that_the_template_sets_is_left_with_the_operators_after_it() -> None:
    own = template(containers=[{"name": "main", "image": "i", "env": [{"name": "DI_RANK", "value": "99"}]}])
    result = of(task("learner", template=own), plugins={"env": []})
    env = [{"name": "DI_RANK", "value": "99"}, {"name": "DI_RANK", "value": "7"}]
    (container,) = wired(pod({"name": "main", "env": env}), result, "learner")["spec"]["containers"]
    assert [variable["value"] for variable in container["env"] if variable["name"] == "DI_RANK"] == ["99", "7"]


def test_hosts_are_those_of_the_operators_service_whatever_the_template_says() -> None:
    result = of(task("learner", template=template(hostname="own", subdomain="own")), plugins={"svc": []})
    assert result.hosts(result.parts[0]) == ["job-learner-0.di-job"]


def test_what_the_operator_has_set_is_left() -> None:
    every = [{"name": name, "value": value} for name, value in promised(of(), "learner").items()]
    places = [{"name": name, "value": "0"} for name in ("VK_TASK_INDEX", "VC_TASK_INDEX", "VC_TASK_NAME", "VC_TASK_SIZE", "VC_JOB_NAME", "VC_GLOBAL_RANK", "VC_GLOBAL_SIZE")]  # fmt: skip
    assert drafted(pod({"name": "main", "env": every + places}), of(plugins={"env": []}), "learner").patch == []


MAIN = {"name": "main", "image": "i"}
LISTS = {"name": "job-svc", "emptyDir": {}}


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(task("learner"), plugins={"env": [], "svc": None}), []),
        (job(task("learner", replicas=3000), plugins={"env": []}), ["spec.plugins[env]: Forbidden"]),
        (job(task("learner"), plugins={"svc": []}, volumes=[LISTS]), ["spec.plugins[svc]: Forbidden"]),
        (job(task("learner", template=template(volumes=[LISTS])), plugins={"svc": []}),
         ["spec.plugins[svc]: Forbidden"]),
        (job(task("learner", template=template(volumes=[{"name": "v", "emptyDir": {}}], containers=[MAIN | {"volumeMounts": [{"name": "v", "mountPath": "/etc/volcano"}]}])), plugins={"svc": []}),
         ["spec.plugins[svc]: Forbidden"]),
    ],
)  # fmt: skip
def test_what_plugins_cannot_do_is_rejected(document: Any, expected: list[str]) -> None:
    compare("kinds/dijob", faults(validate(document)), expected)
