"""A toy kind for tests: crews of parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from webhook import (
    Cause,
    Context,
    Draft,
    Duplicate,
    Invalid,
    Kind,
    ModelSchema,
    Notice,
    Object,
    Registry,
    Required,
    Settings,
    rule,
)
from webhook.values import objects


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


class CrewSchema(ModelSchema):
    """The objects that the model accepts, if also the image of each template, which it does not check, is a string."""

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        if causes := super().check(document):
            return causes
        images = (
            (index, part.get("template", {}).get("image", "")) for index, part in objects(document["spec"]["parts"])
        )
        return [
            Invalid(f"spec.parts[{index}].template.image", image, "must be a string")
            for index, image in images
            if not isinstance(image, str)
        ]


def parts_have_a_role(crew: Draft, context: Context[Settings]) -> None:
    for part in crew.each("spec", "parts"):
        part.setdefault("role", "none")


def leads_are_called_so(crew: Draft, context: Context[Settings]) -> None:
    for part in crew.each("spec", "parts"):
        if part.get("role") == "lead" and not part.get("name") and "name" not in part:
            part["name"] = "lead"


def parts_have_one_replica(crew: Draft, context: Context[Settings]) -> None:
    for part in crew.each("spec", "parts"):
        part.setdefault("replicas", 1)


def bounds_have_a_least(crew: Draft, context: Context[Settings]) -> None:
    if (bounds := crew.at("spec", "bounds")) is not None:
        bounds.setdefault("least", 1)


@rule()
def names_are_unique(crew: Object[Spec], context: Context[Settings]) -> Iterator[Cause]:
    seen: set[str] = set()
    for path, part in crew.each("parts"):
        if part.name is not None and part.name in seen:
            yield Duplicate(path / "name", part.name)
        seen.add(part.name or "")


@rule()
def plain_parts_have_names(crew: Object[Spec], context: Context[Settings]) -> Iterator[Cause]:
    for index, part in enumerate(crew.spec.parts):
        if part.role is Role.NONE and not part.name:
            yield Required(f"spec.parts[{index}].name", "a part without a role needs a name")


@rule("bounds.most")
def parts_fit_the_bounds(crew: Object[Spec], context: Context[Settings]) -> Iterator[Cause]:
    most = crew.spec.bounds.most
    total = sum(part.replicas for part in crew.spec.parts)
    if most is not None and total > most:
        yield Invalid("spec.bounds.most", most, f"must be at least {total}, the sum of all replicas")


@rule("parts")
def parts_are_few(crew: Object[Spec], context: Context[Settings]) -> Iterator[Cause]:
    if len(crew.spec.parts) > crew.spec.max_parts:
        yield Invalid("spec.parts", len(crew.spec.parts), f"must be at most {crew.spec.max_parts}")


@rule()
def privileged_is_ignored(crew: Object[Spec], context: Context[Settings]) -> Iterator[Notice]:
    for index, part in enumerate(crew.spec.parts):
        if "privileged" in part.template:
            yield Notice(f"spec.parts[{index}].template.privileged", "the operator drops this")


@rule()
def images_have_tags(crew: Object[Spec], context: Context[Settings]) -> Iterator[Cause]:
    for path, part in crew.each("parts"):
        image = part.template.get("image")
        if isinstance(image, str) and ":" not in image:
            yield Invalid(path / "template" / "image", image, "must have a tag")


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
    """The toy kind, with changes."""
    fields: dict[str, Any] = {
        "group": "toys.example.com",
        "version": "v1",
        "kind": "Crew",
        "plural": "crews",
        "spec": Spec,
        "schema": CrewSchema(Spec),
        "defaults": DEFAULTS,
        "rules": RULES,
    }
    return Kind(**(fields | changes))


CREW = crew()
KINDS = Registry([CREW])
API_VERSION = "toys.example.com/v1"


def job(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    """A crew with this spec, by default a valid one."""
    good = {"parts": [{"name": "a", "role": "none", "replicas": 1}]}
    return {
        "apiVersion": API_VERSION,
        "kind": "Crew",
        "metadata": {"name": "demo", "namespace": "default", **metadata},
        "spec": good if spec is None else spec,
    }


def parts(*several: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A crew of these parts."""
    return job({"parts": list(several), **spec})


def admission_review(document: Any = None, old: Any = None, operation: str = "", **request: Any) -> dict[str, Any]:
    """The AdmissionReview that the API server sends: for a CREATE, or for an UPDATE if there is an old object."""
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
