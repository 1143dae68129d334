"""What a custom resource is, beside its models: names, versions, columns."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel

Scope: TypeAlias = Literal["Namespaced", "Cluster"]
ColumnType: TypeAlias = Literal["integer", "number", "string", "boolean", "date"]


@dataclass(frozen=True)
class Names:
    """What a kind is called; only the kind must be given."""

    kind: str
    plural: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        singular = self.singular or self.kind.lower()
        object.__setattr__(self, "singular", singular)
        object.__setattr__(self, "plural", self.plural or f"{singular}s")


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`. Its type comes from the schema; one that the schema does not hold is given."""

    name: str
    json_path: str
    type: ColumnType | None = None
    description: str = ""
    priority: int = 0


@dataclass(frozen=True)
class Version:
    """One version of a kind: its models and how `kubectl get` prints it. A status model makes status a subresource."""

    name: str
    spec: type[BaseModel]
    status: type[BaseModel] | None = None
    columns: tuple[Column, ...] = ()
    description: str = ""
    served: bool = True
    storage: bool = True


@dataclass(frozen=True)
class CustomResource:
    """A kind with its versions; `crd()` turns it into a CustomResourceDefinition."""

    group: str
    names: Names
    versions: tuple[Version, ...]
    scope: Scope = "Namespaced"
