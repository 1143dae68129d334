"""Converts DIJobs of older operators to tasks: those of v1.0 with one template, and those of v0.x with a coordinator.

The meaning of the old fields comes from DI-orchestrator's releases. If a field has several possible conversions, a
decision tells the user which one was chosen, and the alternative.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from jobgate.kinds.dijob.models import RESOURCE
from webhook import ConvertedObject
from webhook.text import shown
from webhook.values import mapping

#: The name of the only task of a job without roles, as in the operator's own sample.
SERIAL = "serial"

_LATEST = f"{RESOURCE.group}/v2alpha1"
_FIRST = f"{RESOURCE.group}/v1alpha1"


def convert(document: Mapping[str, Any]) -> ConvertedObject | None:
    """Convert a DIJob of an older operator; return None if it needs no conversion."""
    if document.get("kind") != RESOURCE.names.kind:
        return None
    spec = mapping(document.get("spec"))
    if document.get("apiVersion") == _FIRST:
        if "tasks" in spec:
            return ConvertedObject({}, (), f"spec.tasks is a field of v2alpha1: set apiVersion to {_LATEST}")
        return _converted(document, *_from_roles(spec))
    # v1alpha2 was never released, and has the same fields as v1.0.
    known = {_LATEST, f"{RESOURCE.group}/v1alpha2"}
    if document.get("apiVersion") in known and "tasks" not in spec and ("template" in spec or "engineFields" in spec):
        return _converted(document, *_from_one_template(spec))
    return None


#: Metadata that the API server writes into stored objects.
_STORED = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _converted(document: Mapping[str, Any], spec: dict[str, Any], decisions: list[str]) -> ConvertedObject:
    metadata = _metadata(document.get("metadata"), decisions)
    if "status" in document:
        decisions.append("status: removed; the operator writes it again.")
    known = {"apiVersion", "kind", "metadata", "spec", "status"}
    decisions.extend(f"{key}: removed; a job has no such field." for key in document if key not in known)
    return ConvertedObject(
        {"apiVersion": _LATEST, "kind": RESOURCE.names.kind, "metadata": metadata, "spec": spec}, tuple(decisions)
    )


def _metadata(written: Any, decisions: list[str]) -> Any:
    """Return the metadata for a new job. Invalid metadata is left for the review to reject."""
    if not isinstance(written, Mapping):
        return {} if written is None else written
    metadata = {key: value for key, value in written.items() if key not in _STORED}
    removed = [key for key in written if key in _STORED]
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping) and _LAST_APPLIED in annotations:
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
        removed.append(f"annotations[{_LAST_APPLIED}]")
    if removed:
        decisions.append(f"metadata: removed {', '.join(removed)}, which belong to the stored job.")
    return metadata


#: The fields of v1.0 that still exist, and those that connected the processes, with the flags that do so now.
_KEPT = ("priority", "cleanPodPolicy", "preemptible")
_ENGINE = {"topology": "--topology", "parallelWorkers": "--parallel-workers"}
#: All fields of v1.0; v1alpha2 first had the fields of `engineFields` in the spec itself.
_OF_ONE_TEMPLATE = {"minReplicas", "maxReplicas", "template", "engineFields", "group", *_KEPT, *_ENGINE}


def _from_one_template(spec: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Convert a job of v1.0: `minReplicas` pods from one template."""
    decisions = []
    new: dict[str, Any] = {key: spec[key] for key in _KEPT if key in spec}
    if new.get("preemptible") is True:
        new["preemptible"] = False
        decisions.append("preemptible: set to false, because a preemptible job crashes the current operator.")
    new["backoffLimit"] = 0
    decisions.append("backoffLimit: set to 0, because v1.0 failed a job at its first failed pod. The default is now 3.")
    replicas = spec.get("minReplicas")
    if replicas is None or (replicas == 0 and not isinstance(replicas, bool)):
        replicas = 1
        decisions.append("tasks[0].replicas: set to 1, the minimum. v1.0 created no pods until the job was scaled up.")
    else:
        decisions.append(f"tasks[0].replicas: set to {shown(replicas)}, because v1.0 started minReplicas pods.")
    decisions.append(
        f"tasks[0].name: set to {SERIAL}, because a task without a role needs a name. Pods are now named "
        "<job>-<task>-<index>, and the Service di-<job>."
    )
    new["tasks"] = [{"name": SERIAL, "type": "none", "replicas": replicas, "template": _template(spec)}]
    if "maxReplicas" in spec:
        decisions.append(f"maxReplicas: removed {shown(spec['maxReplicas'])}; no operator ever read it.")
    decisions.extend(_engine(spec))
    decisions.extend(_group(spec))
    decisions.extend(_left_out(spec, _OF_ONE_TEMPLATE, "v1.0"))
    return new, decisions


def _engine(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the decisions about the fields that connected the processes."""
    engine = spec.get("engineFields")
    fields = mapping(engine)
    if engine is not None and not isinstance(engine, Mapping):
        yield f"engineFields: removed {shown(engine)}; it is not an object."
    for key, flag in _ENGINE.items():
        value = spec.get(key) if fields.get(key) is None else fields[key]
        if value is not None:
            yield (
                f"engineFields.{key}: removed {shown(value)}; pass it to ditask with {flag}, in addition to "
                "--platform k8s. The variables DI_*_ARG of v1.0 are now empty."
            )
    yield from _left_out(fields, _ENGINE, "v1.0", "engineFields.")


#: The roles of v1alpha1 in the order of ranks, with their current task types.
_ROLES = {"coordinator": "none", "learner": "learner", "collector": "collector"}
_OF_ROLES = frozenset({"priorityClassName", "cleanPodPolicy", "volumes", "group", *_ROLES})


def _from_roles(spec: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Convert a job of v0.x: a coordinator, which requested collectors and learners at run time."""
    decisions = [
        "The coordinator of v0.x requested collectors and learners from a server; now each task sets its replicas."
    ]
    new: dict[str, Any] = {}
    priority = spec.get("priorityClassName") or "default"
    if not isinstance(priority, str):
        new["priority"] = priority  # the review rejects it
    else:
        new["priority"] = "high" if priority == "high" else "normal"
        if priority not in {"default", "high"}:
            decisions.append(
                f"priority: set to normal, because priorityClassName {shown(priority)} is neither default nor "
                "high. Set the priority class of the pods in their templates."
            )
    policy = spec.get("cleanPodPolicy") or "Running"
    new["cleanPodPolicy"] = "All" if policy == "ALL" else policy
    if policy == "ALL":
        decisions.append("cleanPodPolicy: set to All, which v0.1 wrote as ALL.")
    if spec.get("volumes") is not None:
        new["volumes"] = spec["volumes"]
    tasks: list[dict[str, Any]] = []
    for role, kind in _ROLES.items():
        part = spec.get(role)
        if part is None:
            continue
        place = len(tasks)
        tasks.append({"name": role, "type": kind, "replicas": 1, "template": _template(part)})
        if kind != "none":
            decisions.append(f"tasks[{place}].replicas: set to 1 {role}; increase it as needed.")
        if isinstance(part, Mapping):
            decisions.extend(_left_out(part, {"template"}, "v0.x", f"{role}."))
    new["tasks"] = tasks
    decisions.append("If there is an AggregatorConfig, add a task named aggregator of type none by hand.")
    decisions.extend(_group(spec))
    decisions.extend(_left_out(spec, _OF_ROLES, "v0.x"))
    return new, decisions


def _template(part: Any) -> Any:
    """Return the template of a part; an invalid part is left for the review to reject."""
    if not isinstance(part, Mapping):
        return part
    template = part.get("template")
    return {} if template is None else template


def _group(spec: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("group"):
        yield f"group: removed {shown(spec['group'])}; it was a pod label, which no current operator reads."


def _left_out(part: Mapping[str, Any], known: Container[str], version: str, prefix: str = "") -> Iterator[str]:
    for key in part:
        if key not in known:
            yield f"{prefix}{key}: removed; operator {version} had no such field."
