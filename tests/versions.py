"""A kind in two versions, for tests of conversion: v1 has a list of tasks, and v1alpha1 had one group of workers."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

from crdgen import Atomic, CustomResource, Int32, Model, Names, PodTemplate, Version
from jobgate.api import Cause, Context, Invalid, Job, NotConvertible, Operator, OtherVersion, bind, rule

GROUP = "versions.example.com"
#: The annotation of an object of v1alpha1 with the tasks that v1alpha1 cannot express.
REST = f"{GROUP}/tasks"
BROKEN = "broken"


class Task(Model):
    """A group of equal pods."""

    name: str
    replicas: Annotated[int, Int32(minimum=1)] = 1
    template: Annotated[PodTemplate, "The template of the pods."]


class Spec(Model):
    """A job of several tasks."""

    tasks: Annotated[list[Task], Atomic]


class OlderSpec(Model):
    """A job of equal workers."""

    workers: Annotated[int, Int32(minimum=1)] = 1
    template: Annotated[PodTemplate, "The template of the workers."]


def up(document: dict[str, Any]) -> dict[str, Any]:
    """Return a job of workers as a job of one task, and of those that its annotation has."""
    if document["metadata"].get("name") == BROKEN:
        raise KeyError("secret value")
    spec = document["spec"]
    rest = document["metadata"].get("annotations", {}).pop(REST, "[]")
    first = {"name": "workers", "replicas": spec.get("workers", 1), "template": spec["template"]}
    return {**document, "spec": {"tasks": [first, *json.loads(rest)]}}


def down(document: dict[str, Any]) -> dict[str, Any]:
    """Return a job whose first task are the workers as a job of workers; its other tasks go into an annotation."""
    first, *rest = document["spec"]["tasks"]
    if first["name"] != "workers":
        raise NotConvertible(f"spec.tasks[0].name: v1alpha1 has only workers, not {first['name']}")
    if rest:
        document["metadata"].setdefault("annotations", {})[REST] = json.dumps(rest)
    return {**document, "spec": {"workers": first["replicas"], "template": first["template"]}}


def resource(storage: str = "v1") -> CustomResource:
    """Return the resource of the kind with a storage version."""
    versions = (
        Version("v1", spec=Spec, storage=storage == "v1"),
        Version("v1alpha1", spec=OlderSpec, storage=storage == "v1alpha1"),
    )
    return CustomResource(GROUP, Names(kind="Crew"), versions)


@rule("tasks.replicas")
def tasks_are_small(job: Job[Spec], _: Context) -> Iterator[Cause]:
    """A task has at most 100 pods."""
    for task in job.tasks:
        if task.replicas > 100:
            yield Invalid(task.path / "replicas", task.replicas, "must be at most 100")


CREW = bind(
    resource(),
    operator=Operator(name="tests", minor=36, pod_name="{job}-{task}-{index}"),
    rules=(tasks_are_small,),
    versions={"v1alpha1": OtherVersion(up, down)},
)


def template(image: str = "trainer") -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": image}]}}


def crew(*names: str, name: str = "demo") -> dict[str, Any]:
    """Return an object of v1 with tasks of these names."""
    tasks = [{"name": task, "replicas": 2, "template": template(task)} for task in names]
    return {"apiVersion": f"{GROUP}/v1", "kind": "Crew", "metadata": {"name": name}, "spec": {"tasks": tasks}}


def older(workers: int = 2, name: str = "demo", image: str = "workers") -> dict[str, Any]:
    """Return an object of v1alpha1."""
    spec = {"workers": workers, "template": template(image)}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Crew", "metadata": {"name": name}, "spec": spec}
