"""The objects that the plugins of a job declare, with our label and the job as owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.cluster import Resource
from jobgate.cluster.secret import SECRETS
from jobgate.names import MANAGED_BY, label_value
from jobgate.plugins import Crew, Declared, carried_out
from jobgate.plugins.crew import JOB_LABEL
from jobgate.plugins.queueing import GROUPS, Queueing, QueueingArguments

#: Resources that are watched, and deleted when they are no longer declared.
FOLLOWED: Mapping[tuple[str, str], Resource] = {
    ("v1", "ConfigMap"): Resource("configmaps", "v1", ""),
    ("v1", "Service"): Resource("services", "v1", ""),
    ("networking.k8s.io/v1", "NetworkPolicy"): Resource("networkpolicies", "v1", "networking.k8s.io"),
}

#: Only the groups of the queueing system of the installation are watched.
_GROUPS = {
    system: Resource(plural, version.rpartition("/")[2], version.rpartition("/")[0])
    for system, (version, plural) in GROUPS.items()
}

_RESOURCES = {
    **FOLLOWED,
    ("v1", "Secret"): SECRETS,
    **{(version, "PodGroup"): _GROUPS[system] for system, (version, _) in GROUPS.items()},
}


def followed(plugins: Mapping[str, Any]) -> list[Resource]:
    """Return the resources that are watched if the installation imposes these plugins, with arguments by name."""
    queueing = plugins.get(Queueing.name)
    group = _GROUPS.get(queueing.system) if isinstance(queueing, QueueingArguments) else None
    return [*FOLLOWED.values(), *([group] if group else [])]


@dataclass(frozen=True, slots=True)
class Desired:
    """A declared object; the manifest lacks the parts that are generated only once."""

    resource: Resource
    manifest: Mapping[str, Any]
    declared: Declared

    @property
    def name(self) -> str:
        """The name of the object."""
        name: str = self.manifest["metadata"]["name"]
        return name

    @property
    def called(self) -> str:
        """Kind and name, for messages."""
        return f"{self.manifest['kind']} {self.name}"

    def made(self) -> Mapping[str, Any]:
        """Return the object with new generated parts; maps, as `data`, are merged."""
        whole = dict(self.manifest)
        for name, value in (self.declared.generate() if self.declared.generate else {}).items():
            declared = whole.get(name)
            if isinstance(declared, Mapping) and isinstance(value, Mapping):
                whole[name] = {**declared, **value}
            else:
                whole[name] = value
        return whole


def desired(crew: Crew) -> list[Desired]:
    """Return the objects that a job needs, for the plugins that its operator does not implement itself.

    If two plugins declare the same object, the first takes precedence.
    """
    objects: dict[tuple[Resource, str], Desired] = {}
    for _, declared in _declared(crew):
        if resource := _resource(declared):
            target = Desired(resource, _manifest(crew, declared), declared)
            objects.setdefault((target.resource, target.name), target)
    return list(objects.values())


def unsupported(crew: Crew) -> list[str]:
    """Return messages about objects of kinds that the controller does not support."""
    known = ", ".join(dict.fromkeys(kind for _, kind in _RESOURCES))
    return [
        f"plugin {plugin} declares a {declared.manifest['kind']}; the controller supports only {known}"
        for plugin, declared in _declared(crew)
        if _resource(declared) is None
    ]


def owner_reference(crew: Crew) -> Mapping[str, Any]:
    """Return the owner reference by which an object is garbage-collected with its job.

    It sets no `controller`, because some operators count what they control, and no `blockOwnerDeletion`, which would
    need a permission on the finalizers of each kind.
    """
    return {"apiVersion": crew.api_version, "kind": crew.kind, "name": crew.name, "uid": crew.uid}


def _declared(crew: Crew) -> Iterator[tuple[str, Declared]]:
    for plugin, arguments in carried_out(crew):
        for declared in plugin.objects(crew, arguments):
            yield plugin.name, declared


def _resource(declared: Declared) -> Resource | None:
    return _RESOURCES.get((declared.manifest["apiVersion"], declared.manifest["kind"]))


def _manifest(crew: Crew, declared: Declared) -> Mapping[str, Any]:
    metadata = declared.manifest["metadata"]
    ours = dict([MANAGED_BY])
    if not label_value(crew.name):
        ours[JOB_LABEL] = crew.name
    whole = {
        **metadata,
        "namespace": crew.namespace,
        "labels": {**metadata.get("labels", {}), **ours},
        "ownerReferences": [owner_reference(crew)],
    }
    return {**declared.manifest, "metadata": whole}
