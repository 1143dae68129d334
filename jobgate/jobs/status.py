"""The parts of a status that all kinds with a runner share: the runner's state, and conditions."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, TypeAlias

from crdgen import Atomic, Doc, Int32, Int64, Model, Time
from jobgate.jobs.job import Job
from jobgate.jobs.progress import Progress
from webhook.values import mapping

#: The status field that holds the runner's state. Its presence means that the runner has taken the job over. Users who
#: may edit jobs have no right to write their status.
STATE: Final = "jobgate"

_Count: TypeAlias = Annotated[int, Int32(minimum=0)]


class RunnerState(Model):
    """What the runner cannot see in the objects of a job. `jobgate/runner/state.py` reads and writes it."""

    attempt: Annotated[_Count | None, Doc("Number of times the whole job was started again.")] = None
    tasks: Annotated[dict[str, _Count] | None, Doc("Number of restarts of single tasks in this attempt, by name.")] = (
        None
    )
    restarts: Annotated[_Count | None, Doc("Restarts before the current attempts, of the job, tasks and pods.")] = None
    held: Annotated[str | None, Doc("Action that keeps all pods from running, such as AbortJob.")] = None
    admitted: Annotated[bool | None, Doc("Whether pods may be created: the job has left its queue, if it has one.")] = (
        None
    )
    queue: Annotated[str | None, Doc("Queue that has released the job and counts it.")] = None
    released: Annotated[
        dict[str, str] | None, Doc("Resources that the queue counts the job with: the most that its pods may request.")
    ] = None
    arrival: Annotated[
        int | None, Int64(minimum=0), Doc("Resource version by which jobs that were created in one second are ordered.")
    ] = None
    deleted: Annotated[
        list[str] | None, Atomic, Doc("UIDs of pods and Commands that were answered or are deleted.")
    ] = None
    asked: Annotated[str | None, Doc("Action that a user asked for, until it is carried out.")] = None
    phase: Annotated[str | None, Doc("Phase that the status reports, by one name for all kinds.")] = None
    begun: Annotated[
        list[str] | None,
        Atomic,
        Doc("Tasks of which a container has started in this attempt: they keep their template."),
    ] = None
    started: Annotated[
        dict[str, _Count] | None, Doc("Number of pods in this attempt that have all been ready, by task.")
    ] = None
    sizes: Annotated[dict[str, _Count] | None, Doc("Number of pods that an elastic job was given, by task.")] = None
    resized: Annotated[str | None, Doc("Time at which the sizes were given.")] = None
    why: Annotated[str | None, Doc("Why the sizes were changed last.")] = None
    wishes: Annotated[dict[str, _Count] | None, Doc("Number of pods that pods of the job asked for, by task.")] = None
    notify: Annotated[bool | None, Doc("Whether the end of the job is still to be reported to an address.")] = None


class RunStatus(Model):
    """The part of a status that every kind with a runner has: a base class of its status."""

    jobgate: Annotated[
        RunnerState | None, Doc("State of jobgate's runner. Present if and only if jobgate runs the job.")
    ] = None


def is_run(document: Mapping[str, Any]) -> bool:
    """Return whether the runner has taken a job over."""
    return isinstance(mapping(document.get("status")).get(STATE), Mapping)


def begun_tasks(document: Mapping[str, Any]) -> frozenset[str]:
    """Return the tasks of a job that have started in its current attempt, by their names in the names of pods."""
    begun = mapping(mapping(document.get("status")).get(STATE)).get("begun")
    return frozenset(map(str, begun if isinstance(begun, list) else ()))


def taken_over(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a job that the runner has taken over."""
    return {**document, "status": {**mapping(document.get("status")), STATE: {"attempt": 0}}}


class PhaseCondition(Model):
    """One condition of a job: whether it is, or was, in a phase."""

    type: Annotated[str, Doc("Phase that the condition describes.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str | None, Doc("Machine-readable reason for the last transition.")] = None
    message: Annotated[str | None, Doc("Human-readable message about the last transition.")] = None
    observed_generation: Annotated[int | None, Int64, Doc("Generation of the job that the condition was set for.")] = (
        None
    )
    last_update_time: Annotated[Time | None, Doc("Time of the last update of the condition.")] = None
    last_transition_time: Annotated[Time | None, Doc("Time of the last change of the status.")] = None


def set_condition(
    conditions: Iterable[Mapping[str, Any]], new: Mapping[str, Any], progress: Progress, *, last: bool = False
) -> list[dict[str, Any]]:
    """Return conditions with one of them set. As the API conventions want, its times change only with its status.

    Args:
        conditions: the stored conditions.
        new: the condition to set: type, status, reason, message.
        progress: gives the time and the generation.
        last: whether the condition moves to the end if its status changes.
    """
    result = [dict(condition) for condition in conditions]
    stored = next((condition for condition in result if condition.get("type") == new["type"]), None)
    condition = {**(stored or {}), **new}
    if progress.generation:
        condition["observedGeneration"] = progress.generation
    changed = stored is None or stored.get("status") != new["status"]
    if changed:
        condition |= {"lastTransitionTime": progress.timestamp, "lastUpdateTime": progress.timestamp}
    if stored is None or (last and changed):
        return [*(other for other in result if other.get("type") != new["type"]), condition]
    return [condition if other.get("type") == new["type"] else other for other in result]


def conditions_of(job: Job[Any]) -> list[dict[str, Any]]:
    """Return the conditions in a job's stored status."""
    stored = mapping(job.document.get("status")).get("conditions")
    return [dict(condition) for condition in stored if isinstance(condition, dict)] if isinstance(stored, list) else []
