"""The shape of the kind $name: `$group/$version`."""

from typing import Annotated

from crdgen import Column, CustomResource, Doc, Int32, Model, Names, Version
from pydantic import Field


class Spec(Model):
    """The wanted state."""

    region: Annotated[str, Field(min_length=1, max_length=63), Doc("Where it is. It never moves.")]
    minimum: Annotated[int, Int32(minimum=1), Doc("Fewest instances.")] = 1
    maximum: Annotated[int | None, Int32(minimum=1), Doc("Most instances. Defaults to the minimum.")] = None


class Status(Model):
    """The present state."""

    phase: Annotated[str | None, Doc("Pending, Ready or Failed.")] = None


RESOURCE = CustomResource(
    group="$group",
    names=Names(kind="$name"),
    versions=(
        Version(
            "$version",
            spec=Spec,
            status=Status,
            description="$name: say here what it is for.",
            columns=(Column("Region", ".spec.region"), Column("Phase", ".status.phase")),
        ),
    ),
)
