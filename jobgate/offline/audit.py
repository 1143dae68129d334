"""Reviews stored jobs, which were created before the webhook was installed, or reviewed by an older version."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from msgspec.structs import replace

from jobgate.cluster import Api, ApiError, Resource
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.wiring import jobs_of
from webhook import Cause, Notice, Objects, Operation, Phase, Registry, Request, UnknownObjects, review


@dataclass(frozen=True, slots=True)
class Audited:
    """The review of a stored job.

    Attributes:
        kind: the kind, as `<plural>.<group>`.
        namespace, name: of the job.
        faults: causes for which the job would be denied today, each with the name of its rule.
        notices: the warnings.
    """

    kind: str
    namespace: str
    name: str
    faults: tuple[tuple[str, Cause], ...] = ()
    notices: tuple[Notice, ...] = ()


class ListedObjects:
    """The listed objects of a cluster, by resource. Implements `webhook.Objects`."""

    def __init__(self, lists: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        self._objects = {
            resource: {(item["metadata"].get("namespace", ""), item["metadata"]["name"]): item for item in objects}
            for resource, objects in lists.items()
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None if it does not exist.

        Raises:
            UnknownObjects: the resource was not listed.
        """
        if resource not in self._objects:
            raise UnknownObjects(f"{resource} could not be listed")
        return self._objects[resource].get((namespace, name))

    @classmethod
    async def read(cls, client: Api, resources: Iterable[str]) -> tuple[Self, dict[str, str]]:
        """Return the objects that rules look up, and why the resources that are installed cannot be listed."""
        lists: dict[str, list[dict[str, Any]]] = {}
        faults: dict[str, str] = {}
        for resource in sorted(set(resources)):
            try:
                lists[resource] = [item async for page in client.pages(Resource.parse(resource)) for item in page.items]
            except ApiError as error:
                if not error.absent:
                    faults[resource] = str(error)
        return cls(lists), faults

    def __contains__(self, resource: object) -> bool:
        return resource in self._objects

    def names(self, resource: str, namespace: str = "") -> list[str]:
        """Return the names of the objects in a namespace; raises LookupError if the resource was not listed."""
        return [name for of, name in self._objects[resource] if of == namespace]


def audit(
    kind: CustomKind,
    document: dict[str, Any],
    kinds: Registry[CustomKind],
    settings: Settings,
    objects: Objects | None = None,
) -> Audited:
    """Review a stored job of a kind of the registry as if it were created now, even if the installation only warns."""
    metadata = document["metadata"]
    namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
    request = Request(
        uid="audit",
        api_version=kind.gvk.api_version,
        kind=kind.kind,
        operation=Operation.CREATE,
        name=name,
        namespace=namespace,
        document=document,
    )
    answer = review(request, Phase.VALIDATE, kinds, replace(settings, enforces=True), objects)
    faults = tuple((rule, finding) for rule, finding in answer.findings if isinstance(finding, Cause))
    return Audited(kind.qualified_plural, namespace, name, faults, tuple(answer.notices))


async def audit_stored(
    client: Api, kinds: Iterable[CustomKind], known: Registry[CustomKind], settings: Settings, objects: Objects
) -> tuple[list[Audited], list[str], dict[str, str]]:
    """Review the stored jobs of kinds; also return which kinds are not installed, and why others cannot be listed."""
    found, missing, faults = list[Audited](), list[str](), dict[str, str]()
    for kind in kinds:
        typed = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}  # items of a list may lack these
        review = partial(audit, kind, kinds=known, settings=settings, objects=objects)
        try:
            async for page in client.pages(Resource.parse(jobs_of(kind))):
                documents = ({**typed, **job} for job in page.items)
                found += await asyncio.to_thread(list, map(review, documents))  # the event loop serves others
        except ApiError as error:
            if error.absent:
                missing.append(kind.qualified_plural)
            else:
                faults[kind.qualified_plural] = str(error)
    return found, missing, faults


def by_rule(audits: Iterable[Audited]) -> Mapping[str, int]:
    """Return the number of jobs with faults, by rule, the most frequent rule first."""
    return dict(Counter(rule for audited in audits for rule in {rule for rule, _ in audited.faults}).most_common())


def document_of(audits: Sequence[Audited], missing: Sequence[str]) -> dict[str, Any]:
    """Return audited jobs as JSON, with the kinds that the cluster does not serve."""
    return {
        "jobs": [
            {
                "kind": audited.kind,
                "namespace": audited.namespace,
                "name": audited.name,
                "faults": [{"rule": rule, **cause.to_status()} for rule, cause in audited.faults],
                "warnings": [str(notice) for notice in audited.notices],
            }
            for audited in audits
        ],
        "rules": by_rule(audits),
        "notInstalled": list(missing),
    }
