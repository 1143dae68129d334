"""Items for tests: those of the examples, and small ones made on the spot."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from jobgate.prerequisites.reference import CLUSTER, NAMESPACED, RESOURCES, Reference
from jobgate.prerequisites.resolve import Find, finder
from webhook import User

NAMESPACE = "team"


def examples(*files: str) -> list[dict[str, Any]]:
    """The objects of files of `examples/prerequisites`; by default those of the three scenarios."""
    names = files or ("items.yaml", "local.yaml")
    return [
        document for name in names for document in yaml.safe_load_all(Path("examples/prerequisites", name).read_text())
    ]


def item(name: str, kind: str = CLUSTER, generation: int = 1, **spec: Any) -> dict[str, Any]:
    """A stored item."""
    metadata = {"name": name, "generation": generation, **({"namespace": NAMESPACE} if kind == NAMESPACED else {})}
    return {"apiVersion": "jobgate.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def starts(*commands: str, event: str = "taskStarts") -> dict[str, Any]:
    """A block `cmd` with one callback."""
    return {"callbacks": [{"event": event, "commands": list(commands)}]}


def wants(name: str, kind: str | None = None, **values: Any) -> dict[str, Any]:
    """An entry of `require` or of a job's list."""
    return {"name": name, **({"kind": kind} if kind else {}), **({"templateVariables": values} if values else {})}


def named(name: str, kind: str = CLUSTER, **values: str) -> Reference:
    """A reference."""
    return Reference(kind, name, tuple(sorted(values.items())))


class Known:
    """A `webhook.Objects` of items; of nothing else anything is known."""

    def __init__(self, documents: Iterable[Mapping[str, Any]]) -> None:
        self.documents = {self._key(document): document for document in documents}

    def put(self, document: Mapping[str, Any]) -> None:
        self.documents[self._key(document)] = document

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        if resource not in RESOURCES.values():
            raise LookupError(resource)
        return self.documents.get((resource, namespace, name))

    def find(self) -> Find:
        return finder(self, NAMESPACE)

    @staticmethod
    def _key(document: Mapping[str, Any]) -> tuple[str, str, str]:
        kind, metadata = document["kind"], document["metadata"]
        return RESOURCES[kind], NAMESPACE if kind == NAMESPACED else "", metadata["name"]


class Granted:
    """A `webhook.Access` in which users may use these items, by kind and name."""

    def __init__(self, grants: Mapping[str, Iterable[str]], unknown: bool = False) -> None:
        self._grants = {user: set(items) for user, items in grants.items()}
        self._unknown = unknown
        self.asked: list[str] = []

    def may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool | None:
        assert verb == "use"
        kind = next(kind for kind, one in RESOURCES.items() if one == resource)
        self.asked.append(f"{kind}/{name}")
        return None if self._unknown else f"{kind}/{name}" in self._grants.get(user.name, ())
