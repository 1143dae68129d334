"""A toy kind of job: crews of parts, with just enough of each word of admission to try it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from webhook import Cause, Context, Draft, Duplicate, Invalid, Job, Kind, Notice, Path, Registry, Required, Task, rule
from webhook.path import join


class Role(StrEnum):
    LEAD = "lead"
    NONE = "none"


class Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Part(Model):
    name: StrictStr | None = None
    role: Role = Role.NONE
    replicas: Annotated[StrictInt, Field(ge=1)] = 1
    template: dict[str, Any] = {}


class Bounds(Model):
    least: StrictInt = 1
    most: StrictInt | None = None


class Spec(Model):
    parts: Annotated[list[Part], Field(min_length=1)]
    bounds: Bounds = Bounds()
    max_parts: Annotated[StrictInt, Field(alias="maxParts")] = 8


class CrewSchema:
    """The schema is what the model takes; and the image of a template, which the model does not look into, is text."""

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        return dict(document)

    def default(self, document: Mapping[str, Any]) -> dict[str, Any]:
        return dict(document)

    def crowded(self, document: Mapping[str, Any]) -> bool:
        return False

    def fits(self, document: Mapping[str, Any]) -> bool:
        return not self.check(document)

    def plain_with(self, values: Mapping[tuple[str, ...], Any]) -> Callable[[Mapping[str, Any]], bool]:
        return lambda _: False

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        if "spec" not in document:
            return [Required("spec")]
        try:
            spec = Spec.model_validate(document["spec"])
        except ValidationError as error:
            return list(
                dict.fromkeys(_cause(one["type"], one["loc"], one["input"], one["msg"]) for one in error.errors())
            )
        images = ((index, part.template.get("image", "")) for index, part in enumerate(spec.parts))
        return [
            Invalid(f"spec.parts[{index}].template.image", image, "must be a string")
            for index, image in images
            if not isinstance(image, str)
        ]


def _cause(fault: str, place: tuple[int | str, ...], value: Any, message: str) -> Cause:
    path = join(("spec", *place))
    return Required(path) if fault == "missing" else Invalid(path, value, message)


class CrewOperator:
    name = "the crew's operator"

    def pod(self, job: Job[Any], task: Task) -> dict[str, Any]:
        return {"metadata": {"name": f"{job.document['metadata']['name']}-{task.name}"}, "spec": dict(task.template)}


def parts_have_a_role(job: Draft, context: Context) -> None:
    for part in job.each("spec", "parts"):
        part.setdefault("role", "none")


def leads_are_called_so(job: Draft, context: Context) -> None:
    for part in job.each("spec", "parts"):
        if part.get("role") == "lead" and not part.get("name") and "name" not in part:
            part["name"] = "lead"


def parts_have_one_replica(job: Draft, context: Context) -> None:
    for part in job.each("spec", "parts"):
        part.setdefault("replicas", 1)


def bounds_have_a_least(job: Draft, context: Context) -> None:
    if (bounds := job.at("spec", "bounds")) is not None:
        bounds.setdefault("least", 1)


@rule(reads=("tasks.name",))
def names_are_unique(job: Job[Spec], context: Context) -> Iterator[Cause]:
    seen: set[str] = set()
    for task in job.tasks:
        if task.name is not None and task.name in seen:
            yield Duplicate(task.path / "name", task.name)
        seen.add(task.name or "")


@rule(reads=("parts",), whole=("tasks.name", "tasks.type"))
def plain_parts_have_names(job: Job[Spec], context: Context) -> Iterator[Cause]:
    for index, part in enumerate(job.spec.parts):
        if part.role is Role.NONE and not part.name:
            yield Required(Path("spec") / "parts" / index / "name", "a part without a role needs a name")


@rule("bounds.most", whole=("tasks.replicas",))
def parts_fit_the_bounds(job: Job[Spec], context: Context) -> Iterator[Cause]:
    most = job.spec.bounds.most
    total = sum(part.replicas for part in job.spec.parts)
    if most is not None and total > most:
        yield Invalid("spec.bounds.most", most, f"must be at least {total}, the sum of all replicas")


@rule("parts", reads=("parts", "max_parts"))
def parts_are_few(job: Job[Spec], context: Context) -> Iterator[Cause]:
    if len(job.spec.parts) > job.spec.max_parts:
        yield Invalid("spec.parts", len(job.spec.parts), f"must be at most {job.spec.max_parts}")


@rule(whole=("tasks.template",))
def privileged_is_ignored(job: Job[Spec], context: Context) -> Iterator[Notice]:
    for task in job.tasks:
        if "privileged" in task.template:
            yield Notice(task.template_path / "privileged", "the operator drops this")


@rule(whole=("tasks.template",))
def images_have_tags(job: Job[Spec], context: Context) -> Iterator[Cause]:
    for task in job.tasks:
        image = task.template.get("image")
        if isinstance(image, str) and ":" not in image:
            yield Invalid(task.template_path / "image", image, "must have a tag")


def tasks(spec: Spec) -> Iterator[Task]:
    for index, part in enumerate(spec.parts):
        yield Task(Path("spec") / "parts" / index, part, {"type": "role"})


DEFAULTS = (parts_have_a_role, leads_are_called_so, parts_have_one_replica, bounds_have_a_least)
RULES = (
    names_are_unique,
    plain_parts_have_names,
    parts_fit_the_bounds,
    parts_are_few,
    privileged_is_ignored,
    images_have_tags,
)


def crew(**changes: Any) -> Kind:
    """The toy kind, or one that differs from it."""
    words: dict[str, Any] = {
        "group": "toys.example.com",
        "version": "v1",
        "kind": "Crew",
        "plural": "crews",
        "spec": Spec,
        "schema": CrewSchema(),
        "tasks": tasks,
        "parts": "parts",
        "operator": CrewOperator(),
        "defaults": DEFAULTS,
        "rules": RULES,
    }
    return Kind(**(words | changes))


CREW = crew()
KINDS = Registry([CREW], {})
API_VERSION = "toys.example.com/v1"


def job(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    """A crew of these parts; without any, one that nothing is wrong with."""
    good = {"parts": [{"name": "a", "role": "none", "replicas": 1}]}
    return {
        "apiVersion": API_VERSION,
        "kind": "Crew",
        "metadata": {"name": "demo", "namespace": "default", **metadata},
        "spec": good if spec is None else spec,
    }


def parts(*several: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A crew of several parts."""
    return job({"parts": list(several), **spec})


def admission_review(document: Any = None, old: Any = None, operation: str = "", **request: Any) -> dict[str, Any]:
    """The AdmissionReview that the API server sends: of a CREATE, or of an UPDATE where there is an old object."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "toys.example.com", "version": "v1", "kind": "Crew"},
            "resource": {"group": "toys.example.com", "version": "v1", "resource": "crews"},
            "name": "demo",
            "namespace": "default",
            "operation": operation or ("CREATE" if old is None else "UPDATE"),
            "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
            "object": document,
            "oldObject": old,
            "dryRun": False,
            **request,
        },
    }
