"""Ordinary jobs: plugins find nothing in the largest of them, and what is beyond a limit is looked at."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from msgspec.structs import replace

from jobgate import plugins
from jobgate.kinds import built_in
from jobgate.plugins import Crew
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.env import Env
from jobgate.rules.ordinary import is_ordinary
from jobgate.rules.plugins import derived_objects_have_legal_names, plugins_can_be_carried_out
from webhook import Cause, Context, Forbidden, Job, Kind, Path, Settings
from webhook.review import mutated

Json = dict[str, Any]
KINDS = {kind.kind: kind for kind in built_in()}
NAME = "j" * 50
#: The roles of MxJobs leave less to the name of the job.
NAMES = dict.fromkeys(KINDS, NAME) | {"MxJob": "j" * 45}
#: As many characters as pods' names leave to a task's beside a job's name of 50.
TASK = "t" * 8
MOUNTS = [{"name": "data", "mountPath": f"/{'ü' * 249}{number:02}"} for number in range(3)]

#: By kind, the main container and the spec of a job of 64 pods, as far as it can have so many, with these templates.
SPECS: dict[str, tuple[str, Callable[[list[Json]], Json]]] = {
    "DIJob": (
        "di-container",
        lambda made: {
            "tasks": [
                {"name": f"{TASK[1:]}{at}", "type": "none", "replicas": 8, "template": one}
                for at, one in enumerate(made)
            ]
        },
    ),
    "Job": (
        "main",
        lambda made: {
            "tasks": [{"name": f"{TASK[1:]}{at}", "replicas": 8, "template": one} for at, one in enumerate(made)]
        },
    ),
    "MxJob": (
        "mxnet",
        lambda made: {
            "jobMode": "dist",
            "replicaSpecs": [
                {"mxReplicaType": role, "replicas": count, "template": one}
                for role, count, one in zip(("SCHEDULER", "SERVER", "WORKER"), (1, 31, 32), made, strict=False)
            ],
        },
    ),
    "TorchJob": (
        "torch",
        lambda made: {
            "torchTaskSpecs": {
                "Master": {"numTasks": 1, "template": made[0]},
                "Worker": {"numTasks": 63, "template": made[1]},
            }
        },
    ),
}


def largest(kind: str) -> Json:
    """Return a job with as much of everything as ordinary ones have."""
    name, spec = SPECS[kind]

    def template() -> Json:
        containers = [
            {"name": one, "image": "train", "volumeMounts": deepcopy(MOUNTS)}
            for one in (name, *(f"{at}{'c' * 62}" for at in range(3)))
        ]
        volumes = [{"name": "data", "emptyDir": {}}]
        return {"spec": {"containers": containers, "volumes": volumes, "restartPolicy": "OnFailure"}}

    asked: Json = {"env": [], "svc": [], "ssh": []}
    document = {
        "apiVersion": KINDS[kind].gvk.api_version,
        "kind": kind,
        "metadata": {"name": NAMES[kind], "namespace": "n" * 63},
        "spec": {"plugins": asked, **spec([template() for _ in range(8)])},
    }
    return mutated(KINDS[kind], document, context(kind)).value


def context(kind: str) -> Context:
    return Context(name=NAMES[kind], namespace="n" * 63, plugins=plugins.installed())


def first(kind: Kind, document: Json) -> Json:
    """Return the first task of a job."""
    value: Any = document
    for step in kind.plan.word(kind.parts).path.steps:
        value = value[step]
    found: Json = value[0] if isinstance(value, list) else next(iter(value.values()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_plugins_find_nothing_in_the_largest_ordinary_job(kind: str) -> None:
    job: Job[Any] = Job(KINDS[kind], largest(kind), plain=True)
    assert KINDS[kind].plain(job.document)
    assert is_ordinary(job, context(kind))
    for rule in (plugins_can_be_carried_out, derived_objects_have_legal_names):
        assert list(rule.check(job, context(kind))) == []


@pytest.mark.parametrize("kind, ordinary", [("DIJob", True), ("Job", False)])
def test_ssh_without_svc_is_looked_at_unless_the_operator_makes_a_service(kind: str, *, ordinary: bool) -> None:
    document = largest(kind)
    document["spec"]["plugins"] = {"ssh": []}
    assert is_ordinary(Job(KINDS[kind], document, plain=True), context(kind)) is ordinary


def spec_of(document: Json) -> Json:
    spec: Json = first(KINDS["DIJob"], document)["template"]["spec"]
    return spec


#: What makes a DIJob one that is looked at.
CHANGES: dict[str, Callable[[Json], Any]] = {
    "a pod more": lambda job: first(KINDS["DIJob"], job).update(replicas=9),
    "a container more": lambda job: spec_of(job)["containers"].append({"name": "more", "image": "train"}),
    "a longer path": lambda job: spec_of(job)["containers"][0]["volumeMounts"][0].update(mountPath="/" + "p" * 253),
    "many volumes": lambda job: spec_of(job).update(volumes=[{"name": f"v{at}"} for at in range(129)]),
    "a volume of the job": lambda job: job["spec"].update(volumes=[{"name": "data", "emptyDir": {}}]),
    "a host name": lambda job: spec_of(job).update(hostname="host"),
    "a user": lambda job: spec_of(job).update(securityContext={"runAsUser": 0}),
    "a container's user": lambda job: spec_of(job)["containers"][0].update(securityContext={"runAsNonRoot": True}),
    "the volume of a plugin": lambda job: spec_of(job)["volumes"].append({"name": f"{NAME}-svc", "emptyDir": {}}),
    "the path of a plugin": lambda job: spec_of(job)["containers"][0]["volumeMounts"][0].update(mountPath="/root/.ssh"),
    "an argument": lambda job: job["spec"]["plugins"].update(svc=["--inject-hosts-env=false"]),
    "an unknown plugin": lambda job: job["spec"]["plugins"].update(unknown=[]),
    "prerequisites": lambda job: job["spec"].update(prerequisites=["data"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_job_that_is_not_ordinary_is_looked_at(change: str) -> None:
    document = deepcopy(largest("DIJob"))
    CHANGES[change](document)
    assert not is_ordinary(Job(KINDS["DIJob"], document, plain=True), context("DIJob"))


@pytest.mark.parametrize(
    "other", [{"name": "j" * 51}, {"name": "1" * 50}, {"name": ""}, {"settings": Settings(plugins={"env": None})}]
)
def test_so_is_one_of_another_name_or_with_plugins_of_the_installation(other: Json) -> None:
    job: Job[Any] = Job(KINDS["DIJob"], largest("DIJob"), plain=True)
    found = Context(**{"name": NAME, "namespace": "team", "plugins": plugins.installed(), **other})
    assert not is_ordinary(job, found)


class Closed(Env):
    def check(self, crew: Crew, arguments: NoArguments, path: Path) -> Iterator[Cause]:
        yield Forbidden(path, "closed")


def test_so_is_one_with_a_plugin_of_a_package() -> None:
    document = largest("DIJob")
    document["spec"]["plugins"] = {"env": []}
    asked = replace(context("DIJob"), plugins={"env": Closed()})
    assert not is_ordinary(Job(KINDS["DIJob"], document, plain=True), asked)
