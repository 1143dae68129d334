"""The objects that DI-orchestrator creates for a DIJob, and how they follow its changes."""

import random
from typing import Any

import pytest

from controlplane.operators.dijob import DIOrchestrator, pod, typed, variables
from controlplane.simulation import end_pod
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.operators.conftest import env_of, example, stored

GROUP = "diengine.opendilab.org/v2alpha1"
TIMEOUT = 60.0
# The garbage collector learns of a new kind of owner when it next asks, twice a minute.
COLLECTED = 120.0


def job(*tasks: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return stored({"metadata": {"name": "walker"}, "spec": {**spec, "tasks": list(tasks)}})


def task(name: str, type: str = "none", replicas: int = 1, **pod_spec: Any) -> dict[str, Any]:  # noqa: A002
    spec = {"containers": [{"name": "main", "image": "main"}], **pod_spec}
    return {"name": name, "type": type, "replicas": replicas, "template": {"spec": spec}}


LEARNER, COLLECTOR = task("learner", "learner"), task("roll-out", "collector", 2)


def test_a_pod_is_named_labelled_and_owned_as_the_operator_does() -> None:
    made = pod(job(LEARNER, COLLECTOR), COLLECTOR, 1, rank=2, env=[]).body
    assert made["metadata"] == {
        "name": "walker-roll-out-1",
        "namespace": "lab",
        "labels": {
            "diengine/operator": "di-operator",
            "diengine/job": "walker",
            "diengine/task-type": "collector",
            "diengine/task-name": "roll-out",
            "diengine/pod": "walker-roll-out-1",
        },
        "annotations": {
            "diengine/replicas": "3",
            "diengine/rank": "2",
            "diengine/task-rank": "1",
            "diengine/node": "",
        },
        "ownerReferences": [
            {
                "apiVersion": "diengine.opendilab.org/v2alpha1",
                "kind": "DIJob",
                "name": "walker",
                "uid": "0123",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


@pytest.mark.parametrize(
    "named, expected",
    [
        ("learner", {"DI_LEARNER_NODES": ["learner-0"]}),
        ("roll-out", {"DI_ROLL_OUT_NODES": ["roll-out-0", "roll-out-1"]}),
        # Both are of type none, and so each has both.
        ("board", {"DI_BOARD_NODES": ["board-0", "mail-box-0"]}),
        ("mail-box", {"DI_MAIL_BOX_NODES": ["board-0", "mail-box-0"]}),
    ],
)
def test_the_variables_name_all_pods_and_those_of_the_type_of_the_pods_own_task(
    named: str, expected: dict[str, list[str]]
) -> None:
    tasks = [LEARNER, COLLECTOR, task("board"), task("mail-box")]
    own = next(each for each in tasks if each["name"] == named)
    env = {variable["name"]: variable["value"] for variable in variables(job(*tasks), own, 7)}
    every = ["learner-0", "roll-out-0", "roll-out-1", "board-0", "mail-box-0"]
    lists = {"DI_NODES": every, **expected}
    assert env == {
        "DI_JOB_ID": "lab/walker",
        "DI_SERVER_URL": "http://di-server.di-system.svc.cluster.local:8081",
        "DI_RANK": "7",
        **{
            key: ",".join(f"walker-{entry}.di-walker.lab.svc.cluster.local" for entry in of)
            for key, of in lists.items()
        },
    }


def test_a_job_is_written_back_with_empty_structures_and_without_what_go_does_not_know() -> None:
    anonymous = {
        "type": "learner",
        "replicas": 1,
        "dependsOn": {},
        "template": {"spec": {"containers": [{"name": "a"}]}},
    }
    walker = job(anonymous, backoffLimit=0, minReplicas=2, plugins={})
    assert typed(walker, erases=True)["spec"] == {
        "backoffLimit": 0,
        "tasks": [
            {
                "name": "learner",
                "type": "learner",
                "replicas": 1,
                "template": {"metadata": {}, "spec": {"containers": [{"name": "a", "resources": {}}]}},
            }
        ],
    }
    kept = typed(walker, erases=False)["spec"]
    assert (kept["minReplicas"], kept["tasks"][0]["dependsOn"], kept["tasks"][0]["name"]) == (2, {}, "learner")


def ranks(space: Space) -> dict[str, str]:
    pods = space.items("pods")
    return {each["metadata"]["name"]: each["metadata"]["annotations"]["diengine/rank"] for each in pods}


def scale(space: Space, name: str, index: int, replicas: int) -> None:
    tasks = space.get("dijobs", name, GROUP)["spec"]["tasks"]
    tasks[index]["replicas"] = replicas
    space.patch("dijobs", name, {"spec": {"tasks": tasks}}, GROUP)


def test_a_job_runs_is_scaled_corrected_and_collected(space: Space) -> None:
    operator = DIOrchestrator(space.api, space.name)
    space.create("dijobs", example("dijob/minimal.yaml"), GROUP)

    report = operator.sync()

    assert report.refused == {}
    assert report.created == [
        "services/di-minimal",
        "pods/minimal-learner-0",
        "pods/minimal-collector-0",
        "pods/minimal-collector-1",
    ]
    assert ranks(space) == {"minimal-learner-0": "0", "minimal-collector-0": "1", "minimal-collector-1": "2"}
    wait_for(lambda: space.phases() == ["Running"] * 3, TIMEOUT, what="all pods run")
    assert operator.sync().idle

    scale(space, "minimal", 1, 4)
    operator.sync()
    assert ranks(space)["minimal-collector-3"] == "4"
    (new,) = space.get("pods", "minimal-collector-3")["spec"]["containers"]
    assert len(env_of(new)["DI_NODES"].split(",")) == 5

    space.delete("pods", "minimal-learner-0")
    wait_for(lambda: len(space.items("pods")) == 4, TIMEOUT, what="the learner is gone")
    operator.sync()
    assert ranks(space)["minimal-learner-0"] == "5"

    scale(space, "minimal", 1, 1)
    deleted = operator.sync().deleted
    assert (len(deleted), len(set(deleted))) == (3, 3)
    wait_for(lambda: len(space.items("pods")) == 2, TIMEOUT, what="the pods are gone")

    space.delete("dijobs", "minimal", GROUP)
    wait_for(lambda: not space.items("pods") and not space.items("services"), COLLECTED, what="all is collected")


def test_scaled_down_it_deletes_any_pods_and_creates_no_lost_one_again(space: Space) -> None:
    operator = DIOrchestrator(space.api, space.name, order=random.Random(1))
    space.create("dijobs", {**example("dijob/minimal.yaml"), "spec": {"tasks": [task("work", replicas=6)]}}, GROUP)
    operator.sync()
    scale(space, "minimal", 0, 3)
    operator.sync()
    wait_for(lambda: len(space.items("pods")) == 3, TIMEOUT, what="three pods are gone")
    assert space.names("pods") != [f"minimal-work-{index}" for index in range(3)]
    space.delete("pods", space.names("pods")[0])
    wait_for(lambda: len(space.items("pods")) == 2, TIMEOUT, what="another is lost")
    assert operator.sync().idle


def test_failed_pods_are_replaced_until_the_backoff_limit(space: Space) -> None:
    operator = DIOrchestrator(space.api, space.name)
    walker = example("dijob/minimal.yaml")
    walker["spec"] |= {"backoffLimit": 1, "tasks": walker["spec"]["tasks"][:1]}
    space.create("dijobs", walker, GROUP)
    for attempt, deleted in enumerate((["pods/minimal-learner-0"], [])):
        wait_for(lambda: not operator.sync().refused and space.phases() == ["Running"], TIMEOUT, what="the pod runs")
        assert list(ranks(space).values()) == ["0"], attempt
        end_pod(space.api, space.name, "minimal-learner-0", exit_code=1)
        wait_for(lambda: space.phases() == ["Failed"], TIMEOUT, what="the pod failed")
        assert operator.sync().deleted == deleted


def test_an_invalid_job_gets_no_pods(space: Space) -> None:
    walker = example("dijob/minimal.yaml")
    walker["spec"]["tasks"] = [{**each, "name": "same"} for each in walker["spec"]["tasks"]]
    space.create("dijobs", walker, GROUP)
    assert DIOrchestrator(space.api, space.name).sync().refused == {"dijobs/minimal": "two tasks of one name"}
    assert space.items("pods") == []
