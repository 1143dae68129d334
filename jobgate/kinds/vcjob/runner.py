"""How the runner runs a Volcano Job: as Volcano does, but with one batch Job per task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from crdgen.durations import format_duration
from jobgate.jobs.gangs import gang_minimum, sum_of_minima
from jobgate.jobs.job import Job
from jobgate.jobs.progress import Progress, RunPhase, StartCondition, TaskProgress
from jobgate.jobs.runner import NO_RESTART, Retry, Runner
from jobgate.jobs.status import conditions_of
from jobgate.jobs.task import Task
from jobgate.kinds.vcjob import frameworks
from jobgate.kinds.vcjob.claims import claims_of, mounted, with_claim_names
from jobgate.kinds.vcjob.models import JobPhase, JobSpec
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE, SCHEDULER, VOLCANO
from jobgate.plugins import Crew, Member, Variable
from webhook.values import mapping, metadata_of, spec_of, text

#: The kind's names of phases; for the others see `_phase`.
_PHASES: Final = {
    RunPhase.RUNNING: JobPhase.RUNNING,
    RunPhase.SUCCEEDED: JobPhase.COMPLETED,
    RunPhase.FAILED: JobPhase.FAILED,
    RunPhase.TERMINATED: JobPhase.TERMINATED,
}
#: In these phases Volcano runs no pods of a job until it is resumed.
_ABORTED: Final = frozenset({"Aborting", "Aborted"})
#: How a job has ended, by its phase. In the last two, Volcano was deleting pods when the runner took over.
_ENDS: Final = {
    **{str(name): phase for phase, name in _PHASES.items() if phase.ended},
    str(JobPhase.COMPLETING): RunPhase.SUCCEEDED,
    str(JobPhase.TERMINATING): RunPhase.TERMINATED,
}
#: Limit of the counters in a status.
_MOST: Final = 2**31 - 1
#: The phases of pods that have not ended.
_LIVE: Final = frozenset({"Pending", "Running"})
#: The phases of pods that run or have run, except succeeded ones.
_BEGUN: Final = frozenset({"Running", "Failed", "Unknown"})
#: Plugins whose programs know the number of their pods from the start.
_RINGS: Final = frozenset({"hcclrank", "mpi", "pytorch", "tensorflow"})
#: Labels and annotations that are copied from a job to its pods.
COPIED: Final = ("volcano.sh/preemptable", "volcano.sh/cooldown-time")
COPIED_ANNOTATIONS: Final = (
    *COPIED,
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)


class VolcanoJobRunner(Runner[JobSpec]):
    """Runs Volcano Jobs."""

    rivals = ("volcano-controllers", "vc-controller-manager")
    # Jobs are queued only if the runner has queues.
    supports = VOLCANO.supports - {"queue"}
    takes_commands = True
    creates_claims = True
    default_queue = DEFAULT_QUEUE
    counts_actions_only = True
    policies_before_success = True

    def adoption_changes(self, job: Job[JobSpec]) -> Mapping[str, Any]:
        """Write the names of new claims into the volumes, as Volcano does."""
        return with_claim_names(job)

    def hold_reason(self, status: Mapping[str, Any]) -> str:
        """Keep a job aborted that is `Aborted` under Volcano."""
        state = mapping(status.get("state"))
        return text(state.get("message")) or "aborted under Volcano" if state.get("phase") in _ABORTED else ""

    def variables(self, member: Member) -> Iterator[Variable]:
        """Yield the variables of the plugins for frameworks."""
        return frameworks.variables(member)

    def task_metadata(self, job: Job[JobSpec], task: Task) -> Mapping[str, Mapping[str, str]]:
        """Return the labels and annotations that Volcano sets on all pods of a task."""
        of_job = metadata_of(job.document)
        name, namespace = text(of_job.get("name")), text(of_job.get("namespace"))
        shared = {
            "volcano.sh/task-spec": task.name or "",
            "volcano.sh/job-name": name,
            "volcano.sh/queue-name": job.spec.queue,
        }
        labels, annotations = mapping(of_job.get("labels")), mapping(of_job.get("annotations"))
        policy, rank = getattr(task.part, "topology_policy", None), frameworks.own_rank(job, task)
        has_rank = frameworks.RANK_INDEX in mapping(metadata_of(task.template).get("annotations"))
        return {
            "labels": {
                **shared,
                "volcano.sh/job-namespace": namespace,
                **{key: labels[key] for key in COPIED if key in labels},
            },
            "annotations": {
                **shared,
                "volcano.sh/template-uid": f"{name}-{task.name}",
                **({"volcano.sh/numa-topology-policy": str(policy)} if policy else {}),
                **({frameworks.RANK_INDEX: rank} if rank and not has_rank else {}),
                **{key: annotations[key] for key in COPIED_ANNOTATIONS if key in annotations},
            },
        }

    def pod_metadata(self, member: Member) -> Mapping[str, Mapping[str, str]]:
        """Return the labels and annotations for the index, the partition and the rank of a pod."""
        index = {"volcano.sh/task-index": str(member.index)}
        size, rank = member.crew.facts.get(f"partition.{member.part.name}"), frameworks.rank_index(member)
        partition = {"volcano.sh/partition-id": str(member.index // int(size))} if size else {}
        return {
            "labels": {**index, **partition},
            "annotations": {**index, **({frameworks.RANK_INDEX: rank} if rank is not None else {})},
        }

    def pod_spec(self, job: Job[JobSpec], task: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
        """Mount the job's volumes in every container, add what plugins do, and drop Volcano's scheduler.

        As in `scheduler`, Volcano's scheduler is used only if it forms the gangs.
        """
        if spec.get("schedulerName") == SCHEDULER:
            spec = {key: value for key, value in spec.items() if key != "schedulerName"}
        return frameworks.pod(crew, task.name or "", mounted(job, spec))

    def scheduler(self, job: Job[JobSpec]) -> str:
        """Return the job's scheduler, but not Volcano's, the kind's default: it is used only if it forms the gangs."""
        name = super().scheduler(job)
        return "" if name == SCHEDULER else name

    def services(self, job: Job[JobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
        """Yield the Service of Ray's head."""
        return frameworks.services(crew)

    def claims(self, job: Job[JobSpec]) -> Mapping[str, Mapping[str, Any] | None]:
        """Return the claims of the job's volumes."""
        return claims_of(job)

    elastic_needs = (
        "give a task a minAvailable below its replicas, and no partitionPolicy; the plugins hcclrank, mpi, pytorch and "
        "tensorflow need a fixed number of pods"
    )

    def elastic(self, job: Job[JobSpec]) -> Mapping[str, tuple[int, int]]:
        """Return the bounds of tasks that can do with fewer pods than they have: `minAvailable` and `replicas`."""
        if _RINGS & (job.spec.plugins or {}).keys():
            return {}
        return {
            task.name or "": (task.min_available, task.replicas)
            for task in job.all_tasks
            if task.min_available is not None and not task.get("partition_policy")
        }

    def start_condition(self, job: Job[JobSpec], task: Task) -> StartCondition:
        """Return the tasks that this one waits for. With the plugin ray, they wait for its head, too."""
        return replace(super().start_condition(job, task), gate=frameworks.missing_task(job))

    def retry(self, job: Job[JobSpec], task: Task) -> Retry:
        """Replace a failed pod only if a policy asks for it. A batch Job has no `Always`: it becomes `OnFailure`."""
        if spec_of(task.template).get("restartPolicy") == "Never":
            return Retry("Never", only_by_policy=True)
        return Retry("OnFailure")

    def restart_limit(self, job: Job[JobSpec]) -> int:
        """Return `maxRetry` - 1: the restart with the number `maxRetry` fails the job."""
        return max(int(job.spec.max_retry) - 1, 0)

    def is_running(self, job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether as many pods as the job needs run, or have run."""
        begun = sum(count for task in tasks.values() for phase, count in task.phases.items() if phase in _BEGUN)
        return begun + _succeeded(tasks) >= _minimum(job, tasks)

    def has_succeeded(self, job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether enough pods have succeeded: `minSuccess` at any time, else when all have ended."""
        minimum = job.spec.min_success
        if minimum is not None and _succeeded(tasks) >= minimum:
            return True
        return _all_ended(tasks) and not self.failure(job, tasks)

    def failure(self, job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> str:
        """Return which minimum of succeeded pods was missed, when all pods have ended."""
        if not _all_ended(tasks):
            return ""
        total, minimum, success = _succeeded(tasks), _minimum(job, tasks), job.spec.min_success
        if gang_minimum(job) >= sum_of_minima(job):
            for task in tasks.values():
                if task.succeeded < task.minimum:
                    return f"task {task.name} needs {task.minimum} pods that succeed, and has {task.succeeded}"
        if success is not None and total < success:
            return f"minSuccess needs {success} pods that succeed, and there are {total}"
        return f"the job needs {minimum} pods that succeed, and has {total}" if total < minimum else ""

    def counts(self, job: Job[JobSpec], progress: Progress) -> dict[str, Any]:
        """Return the number of pods by phase, of the job and of its tasks."""
        tasks = progress.tasks.values()
        return {
            "taskStatusCount": {task.name: {"phase": dict(task.phases)} for task in tasks if task.phases},
            **{
                phase.lower(): sum(task.phases.get(phase, 0) for task in tasks)
                for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown")
            },
            "terminating": progress.terminating,
        }

    def status(self, job: Job[JobSpec], progress: Progress) -> dict[str, Any]:
        """Return the status. If the job returns to an earlier phase, the condition of that phase becomes the last."""
        stored = mapping(job.document.get("status"))
        state = mapping(stored.get("state"))
        phase = self._phase(job, progress, text(state.get("phase")))
        same = phase == state.get("phase")
        conditions = conditions_of(job)
        passed = [JobPhase.PENDING] if RunPhase.PENDING in progress.entered else []
        for entered in () if same else dict.fromkeys((*passed, phase)):
            condition = {"status": str(entered), "lastTransitionTime": progress.timestamp}
            conditions = [*(other for other in conditions if other.get("status") != entered), condition]
        ended = progress.phase.ended
        no_restart = progress.reason == NO_RESTART
        return {
            "state": {
                "phase": phase,
                "reason": progress.reason or None,
                "message": progress.full_message or None,
                "lastTransitionTime": state.get("lastTransitionTime") if same else progress.timestamp,
            },
            "minAvailable": gang_minimum(job),
            # Pods are deleted at each new attempt, when the job is aborted, and at its end.
            "version": min(progress.attempt + (ended or progress.phase is RunPhase.ABORTED), _MOST),
            "retryCount": min(progress.restarts + no_restart, _MOST),
            "runningDuration": stored.get("runningDuration") if same else _duration(job, progress),
            "controlledResources": _controlled(job),
            "conditions": conditions,
        }

    def _phase(self, job: Job[JobSpec], progress: Progress, stored: str) -> str:
        """Return the kind's name of the phase; `stored` is the one in the status."""
        tasks = progress.tasks
        if progress.phase.ended:
            return str(_PHASES[progress.phase])
        if progress.phase is RunPhase.ABORTED:
            live = progress.terminating or any(_LIVE & task.phases.keys() for task in tasks.values())
            return str(JobPhase.ABORTING if live else JobPhase.ABORTED)
        if stored and not any(task.replicas for task in tasks.values()):
            return stored
        released = any(task.released for task in tasks.values())
        # A job that runs is Pending again if too few of its pods run.
        if progress.phase is RunPhase.RUNNING and released and self.is_running(job, tasks):
            return str(JobPhase.RUNNING)
        restarting = progress.phase is RunPhase.RESTARTING and not released
        return str(JobPhase.RESTARTING if restarting else JobPhase.PENDING)

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase of the state."""
        return _ENDS.get(text(mapping(status.get("state")).get("phase")))

    def end_time(self, status: Mapping[str, Any]) -> str:
        """Read when the state was entered."""
        return text(mapping(status.get("state")).get("lastTransitionTime"))


def _minimum(job: Job[JobSpec], tasks: Mapping[str, TaskProgress]) -> int:
    """Return the number of pods that the job needs, without those added to a task that had already completed."""
    return min(gang_minimum(job), sum(task.replicas for task in tasks.values()))


def _succeeded(tasks: Mapping[str, TaskProgress]) -> int:
    return sum(task.succeeded for task in tasks.values())


def _all_ended(tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether all pods have ended. A job that is scaled to no pods has not ended."""
    has_pods = any(task.replicas for task in tasks.values())
    return has_pods and all(task.complete or task.failure for task in tasks.values())


def _duration(job: Job[JobSpec], progress: Progress) -> str | None:
    created = text(metadata_of(job.document).get("creationTimestamp"))
    if not created:
        return None
    seconds = int((progress.now - datetime.fromisoformat(created)).total_seconds())
    return format_duration(timedelta(seconds=max(seconds, 0)))


def _controlled(job: Job[JobSpec]) -> dict[str, str]:
    """Return the plugins and claims that created something for the job; hcclrank creates nothing."""
    plugins = {f"plugin-{name}": name for name in job.spec.plugins or {} if name != "hcclrank"}
    return {**plugins, **{f"volume-pvc-{name}": name for name in claims_of(job)}}
