"""Rules for TorchJobs beyond the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import KEPT, runs_here, who_runs
from jobgate.jobs.policies import Action, all_policies
from jobgate.jobs.twins import Fault, lacks_container, says
from jobgate.kinds.torchjob.elastic import elastic_rules
from jobgate.kinds.torchjob.models import RestartPolicy, SpotTaskSpec, TorchJobSpec
from jobgate.kinds.torchjob.operator import (
    DEPENDS_ON,
    MAIN_CONTAINER,
    NETWORK_MODE,
    RESERVED_ENV,
    annotation,
    restart_policy_of_pods,
    scaled_by_ai_master,
)
from jobgate.kinds.torchjob.output import output_rules
from jobgate.kinds.torchjob.spellings import spelling_rules
from jobgate.kinds.torchjob.tasks import (
    MINIMA,
    TASKS,
    TYPES,
    TaskType,
    TorchTask,
    all_torch_tasks,
    task_of,
    torch_tasks,
    type_of,
)
from jobgate.kinds.torchjob.updates import update_rules
from jobgate.names import dns_subdomain, label_value, qualified_name
from jobgate.rules.shared import shared_rules
from jobgate.rules.tasks import expected_name, name_path
from webhook import Cause, Duplicate, Forbidden, Invalid, Notice, NotSupported, Path, Required, rule
from webhook.values import mapping, objects, spec_of

#: Restart policies that do not restart a pod after exit code 1.
_NO_RETRY: Final = frozenset({RestartPolicy.EXIT_CODE, RestartPolicy.NEVER})
_DIGITS: Final = frozenset("0123456789")


@rule("torch_task_specs")
@says(Fault("tasks.*", f"at.matches('^[ -~]*$') && !(at.lowerAscii() in {json.dumps([*TYPES])})"))
def task_types_are_known(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator creates no pods for other types, but counts them in the world size: the job would wait forever."""
    for task in torch_tasks(job):
        if task.role is None:
            yield NotSupported(task.path, task.key, TaskType)


@rule()
def tasks_have_values(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The API server drops a key whose value is null: the task would be missing."""
    if job.fits:
        return
    for key, value in mapping(mapping(job.document.get("spec")).get("torchTaskSpecs")).items():
        if value is None:
            yield Invalid(TASKS.key(key), None, "must not be null: set a template, or remove the key")


@rule("torch_task_specs")
@says(Fault("tasks.*", "$(tasks).exists(other, other != at && other.lowerAscii() == at.lowerAscii())"))
def there_is_one_task_of_each_type(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Keys are case-insensitive: the operator would drop one of two equal keys."""
    seen: dict[str | None, str] = {}
    for task in torch_tasks(job):
        first = seen.setdefault(task.name, task.key)
        if first != task.key:
            yield Duplicate(task.path, task.key, f"same task as {TASKS.key(first)}: remove one of them")


@rule()
@says(
    Fault("tasks", '!$(tasks).exists(key, key.lowerAscii() == "master" || !key.matches("^[ -~]*$"))'),
    Fault("tasks.replicas", 'at.lowerAscii() == "master" && $(tasks.replicas) != 1'),
)
def there_is_one_master(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Every pod gets the address of the master with index 0; the operator creates no second one."""
    master = task_of(job, TaskType.MASTER)
    if master is None:
        yield Required(TASKS.key(TaskType.MASTER.value), "a job must have a Master, which must not be null")
    elif master.replicas != 1:
        yield Invalid(master.at("replicas"), master.replicas, "must be 1 for the Master")


@rule()
def tasks_have_pods(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause | Notice]:
    """Only an AIMaster can scale up a Worker without pods. Other tasks wait for an AIMaster without pods."""
    for task in torch_tasks(job):
        if task.replicas != 0:
            continue
        if task.role is TaskType.WORKER and not scaled_by_ai_master(job):
            yield Invalid(task.at("replicas"), 0, "must be at least 1: remove the Worker if it is not needed")
        if task.role is TaskType.AI_MASTER:
            waits = "the other tasks wait for the annotation aimaster: ready on the job"
            yield Notice(task.at("replicas"), f"{waits}: remove the AIMaster if it is not needed")


@rule()
@says(Fault("tasks.template", f"at.lowerAscii() in ['master', 'worker'] && {lacks_container(MAIN_CONTAINER)}"))
def the_container_that_trains_is_there(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator finds the training container, and the port of the master, by the name of the container."""
    for task in torch_tasks(job):
        trains = task.role is TaskType.MASTER or task.role is TaskType.WORKER
        if trains and MAIN_CONTAINER not in [container.get("name") for _, container in _containers(task)]:
            path = task.template_path / "spec" / "containers"
            yield Required(path, f"one container must be named {MAIN_CONTAINER}, which runs the training")


@rule()
@says(Fault("metadata.name", 'object.metadata.name.matches("^[0-9]")'))
def job_names_begin_with_a_letter(_: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """The operator creates a Service named after each pod, and the name of a Service begins with a letter."""
    if expected_name(context)[:1] in _DIGITS:
        detail = "must begin with a letter, as Services are named <job>-<task>-<index>"
        yield Invalid(name_path(context), context.name or context.generate_name, detail)


@rule("tasks.spot_task_spec")
def spot_tasks_are_some_of_the_pods(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """Spot pods, those with the highest indices, may be evicted. The only Master must not be."""
    for task, spot in _spot_tasks(job):
        count, replicas = spot.num_spot_tasks or 0, task.replicas
        if not count:
            continue
        path = task.at("spot_task_spec") / "numSpotTasks"
        if task.role is TaskType.MASTER:
            detail = "not supported for the Master, without which the job fails: use spot tasks for the Worker"
            yield Forbidden(path, detail)
        elif count > replicas:
            yield Invalid(path, count, f"must be at most {task.at('replicas')}, which is {replicas}")


@rule("tasks.spot_task_spec")
def spot_tasks_make_sound_pods(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """Labels and priority class are copied to the pods."""
    for task, spot in _spot_tasks(job):
        path = task.at("spot_task_spec")
        # If one field is invalid, the other is checked.
        for key, value in (getattr(spot, "labels", None) or {}).items():
            if fault := qualified_name(key):
                yield Invalid(path / "labels", key, fault)
            if fault := label_value(value):
                yield Invalid((path / "labels").key(key), value, fault)
        name = getattr(spot, "priority_class_name", None)
        if name and (fault := dns_subdomain(name)):
            yield Invalid(path / "priorityClassName", name, fault)


@rule("tasks.spot_task_spec")
def spot_tasks_keep_their_priority(job: Job[TorchJobSpec], __: Context) -> Iterator[Notice]:
    """The operator replaces the priority class of spot pods, even if no other is set."""
    for task, spot in _spot_tasks(job):
        if spot.num_spot_tasks and not spot.priority_class_name and spec_of(task.template).get("priorityClassName"):
            path = task.at("spot_task_spec") / "priorityClassName"
            yield Notice(
                path, "must be set: otherwise the spot pods have no priority class, not even that of the template"
            )


def _spot_tasks(job: Job[TorchJobSpec]) -> Iterator[tuple[TorchTask, SpotTaskSpec]]:
    """Yield the tasks with spot pods, each with its settings."""
    for task in torch_tasks(job):
        if (spot := task.part.spot_task_spec) is not None:
            yield task, spot


@rule("min_members")
@says(Fault("min_members", "$(it).exists(key, !(key.lowerAscii() in ['master', 'worker']) && key.matches('^[ -~]*$'))"))
def minima_are_of_tasks_that_form_gangs(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """A minimum is for a task that the job has. An AIMaster is scheduled on its own and has none."""
    written: dict[str, str] = {}
    names = {task.name for task in torch_tasks(job)}
    for key in job.spec.min_members or {}:
        path = MINIMA.key(key)
        first = written.setdefault(key.lower(), key)
        if type_of(key) in {None, TaskType.AI_MASTER}:
            yield NotSupported(path, key, [TaskType.MASTER, TaskType.WORKER])
        elif first != key:
            yield Duplicate(path, key, f"same task as {MINIMA.key(first)}: keys are case-insensitive")
        elif key.lower() not in names:
            yield Invalid(path, key, f"the job has no {type_of(key)} task: remove the key, or add the task")


@rule("min_members")
def minima_can_be_reached(job: Job[TorchJobSpec], __: Context) -> Iterator[Cause]:
    """The operator creates no gang that needs more pods than its task has."""
    counts = {task.name: task.replicas for task in torch_tasks(job)}
    for key, minimum in (job.spec.min_members or {}).items():
        if (count := counts.get(key.lower())) is not None and minimum > count:
            yield Invalid(MINIMA.key(key), minimum, f"must be at most {count}, the replicas of the task")


@rule("min_available")
def the_minimum_of_the_job_can_be_reached(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """A gang that needs more pods than the job has never starts. Pods of the AIMaster do not count."""
    minimum = job.get("min_available")
    if minimum is None:
        return
    total = sum([task.replicas for task in all_torch_tasks(job) if task.role is not TaskType.AI_MASTER])
    if minimum > total:
        detail = f"must be at most {total}, the total replicas of the Master and the Worker"
        yield Invalid(job.at("min_available"), minimum, detail)


@rule(f"annotations.{NETWORK_MODE}")
def the_network_mode_is_known(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator silently ignores any other value."""
    mode = annotation(job, NETWORK_MODE)
    if mode is not None and mode != "host":
        yield NotSupported((Path("metadata") / "annotations").key(NETWORK_MODE), mode, ["host"])


@rule("tasks.template.spec.restartPolicy")
def the_restart_policy_is_the_tasks(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """The operator sets the restart policy of the pods from the task, regardless of the template."""
    for task in torch_tasks(job):
        written = spec_of(task.template).get("restartPolicy")
        policy = restart_policy_of_pods(job, task) if written else None
        if policy and written != policy:
            path = task.template_path / "spec" / "restartPolicy"
            why = (
                "because of the annotation for elastic training"
                if scaled_by_ai_master(job)
                else f"because of {task.at('restart_policy')}"
            )
            yield Notice(path, f"{who_runs(job, context)} sets this field to {policy} in every pod, {why}")


@rule()
def reserved_variables_are_left_to_the_operator(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """The operator appends its own variables, and the last variable with a name applies."""
    for task in torch_tasks(job):
        for place, container in _containers(task):
            for index, variable in objects(container.get("env")):
                name = variable.get("name")
                if isinstance(name, str) and name in RESERVED_ENV:
                    path = task.template_path / "spec" / "containers" / place / "env" / index / "name"
                    yield Notice(path, KEPT if runs_here(job, context) else f"torch-on-k8s overwrites {name}")


@rule("tasks.restart_policy")
def the_master_survives_a_failed_worker(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """When a worker fails, torch exits with code 1 in all other processes, and ExitCode does not retry this code."""
    master, worker = task_of(job, TaskType.MASTER), task_of(job, TaskType.WORKER)
    if master is None or worker is None or job.get("backoff_limit") == 0 or worker.replicas == 0:
        return
    if runs_here(job, context) and any(policy.model.action is Action.RESTART_JOB for policy in all_policies(job)):
        return
    if master.restart_policy in _NO_RETRY and worker.restart_policy not in {None, RestartPolicy.NEVER}:
        yield Notice(
            master.at("restart_policy"),
            f"with {master.restart_policy} the job fails when a worker fails, although the worker is restarted: torch "
            "then exits with code 1 on the master, too. Set OnFailure to restart both",
        )


def _containers(task: TorchTask) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the containers of a task's template, each with its index."""
    return objects(spec_of(task.template).get("containers"))


@rule("tasks.depends_on")
def dependencies_are_read(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """The current torch-on-k8s ignores dependencies and uses a fixed order."""
    if DEPENDS_ON in context.settings.operator_can or runs_here(job, context):
        return
    for task in torch_tasks(job):
        if task.part.depends_on is not None:
            yield Notice(
                task.at("depends_on"),
                "torch-on-k8s ignores this field: the Master waits for a running AIMaster, and the Worker "
                "for a running Master. If the operator supports it, an administrator declares that with the "
                f"setting operator-can: [{DEPENDS_ON}]",
            )


RULES = (
    tasks_have_values,
    there_is_one_master,
    tasks_have_pods,
    the_container_that_trains_is_there,
    job_names_begin_with_a_letter,
    spot_tasks_are_some_of_the_pods,
    spot_tasks_make_sound_pods,
    spot_tasks_keep_their_priority,
    minima_are_of_tasks_that_form_gangs,
    *shared_rules(
        {
            # The names of tasks are the names of their types, as case-insensitive keys.
            "task_names_are_unique": (there_is_one_task_of_each_type,),
            "task_names_are_labels": (task_types_are_known,),
            # There is a gang for each task, or one for the job without the AIMaster.
            "minimum_is_at_most_the_pods": (the_minimum_of_the_job_can_be_reached,),
            "task_minima_are_at_most_their_replicas": (minima_can_be_reached,),
            # The bounds are for the workers only.
            "replicas_are_within_bounds": (),
            "minima_agree": (),
            "a_gang_has_priorities_throughout": (),
        }
    ),
    dependencies_are_read,
    *elastic_rules,
    the_network_mode_is_known,
    *output_rules,
    *spelling_rules,
    the_restart_policy_is_the_tasks,
    the_master_survives_a_failed_worker,
    reserved_variables_are_left_to_the_operator,
    *update_rules,
)
