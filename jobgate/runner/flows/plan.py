"""What is done for a JobFlow, and its status: pure functions of the stored JobFlow and of its Jobs.

Which Jobs are Completed is remembered in the status (`jobStatusList`): a Job may be deleted afterwards, as by its TTL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flow.models import GROUP
from jobgate.runner.subject import uid_of
from webhook.values import items, mapping, metadata_of, objects, spec_of, text

Document: TypeAlias = Mapping[str, Any]

#: Label and annotation of a created Job: the `<namespace>.<name>` of its JobFlow, and of its JobTemplate.
BY_FLOW, BY_TEMPLATE = "volcano.sh/createdByJobFlow", "volcano.sh/createdByJobTemplate"
#: The lists of a status by the phase of the Jobs, as Volcano has them.
_LISTS: Final = {
    **{phase: f"{phase.lower()}Jobs" for phase in ("Pending", "Running", "Failed", "Completed", "Terminated")},
    **dict.fromkeys(("Completing", "Terminating"), ""),
}
_FAILED: Final = {"Failed", "Terminated"}
#: Phases of a JobFlow that creates no more Jobs.
ENDED: Final = {"Succeed", "Failed", "Terminating"}


def due(flow: Document, jobs: Mapping[str, Document]) -> list[str]:
    """Return the flows whose Jobs are created now; `jobs` are the Jobs of the JobFlow, by the names of its flows."""
    if phase_of(flow) in ENDED or any(phase_of(job) in _FAILED for job in jobs.values()):
        return []
    flows, done = targets(flow), completed(flow, jobs)
    return [name for name in flows if name not in jobs and name not in done and done.issuperset(flows[name])]


def job_from(flow: Document, name: str, template: Document) -> dict[str, Any]:
    """Return the Job that a JobFlow creates from a JobTemplate, with Volcano's name, labels and annotations."""
    metadata = metadata_of(flow)
    namespace, of_flow = metadata["namespace"], metadata["name"]
    marks = {BY_FLOW: f"{namespace}.{of_flow}", BY_TEMPLATE: f"{namespace}.{name}"}
    owner = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "JobFlow", "name": of_flow, "uid": uid_of(flow)}
    return {
        "apiVersion": VCJOB.gvk.api_version,
        "kind": VCJOB.kind,
        "metadata": {
            "name": job_name(flow, name),
            "namespace": namespace,
            "labels": marks,
            "annotations": dict(marks),
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": template.get("spec"),
    }


def report(flow: Document, jobs: Mapping[str, Document], problems: Sequence[str], now: datetime) -> dict[str, Any]:
    """Return the status of a JobFlow; `problems` say why Jobs are not created."""
    recorded, stored, flows = _recorded(flow), phase_of(flow), targets(flow)
    lists: dict[str, list[str]] = {name: [] for name in (*filter(None, _LISTS.values()), "unKnowJobs")}
    entries, conditions = list[Document](), dict[str, Any]()
    for each in flows:
        name, job = job_name(flow, each), jobs.get(each)
        entry = recorded.get(name, {}) if job is None else _entry(name, job, recorded.get(name, {}), now)
        entries += [entry] if entry else []
        if job is None:
            lists["completedJobs"] += [name] if entry.get("state") == "Completed" else []
        else:
            lists.get(_LISTS.get(phase_of(job), "unKnowJobs"), []).append(name)
            kept = {key: mapping(job.get("status")).get(key) for key in ("runningDuration", "taskStatusCount")}
            conditions[name] = {"phase": phase_of(job) or None, "createTime": entry.get("startTimestamp"), **kept}
    failed, phase, message = lists["failedJobs"] + lists["terminatedJobs"], "Pending", "; ".join(problems)
    if stored in ENDED:
        phase, message = stored, text(mapping(mapping(flow.get("status")).get("state")).get("message"))
    elif flows and len(lists["completedJobs"]) == len(flows):
        phase = "Succeed"
    elif failed:
        phase, message = "Failed", f"{', '.join(failed)} failed: no more Jobs are created"
    elif lists["runningJobs"] or lists["completedJobs"] or stored == "Running":
        phase = "Running"
    return {
        **{name: names or None for name, names in lists.items()},
        "jobStatusList": entries or None,
        "conditions": conditions or None,
        "state": {"phase": phase, "message": message[:1000] or None},
    }


def _entry(name: str, job: Document, before: Document, now: datetime) -> dict[str, Any]:
    """Return the entry of a Job in the status, with the phases that it has been in."""
    phase, created, stamp = phase_of(job), metadata_of(job).get("creationTimestamp"), f"{now:%Y-%m-%dT%H:%M:%SZ}"
    same = created == before.get("startTimestamp")  # else it was deleted, and created again
    histories = [dict(each) for _, each in objects(before.get("runningHistories"))] if same else []
    if phase and (not histories or histories[-1].get("state") != phase):
        for last in histories[-1:]:
            last["endTimestamp"] = stamp
        histories.append({"startTimestamp": stamp, "state": phase})
    status = mapping(job.get("status"))
    ended = mapping(status.get("state")).get("lastTransitionTime") if phase in {"Completed", *_FAILED} else None
    entry = {
        "name": name,
        "state": phase,
        "startTimestamp": created,
        "endTimestamp": ended,
        "restartCount": status.get("retryCount"),
        "runningHistories": histories[-64:],
    }
    return {key: value for key, value in entry.items() if value}


def completed(flow: Document, jobs: Mapping[str, Document]) -> set[str]:
    """Return the flows whose Jobs are Completed, or were when they were deleted."""
    recorded = _recorded(flow)
    states = {name: recorded.get(job_name(flow, name), {}).get("state") for name in targets(flow)}
    states |= {name: phase_of(job) for name, job in jobs.items()}
    return {name for name, state in states.items() if state == "Completed"}


def phase_of(document: Document) -> str:
    """Return the phase of a Job or a JobFlow; empty if it has none yet."""
    return text(mapping(mapping(document.get("status")).get("state")).get("phase"))


def job_name(flow: Document, name: str) -> str:
    """Return the name of the Job of a flow."""
    return f"{metadata_of(flow)['name']}-{name}"


def targets(flow: Document) -> dict[str, list[str]]:
    """Return the names that each flow waits for, by its name."""
    flows = [(text(each.get("name")), each.get("dependsOn")) for _, each in objects(spec_of(flow).get("flows"))]
    return {name: [*map(text, items(mapping(waits).get("targets")))] for name, waits in flows}


def _recorded(flow: Document) -> dict[str, Document]:
    entries = objects(mapping(flow.get("status")).get("jobStatusList"))
    return {text(entry.get("name")): entry for _, entry in entries}
