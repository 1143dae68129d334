"""A kind of job with the fields that shared rules read, and its jobs: a case shows only what matters."""

from typing import Annotated, Any

from msgspec.structs import replace

from crdgen import Atomic, CustomResource, Int32, Model, Names, OpenPodTemplate, PreserveUnknown, Version
from jobgate.jobs.binding import bind
from jobgate.jobs.context import Settings
from jobgate.jobs.dependencies import DependsOn
from jobgate.jobs.operator import Operator
from jobgate.jobs.policies import LifecyclePolicy
from jobgate.jobs.task import Task
from tests.kinds.reviews import request_of
from webhook import Path, Phase, Registry, Response, Rule, review

Json = dict[str, Any]


class GangTask(Model):
    """A part of a gang."""

    name: str | None = None
    replicas: Annotated[int, Int32(minimum=0)] = 1
    min_available: Annotated[int | None, Int32(minimum=0)] = None
    template: OpenPodTemplate
    policies: Annotated[list[LifecyclePolicy] | None, Atomic] = None
    depends_on: DependsOn | None = None
    partition_policy: Annotated[dict[str, Any] | None, PreserveUnknown] = None


class GangSpec(Model):
    """A gang."""

    min_available: Annotated[int | None, Int32(minimum=0)] = None
    queue: str | None = None
    scheduler_name: str | None = None
    priority_class_name: str | None = None
    policies: Annotated[list[LifecyclePolicy] | None, Atomic] = None
    tasks: Annotated[list[GangTask], Atomic]


class GangStatus(Model):
    """The state of a gang."""

    phase: str | None = None


RESOURCE = CustomResource(
    group="tests.example.com",
    names=Names(kind="Gang"),
    versions=(Version("v1", spec=GangSpec, status=GangStatus, description="A gang."),),
)

GANG = bind(
    RESOURCE,
    operator=Operator(
        name="gangs", minor=36, pod_name="{job}-{task}-{index}", supports=frozenset({"min_available", "policies"})
    ),
    tasks=lambda spec: [Task(Path("spec") / "tasks" / index, task) for index, task in enumerate(spec.tasks)],
)


def template(**spec: Any) -> Json:
    """Return a sound pod template with these fields in its pod spec."""
    return {"spec": {"containers": [{"name": "main", "image": "busybox"}], **spec}}


def task(name: str | None = "a", replicas: Any = 1, *after: str, **fields: Any) -> Json:
    """Return a task that waits for the tasks `after`."""
    waiting = {"dependsOn": {"name": list(after)}} if after else {}
    named = {} if name is None else {"name": name}
    return {**named, "replicas": replicas, "template": template(), **waiting, **fields}


def job(*tasks: Any, **spec: Any) -> Json:
    """Return a gang of these tasks, or of one plain one."""
    return {
        "apiVersion": GANG.gvk.api_version,
        "kind": "Gang",
        "metadata": {"name": "job"},
        "spec": {**spec, "tasks": list(tasks) or [task()]},
    }


def validate(
    document: Json, rules: tuple[Rule, ...], old: Json | None = None, settings: Settings | None = None
) -> Response:
    """Return the validating answer of a kind with these rules."""
    kinds = Registry([replace(GANG, rules=rules)])
    return review(request_of(GANG, document, old, name="job"), Phase.VALIDATE, kinds, settings or Settings())


def faults(document: Json, rules: tuple[Rule, ...], *about: Any, **more: Any) -> list[str]:
    """Return the causes, as `kubectl` prints them."""
    return [str(cause) for cause in validate(document, rules, *about, **more).causes]


def notices(document: Json, rules: tuple[Rule, ...], *about: Any, **more: Any) -> list[str]:
    """Return the notices."""
    return [str(notice) for notice in validate(document, rules, *about, **more).notices]
