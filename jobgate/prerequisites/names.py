"""The kinds Prerequisite and ClusterPrerequisite, and how jobs name their objects: all that most jobs need of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from crdgen import Atomic, Doc, IntOrString, MaxItems, Model

GROUP: Final = "jobgate.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"
NAMESPACED, CLUSTER = "Prerequisite", "ClusterPrerequisite"
#: The resource of each kind, as in `webhook.Objects`.
RESOURCES: Final = {
    NAMESPACED: f"prerequisites.{VERSION}.{GROUP}",
    CLUSTER: f"clusterprerequisites.{VERSION}.{GROUP}",
}

#: Maximum number of entries in each list of an item, and of prerequisites that a task names.
ENTRIES: Final = 32

Name = Annotated[str, Field(min_length=1, max_length=253)]


class PrerequisiteKind(StrEnum):
    """Whether an item belongs to a namespace or to the cluster."""

    NAMESPACED = NAMESPACED
    CLUSTER = CLUSTER


class ReferenceSpec(Model):
    """A prerequisite, with the values of its template variables."""

    kind: Annotated[
        PrerequisiteKind | None,
        Doc("Prerequisite or ClusterPrerequisite. Defaults to Prerequisite, in a ClusterPrerequisite to itself."),
    ] = None
    name: Annotated[Name, Doc("Name of the item.")]
    template_variables: Annotated[
        dict[str, IntOrString] | None, Doc("Values of the item's template variables; literals, used as text.")
    ] = None


References = Annotated[list[ReferenceSpec], Atomic, MaxItems(ENTRIES)]
