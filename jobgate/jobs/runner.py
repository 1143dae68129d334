"""How the jobs of a kind are run: a class that each kind with a runner subclasses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Generic, Literal

from msgspec import Struct

from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.job import Job, Spec
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.policies import LifecyclePolicy
from jobgate.jobs.progress import Progress, RunPhase, StartCondition, TaskProgress, all_started
from jobgate.jobs.task import Task
from jobgate.plugins import Crew, Member, Variable
from webhook.values import text

#: Reason for the failure of a job that has used up its restarts, if only restarts by actions count.
NO_RESTART: Final = "NoRestartLeft"
#: Restarts of a job whose policies restart pods, if it has no limit of its own: the default of a batch Job.
BACKOFF_LIMIT: Final = 6
#: Default of the seconds after which a deleted pod is replaced whose node does not answer.
REPLACE_LOST_AFTER: Final = 300


class Clean(StrEnum):
    """Which pods of an ended job are deleted."""

    NONE = "None"
    RUNNING = "Running"
    ALL = "All"


class Retry(Struct, frozen=True):
    """How failed pods of a task are replaced, before its lifecycle policies are considered.

    Attributes:
        restart_policy: restart policy of the pods; a batch Job accepts these two.
        limit: number of pods that are replaced before the task has failed; None for no limit.
        container: container whose exit codes count for `fatal_codes`; empty for all.
        fatal_codes: an operator of `onExitCodes` and its codes: if a pod ends with such a code, the task has failed.
        only_by_policy: whether a failed pod is replaced only if a policy asks for it. The task's other pods go on.
    """

    restart_policy: Literal["Never", "OnFailure"] = "Never"
    limit: int | None = None
    container: str = ""
    fatal_codes: tuple[Literal["In", "NotIn"], tuple[int, ...]] | None = None
    only_by_policy: bool = False


class Runner(ABC, Generic[Spec]):
    """How the runner runs the jobs of a kind.

    A kind with a runner has a subclass, and passes an instance of it to `bind(…, runner=…)`. It must write `status` and
    `end_phase`; everything else has a default. Methods are called again and again while a job runs: they read only
    their arguments and change nothing.

    Arguments with the same name are the same everywhere: `job` is the typed view of the stored job, with all defaults,
    `task` one of its tasks, `tasks` the progress of all tasks by name, `status` the stored status as JSON (empty if
    there is none), and `crew` the job as plugins see it, with the names of its pods and Services.
    """

    # Who runs the jobs of the kind

    #: Why no operator of the kind works on a current cluster; empty if one does. The webhook warns with this text if
    #: the runner does not run the kind either.
    orphaned: str = ""
    #: Parts of names of Deployments, images and Leases that identify the kind's operator. The runner does not start
    #: while such an operator is alive.
    rivals: tuple[str, ...] = ()
    #: Fields of jobs and tasks that the runner acts on, of those that `Operator.supports` may list.
    supports: frozenset[str] = frozenset()
    #: Prefix of the variables by which pods find the runner's server; empty if the kind has none.
    server: str = ""
    #: Whether Volcano's Commands (`bus.volcano.sh`) act on the jobs.
    takes_commands: bool = False

    def adoption_changes(self, job: Job[Spec]) -> Mapping[str, Any]:
        """Return fields to write to the spec before the runner takes a job over. Called until there are none."""
        return {}

    def hold_reason(self, status: Mapping[str, Any]) -> str:
        """Return why a job may have no pods when the runner takes it over; empty if it may."""
        return ""

    def is_paused(self, status: Mapping[str, Any]) -> bool:
        """Return whether a job must be left alone. Called before everything else."""
        return False

    # What the pods get, and the objects beside them

    #: Whether jobs of the kind may have claims. Without it the runner gets no rights on PersistentVolumeClaims.
    creates_claims: bool = False

    def variables(self, member: Member) -> Iterable[Variable]:
        """Return the environment variables of a pod. Called by the pod webhook; the template's own take precedence."""
        return ()

    def task_metadata(self, job: Job[Spec], task: Task) -> Mapping[str, Mapping[str, str]]:
        """Return `labels` and `annotations` of all pods of a task, in addition to the template's."""
        return {}

    def pod_metadata(self, member: Member) -> Mapping[str, Mapping[str, str]]:
        """Return `labels` and `annotations` that differ from pod to pod. Called by the pod webhook."""
        return {}

    def pod_spec(self, job: Job[Spec], task: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the pod spec of a task: the one passed is the template's, with scheduler and priority class."""
        return spec

    def scheduler(self, job: Job[Spec]) -> str:
        """Return the scheduler of pods whose template names none; empty for the cluster's default."""
        return text(job.get("scheduler_name"))

    def services(self, job: Job[Spec], crew: Crew) -> Iterable[dict[str, Any]]:
        """Return the Services of a job: `metadata` with the name, and `spec`. The runner adds labels and owner."""
        return ()

    def claims(self, job: Job[Spec]) -> Mapping[str, Mapping[str, Any] | None]:
        """Return the PersistentVolumeClaims of a job by name: the spec to create, None for one that must exist.

        While a claim that must exist is absent, the job waits. Set `creates_claims`, too.
        """
        return {}

    # When a task may start

    #: Queue of jobs that name none, by a default of the kind. Kueue does not queue its jobs.
    default_queue: str = ""
    #: Names of tasks whose pods are scheduled one by one, and belong to no gang.
    outside_gangs: frozenset[str] = frozenset()

    def replicas(self, job: Job[Spec], task: Task) -> int:
        """Return the number of pods of a task."""
        return task.replicas

    #: What a job of the kind must have to be elastic; for messages.
    elastic_needs: str = "the pods of this kind know their number from the start, so it cannot change"

    def elastic(self, job: Job[Spec]) -> Mapping[str, tuple[int, int]]:
        """Return the tasks whose number of pods may change while they run, by name, with minimum and maximum.

        Of a task, the pods with the highest indexes are added and taken away. Only tasks whose program can bear that.
        """
        return {}

    def is_preemptible(self, job: Job[Spec]) -> bool:
        """Return whether the job shrinks before others, whatever its priority."""
        return False

    def start_condition(self, job: Job[Spec], task: Task) -> StartCondition:
        """Return what a task waits for: by default the tasks in `dependsOn`. Called until its pods are created."""
        if task.depends_on is None:
            return StartCondition()
        names = tuple((name, False) for _, name, _ in task.depends_on.names(task.path))
        return StartCondition(names, any_suffices=task.depends_on.any_suffices and len(names) > 1)

    def has_own_order(self, job: Job[Spec]) -> bool:
        """Return whether the job itself orders its tasks. An order that only the kind implies gives way to a gang."""
        return True

    def gang_minimum(self, job: Job[Spec]) -> int:
        """Return the number of pods that must start together; 0 for no gang. Called if a gang scheduler is set."""
        return gang_minimum(job)

    def priority(self, job: Job[Spec]) -> int | None:
        """Return the job's priority in its queue; None for that of its priority class."""
        return None

    # How a failed or evicted pod is answered: `jobgate/runner/failures.py` carries it out

    #: Whether only restarts that a policy or a user asks for count for `restart_limit`, and not each replaced pod.
    counts_actions_only: bool = False
    #: Whether a policy that matches wins over the success of the job.
    policies_before_success: bool = False

    def retry(self, job: Job[Spec], task: Task) -> Retry:
        """Return how failed pods of a task are replaced. Called at each look, so an edit of the job may change `limit`.

        The other fields apply from the creation of the task's next batch Job on.
        """
        return Retry()

    def policies(self, job: Job[Spec]) -> Iterable[LifecyclePolicy]:
        """Return lifecycle policies of the kind. Those of the task and of the job apply first, if it has some."""
        return ()

    def restart_limit(self, job: Job[Spec]) -> int | None:
        """Return the number of restarts before the job has failed; None for no limit."""
        return None

    # Whether a job runs, has succeeded or has failed: called at each look at a job that has not ended

    def is_running(self, job: Job[Spec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the job is running. Called only if a task was released."""
        return all_started(tasks)

    def has_succeeded(self, job: Job[Spec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the job has succeeded."""
        return all(task.complete for task in tasks.values())

    def success_delay(self, job: Job[Spec], tasks: Mapping[str, TaskProgress]) -> float | None:
        """Return in how many seconds the job succeeds, whatever its other pods do; None if that is not decided."""
        return None

    def failure(self, job: Job[Spec], tasks: Mapping[str, TaskProgress]) -> str:
        """Return why the job has failed; empty if it has not. Called if it has not succeeded, and no policy acts."""
        written = {task.name: task.written_name for task in job.tasks}
        failed = (task for task in tasks.values() if task.failure)
        return next((f"task {written.get(task.name) or task.name} has failed: {task.failure}" for task in failed), "")

    def deadline(self, job: Job[Spec]) -> int | None:
        """Return the number of seconds that the job may run; None for no limit."""
        return None

    # The status

    #: Whether the kind has a phase for a job whose pods are replaced after evictions or deletions, or that is scaled.
    #: Without it, such a job is Restarting or goes on.
    reschedules: bool = False

    def counts(self, job: Job[Spec], progress: Progress) -> dict[str, Any]:
        """Return the fields of the status that show the pods. They are also written after the job has ended."""
        return {}

    @abstractmethod
    def status(self, job: Job[Spec], progress: Progress) -> dict[str, Any]:
        """Return the status of a job without `counts` and the runner's state. The stored one is in `job.document`.

        It is written whenever it differs from the stored status: it must include defaults of the CRD, and no other
        fields than those of the CRD.
        """

    @abstractmethod
    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Return the phase in which a job has ended, by its stored status; None if it has not ended.

        From then on only clean-up is done. It must recognize what `status` writes, and the operator's own status.
        """

    def end_time(self, status: Mapping[str, Any]) -> str:
        """Return when a job ended, by its stored status; empty if that is not known. Called if it has a `ttl`."""
        return text(status.get("completionTime") or status.get("completionTimestamp"))

    # After the end

    #: Whether Services are kept after the end if all pods are.
    keeps_services: bool = True

    def clean_policy(self, job: Job[Spec]) -> Clean:
        """Return which pods are deleted when the job has ended."""
        return Clean.RUNNING

    def ttl(self, job: Job[Spec]) -> int | None:
        """Return the number of seconds until the ended job is deleted; None for never."""
        seconds: int | None = job.get("ttl_seconds_after_finished")
        return seconds


def runner_of(kind: CustomKind) -> Runner[Any] | None:
    """Return how the jobs of a kind are run; None if only its operator runs them."""
    runner = getattr(kind, "runner", None)
    return runner if isinstance(runner, Runner) else None


def left_alone(kind: CustomKind, runs: frozenset[str], operator_can: frozenset[str]) -> str:
    """Return why nothing runs the jobs of a kind, by an installation's settings; empty if something may.

    Args:
        kind: kind of the jobs.
        runs: the kinds that jobgate runs itself.
        operator_can: what operators of the installation can do, as `<plural>/<field>`: each implies an operator.
    """
    runner = runner_of(kind)
    has_operator = any(capability.startswith(f"{kind.plural}/") for capability in operator_can)
    if runner is None or not runner.orphaned or has_operator or kind.qualified_plural in runs:
        return ""
    return (
        f"no controller runs this job: {runner.orphaned}. To run it with jobgate, set `--run {kind.qualified_plural}`"
    )
