"""DIJobs of older operators in the shape with tasks: of v1.0, with one template, and of v0.x, with a coordinator.

What the shapes meant is read from DI-orchestrator's releases. Where there is no one answer, a decision says what was
chosen, and what the user may want instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.kinds.dijob.models import RESOURCE
from webhook import Conversion

#: What upstream's own sample calls the one task of a job without roles.
SERIAL = "serial"

_LATEST = f"{RESOURCE.group}/v2alpha1"
_FIRST = f"{RESOURCE.group}/v1alpha1"


def convert(document: Mapping[str, Any]) -> Conversion | None:
    """Return a DIJob of an older shape in the new one, or None where it is none."""
    if document.get("kind") != RESOURCE.names.kind:
        return None
    spec = document.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    if document.get("apiVersion") == _FIRST:
        return _converted(document, *_from_roles(spec))
    # v1alpha2 was never released, and is the shape of v1.0 in all but the version.
    known = {_LATEST, f"{RESOURCE.group}/v1alpha2"}
    if document.get("apiVersion") in known and "tasks" not in spec and ("template" in spec or "engineFields" in spec):
        return _converted(document, *_from_one_template(spec))
    return None


def _converted(document: Mapping[str, Any], spec: dict[str, Any], decisions: list[str]) -> Conversion:
    metadata = document.get("metadata") or {}
    job = {"apiVersion": _LATEST, "kind": RESOURCE.names.kind, "metadata": metadata, "spec": spec}
    if "status" in document:
        decisions.append("status: left out; the operator writes it anew.")
    return Conversion(job, tuple(decisions))


def _from_one_template(spec: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Convert the shape of v1.0: so many pods as `minReplicas` said, of one template."""
    decisions = []
    new: dict[str, Any] = {key: spec[key] for key in ("priority", "cleanPodPolicy", "preemptible") if key in spec}
    if new.get("preemptible"):
        decisions.append("preemptible: left true, though the operator of today dies of it: set it to false.")
    new["backoffLimit"] = 0
    decisions.append("backoffLimit: 0, because v1.0 failed a job at its first failed pod; today's default is 3.")
    replicas = spec.get("minReplicas")
    if isinstance(replicas, int) and replicas >= 1:
        decisions.append(f"tasks[0].replicas: {replicas}, because v1.0 started minReplicas pods.")
    else:
        decisions.append(
            "tasks[0].replicas: 1, the fewest that there can be; v1.0 made no pod until the job was scaled up."
        )
        replicas = 1
    decisions.append(
        f"tasks[0].name: {SERIAL}, because a task without a role needs a name; pods are now called "
        "<job>-<task>-<index>, and the Service di-<job>."
    )
    new["tasks"] = [{"name": SERIAL, "type": "none", "replicas": replicas, "template": spec.get("template") or {}}]
    if "maxReplicas" in spec:
        decisions.append(f"maxReplicas: {spec['maxReplicas']} was left out; no operator ever read it.")
    engine = spec.get("engineFields")
    direct = {key: spec.get(key) for key in ("topology", "parallelWorkers")}  # where v1alpha2 had them at first
    engine = direct | dict(engine if isinstance(engine, Mapping) else {})
    for key, flag in (("topology", "--topology"), ("parallelWorkers", "--parallel-workers")):
        if engine.get(key) is not None:
            decisions.append(
                f"engineFields.{key}: {engine[key]} was left out; give ditask the argument {flag} {engine[key]} "
                "beside --platform k8s. The variables DI_*_ARG of v1.0 are empty today."
            )
    decisions.extend(_group(spec))
    return new, decisions


#: The roles of v1alpha1, in the order of ranks, and the type of task that each is today.
_ROLES = (("coordinator", "none"), ("learner", "learner"), ("collector", "collector"))


def _from_roles(spec: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Convert the shape of v0.x: a coordinator that asked for collectors and learners while it ran."""
    decisions = ["The coordinator of v0.x asked a server for collectors and learners; today each task says how many."]
    new: dict[str, Any] = {}
    priority = spec.get("priorityClassName") or "default"
    new["priority"] = "high" if priority == "high" else "normal"
    if priority not in {"default", "high"}:
        decisions.append(
            f"priority: normal, because priorityClassName {priority} was neither default nor high; a priority class of "
            "pods stands in their templates."
        )
    policy = spec.get("cleanPodPolicy") or "Running"
    new["cleanPodPolicy"] = "All" if policy == "ALL" else policy
    if policy == "ALL":
        decisions.append("cleanPodPolicy: All, which v0.1 wrote ALL.")
    if spec.get("volumes"):
        new["volumes"] = spec["volumes"]
    tasks = []
    for role, kind in _ROLES:
        part = spec.get(role)
        if isinstance(part, Mapping):
            tasks.append({"name": role, "type": kind, "replicas": 1, "template": part.get("template") or {}})
            if kind != "none":
                decisions.append(f"tasks[{len(tasks) - 1}].replicas: 1 {role}; set as many as the job needs.")
    new["tasks"] = tasks
    decisions.append("An AggregatorConfig, where there is one, becomes a task aggregator of type none by hand.")
    decisions.extend(_group(spec))
    return new, decisions


def _group(spec: Mapping[str, Any]) -> Iterator[str]:
    if spec.get("group"):
        yield f"group: {spec['group']} was left out; it was a label of the pods, and no operator reads it today."
