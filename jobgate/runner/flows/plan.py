"""What is done for a JobFlow, and its status: pure functions of the stored JobFlow and of its Jobs.

Which Jobs are Completed is remembered in the status (`jobStatusList`): a Job may be deleted afterwards, as by its TTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from crdgen.durations import nanoseconds
from jobgate.kinds.vcjob.flow.models import FlowPhase, RetainPolicy
from jobgate.kinds.vcjob.flow.names import BY_FLOW, BY_TEMPLATE, GROUP, JOB, job_name, label_of
from jobgate.kinds.vcjob.models import JobPhase
from jobgate.limits import ENTRIES_LIMIT
from jobgate.runner.subject import later, moment, uid_of
from webhook.values import items, mapping, metadata_of, objects, spec_of, text

#: A stored object, as JSON.
Document: TypeAlias = Mapping[str, Any]

#: The lists of a status, by the phase of the Jobs; Volcano lists those of other phases in `unKnowJobs`, or not at all.
_LISTS: Final = {
    JobPhase.PENDING: "pendingJobs",
    JobPhase.RUNNING: "runningJobs",
    JobPhase.FAILED: "failedJobs",
    JobPhase.COMPLETED: "completedJobs",
    JobPhase.TERMINATED: "terminatedJobs",
    JobPhase.COMPLETING: "",
    JobPhase.TERMINATING: "",
}
_OTHERS: Final = "unKnowJobs"
_FAILED: Final = {JobPhase.FAILED, JobPhase.TERMINATED}
_ENDED: Final = {JobPhase.COMPLETED, *_FAILED}
#: Limits of a status: Jobs that are remembered, phases of a Job, characters of the message.
_JOBS, _PHASES, _TEXT = 2 * ENTRIES_LIMIT, 64, 1000


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """What is done for a JobFlow: the flows whose Jobs are created, and the names of Jobs that are deleted."""

    create: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()


def plan(flow: Document, jobs: Mapping[str, Document]) -> FlowPlan:
    """Return what is done for a JobFlow; `jobs` are its own Jobs by name. A JobFlow that has ended starts nothing."""
    phase = phase_of(flow)
    if phase == FlowPhase.SUCCEED:
        keeps = spec_of(flow).get("jobRetainPolicy") != RetainPolicy.DELETE
        return FlowPlan() if keeps else FlowPlan(delete=(*jobs,))
    failed = any(phase_of(job) in _FAILED for job in jobs.values())
    if failed or phase in (FlowPhase.FAILED, FlowPhase.TERMINATING):
        return FlowPlan()
    flows = _flows(flow)
    names = {name: _job_name(flow, name) for name in flows}
    completed = _completed(flow, jobs)
    due = (name for name in flows if names[name] not in jobs and names[name] not in completed)
    return FlowPlan(create=tuple(name for name in due if completed.issuperset(map(names.get, flows[name]))))


def job_names(flow: Document) -> list[str]:
    """Return the names of the Jobs of a JobFlow: those of its flows, and others that were created before a change."""
    names = dict.fromkeys(_job_name(flow, name) for name in _flows(flow))
    return [*(names | dict.fromkeys(_recorded(flow)))]


def job_from(flow: Document, name: str, template: Document) -> dict[str, Any]:
    """Return the Job that a JobFlow creates from a JobTemplate, with Volcano's name, labels and annotations."""
    metadata = metadata_of(flow)
    namespace, of_flow = metadata["namespace"], metadata["name"]
    marks = {BY_FLOW: label_of(namespace, of_flow), BY_TEMPLATE: label_of(namespace, name)}
    owner = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "JobFlow",
        "name": of_flow,
        "uid": uid_of(flow),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": JOB.gvk.api_version,
        "kind": JOB.kind,
        "metadata": {
            "name": job_name(of_flow, name),
            "namespace": namespace,
            "labels": marks,
            "annotations": dict(marks),
            "ownerReferences": [owner],
        },
        "spec": template.get("spec"),
    }


def report(flow: Document, jobs: Mapping[str, Document], problems: Sequence[str], now: datetime) -> dict[str, Any]:
    """Return the status of a JobFlow; `problems` say why Jobs are not created."""
    recorded, entries, conditions = _recorded(flow), list[dict[str, Any]](), dict[str, Any]()
    lists: dict[str, list[str]] = {name: [] for name in (*filter(None, _LISTS.values()), _OTHERS)}
    for name in job_names(flow):
        entry, job = recorded.get(name), jobs.get(name)
        if job is None:
            entries += [dict(entry)] if entry else []
            if entry and entry.get("state") == JobPhase.COMPLETED:
                lists[_LISTS[JobPhase.COMPLETED]].append(name)
            continue
        status, phase = mapping(job.get("status")), phase_of(job)
        if place := _LISTS.get(phase, _OTHERS):  # type: ignore[call-overload]  # any text
            lists[place].append(name)
        entries.append(_entry(name, job, mapping(entry), now))
        conditions[name] = {
            "phase": phase or None,
            "createTime": metadata_of(job).get("creationTimestamp"),
            "runningDuration": status.get("runningDuration"),
            "taskStatusCount": status.get("taskStatusCount"),
        }
    failed = [*lists["failedJobs"], *lists["terminatedJobs"]]
    phase = _phase(flow, lists)
    message = "; ".join(problems)
    if phase == FlowPhase.FAILED:
        stored = text(mapping(mapping(flow.get("status")).get("state")).get("message"))
        message = f"{', '.join(failed)} failed: no more Jobs are created" if failed else stored
    return {
        **{name: names or None for name, names in lists.items()},
        "jobStatusList": entries[:_JOBS] or None,
        "conditions": conditions or None,
        "state": {"phase": str(phase), "message": message[:_TEXT] or None},
    }


def phase_of(document: Document) -> str:
    """Return the phase of a Job or a JobFlow; empty if it has none yet."""
    return text(mapping(mapping(document.get("status")).get("state")).get("phase"))


def _phase(flow: Document, lists: Mapping[str, Sequence[str]]) -> str:
    """Return the phase of a JobFlow: Volcano's, which looks at the Jobs of all flows."""
    stored, names = phase_of(flow), {_job_name(flow, name) for name in _flows(flow)}
    if stored in (FlowPhase.SUCCEED, FlowPhase.FAILED, FlowPhase.TERMINATING):
        return stored
    if names and names <= {*lists["completedJobs"]}:
        return FlowPhase.SUCCEED
    if lists["failedJobs"] or lists["terminatedJobs"]:
        return FlowPhase.FAILED
    begun = lists["runningJobs"] or lists["completedJobs"] or stored == FlowPhase.RUNNING
    return FlowPhase.RUNNING if begun else FlowPhase.PENDING


def _entry(name: str, job: Document, before: Document, now: datetime) -> dict[str, Any]:
    """Return the entry of a Job in the status, with the phases that it has been in."""
    status, phase, created = mapping(job.get("status")), phase_of(job), metadata_of(job).get("creationTimestamp")
    histories, stamp = [dict(each) for _, each in objects(before.get("runningHistories"))], _stamp(now)
    if created != before.get("startTimestamp"):
        histories = []  # of a Job that was deleted
    if phase and (not histories or histories[-1].get("state") != phase):
        for last in histories[-1:]:
            last["endTimestamp"] = stamp
        histories.append({"startTimestamp": stamp, "state": phase})
    entry = {
        "name": name,
        "state": phase,
        "startTimestamp": created,
        "endTimestamp": _end(job) if phase in _ENDED else None,
        "restartCount": status.get("retryCount"),
        "runningHistories": histories[-_PHASES:],
    }
    return {key: value for key, value in entry.items() if value}


def _end(job: Document) -> str | None:
    """Return when a Job ended."""
    created = moment(metadata_of(job).get("creationTimestamp"))
    ran = nanoseconds(text(mapping(job.get("status")).get("runningDuration")))
    return None if created is None or ran is None else _stamp(later(created, ran / 1e9))


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _completed(flow: Document, jobs: Mapping[str, Document]) -> set[str]:
    """Return the names of the Jobs that are Completed, or were when they were deleted."""
    recorded = {name for name, entry in _recorded(flow).items() if entry.get("state") == JobPhase.COMPLETED}
    return recorded - jobs.keys() | {name for name, job in jobs.items() if phase_of(job) == JobPhase.COMPLETED}


def _recorded(flow: Document) -> dict[str, Document]:
    entries = objects(mapping(flow.get("status")).get("jobStatusList"))
    return {text(entry.get("name")): entry for _, entry in entries}


def _job_name(flow: Document, name: str) -> str:
    return job_name(metadata_of(flow)["name"], name)


def _flows(flow: Document) -> dict[str, list[str]]:
    """Return the targets of each flow, by its name."""
    return dict(_targets(flow))


def _targets(flow: Document) -> Iterator[tuple[str, list[str]]]:
    for _, each in objects(spec_of(flow).get("flows")):
        yield text(each.get("name")), [*map(text, items(mapping(each.get("dependsOn")).get("targets")))]
