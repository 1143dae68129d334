"""The objects that the plugins of a job declare, with our label and the job as owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobgate.cluster import Resource
from jobgate.names import label_value
from jobgate.ownership import MANAGED_BY
from jobgate.plugins import SECRET, Crew, Declared, ObjectType, Plugin, carried_out
from jobgate.plugins.crew import JOB_LABEL
from jobgate.plugins.queueing import GROUPS, Queueing, QueueingArguments

#: The types of objects that the plugin `queueing` creates, by system.
_GROUPS = {system: ObjectType(version, "PodGroup", plural) for system, (version, plural) in GROUPS.items()}


def followed(offered: Iterable[Plugin[Any]], imposed: Mapping[str, Any]) -> list[Resource]:
    """Return what is followed: seen when it changes, and deleted when it is no longer declared.

    Secrets are not: the controller cannot list them.

    Args:
        offered: plugins that jobs can request.
        imposed: plugins that the installation requests for every job, with their arguments.
    """
    types = dict.fromkeys(type_ for plugin in offered for type_ in plugin.creates if type_ != SECRET)
    queueing = imposed.get(Queueing.name)
    group = _GROUPS.get(queueing.system) if isinstance(queueing, QueueingArguments) else None
    return list(map(_resource, (*types, *([group] if group else []))))


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

    def manifest_to_create(self) -> Mapping[str, Any]:
        """Return the object with new generated parts; maps, as `data`, are merged."""
        manifest = dict(self.manifest)
        for name, value in (self.declared.generate() if self.declared.generate else {}).items():
            declared = manifest.get(name)
            if isinstance(declared, Mapping) and isinstance(value, Mapping):
                manifest[name] = {**declared, **value}
            else:
                manifest[name] = value
        return manifest


def desired(crew: Crew) -> list[Desired]:
    """Return the objects that a job needs, for the plugins that its operator does not implement itself.

    If two plugins declare the same object, the first takes precedence.
    """
    objects: dict[tuple[Resource, str], Desired] = {}
    for plugin, declared in _declared(crew):
        if type_ := _type(plugin, declared):
            target = Desired(_resource(type_), _manifest(crew, declared), declared)
            objects.setdefault((target.resource, target.name), target)
    return list(objects.values())


def unsupported(crew: Crew) -> list[str]:
    """Return messages about objects of types that a plugin does not name: there are no permissions for them."""
    return [
        f"plugin {plugin.name} declares a {declared.manifest['kind']}, which is not in its `creates`"
        for plugin, declared in _declared(crew)
        if _type(plugin, declared) is None
    ]


def owner_reference(crew: Crew) -> Mapping[str, Any]:
    """Return the owner reference by which an object is garbage-collected with its job.

    It sets no `controller`, because some operators count what they control, and no `blockOwnerDeletion`, which would
    need a permission on the finalizers of each kind.
    """
    return {"apiVersion": crew.api_version, "kind": crew.kind, "name": crew.name, "uid": crew.uid}


def _declared(crew: Crew) -> Iterator[tuple[Plugin[Any], Declared]]:
    for plugin, arguments in carried_out(crew):
        for declared in plugin.objects(crew, arguments):
            yield plugin, declared


def _type(plugin: Plugin[Any], declared: Declared) -> ObjectType | None:
    types = _GROUPS.values() if isinstance(plugin, Queueing) else plugin.creates
    written = declared.manifest["apiVersion"], declared.manifest["kind"]
    return next((type_ for type_ in types if (type_.api_version, type_.kind) == written), None)


def _resource(type_: ObjectType) -> Resource:
    return Resource(type_.plural, type_.api_version.rpartition("/")[2], type_.group)


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
