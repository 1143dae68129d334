"""The defaults of a Volcano Job. The CRD's defaults are the same, because both come from the models.

Unlike in Volcano's own webhook, updates get derived defaults, too: a second `kubectl apply` of the same file sends the
list of tasks as the user wrote it, and would remove them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.defaults import fill, fill_each, limit_what_is_not_shared, pod_specs_of
from jobgate.jobs.gangs import COUNT_LIMIT
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.jobs.twins import Fill, Need, Place, says
from jobgate.kinds.vcjob.models import JobSpec, NetworkTopology, PartitionPolicy, TaskSpec
from jobgate.kinds.vcjob.operator import SCHEDULER
from webhook import Draft
from webhook.values import mapping, objects, spec_of, whole

#: The plugins that each plugin needs.
COMPANIONS = {
    "tensorflow": ("svc",),
    "mpi": ("svc", "ssh"),
    "pytorch": ("svc",),
    "ray": ("svc",),
}


@says()
def job_defaults(job: Draft, _: Context) -> None:
    """The job's own defaults, in case the API server has not applied those of the CRD."""
    if (spec := job.at("spec")) is not None:
        fill(spec, JobSpec)
    if (topology := job.at("spec", "networkTopology")) is not None:
        fill(topology, NetworkTopology)


@says()
def task_defaults(job: Draft, _: Context) -> None:
    """A task has no pods and three retries by default."""
    fill_each(job, "spec", "tasks", model=TaskSpec)
    if not any("partitionPolicy" in task for _, task in objects(spec_of(job.value).get("tasks"))):
        return
    for task in job.each("spec", "tasks"):
        if (partitions := task.at("partitionPolicy")) is not None:
            fill(partitions, PartitionPolicy)
        if (topology := task.at("partitionPolicy", "networkTopology")) is not None:
            fill(topology, NetworkTopology)


@says(Fill(Place.JOB, "spec.schedulerName", f'"{SCHEDULER}"'))
def jobs_have_a_scheduler(job: Draft, _: Context) -> None:
    """A job without a schedulerName is scheduled by Volcano."""
    if (spec := job.at("spec")) is not None:
        spec.setdefault("schedulerName", SCHEDULER)


@says(Fill(Place.TASK, "name", '"default" + string(at)'))
def tasks_are_named_by_their_place(job: Draft, _: Context) -> None:
    """Volcano names a task without a name default0, default1, …, by its index in the list."""
    if next(job.each("spec", "tasks", lacking="name"), None) is None:
        return
    for place, task in enumerate(job.each("spec", "tasks")):
        task.setdefault("name", f"default{place}")


_IN_HOST = "has(task.template.spec.hostNetwork) && task.template.spec.hostNetwork == true"


@says(Fill(Place.TASK, "template.spec.dnsPolicy", "'ClusterFirstWithHostNet'", _IN_HOST))
def pods_in_the_host_network_find_services(job: Draft, _: Context) -> None:
    """With the default DNS policy, pods in the host network cannot resolve the names of Services."""
    for place, spec in pod_specs_of(job, "spec", "tasks"):
        if spec.get("hostNetwork") is True:
            pod = job.below(("spec", "tasks", place, "template", "spec"), spec)
            pod.setdefault("dnsPolicy", "ClusterFirstWithHostNet")


_ABSENT = "!has({0}.minAvailable) || {0}.minAvailable == null"
#: CEL: whether the minimum of a task is its number of pods.
_BY_REPLICAS = (
    f"!has(task.partitionPolicy) && type(task.replicas) == int && 0 <= task.replicas && task.replicas <= {COUNT_LIMIT}"
)


@says(Fill(Place.TASK, "minAvailable", "task.replicas", _BY_REPLICAS, _ABSENT.format("task")))
def tasks_need_all_their_pods(job: Draft, _: Context) -> None:
    """A task without minAvailable needs all its pods, or the minimum number of partitions of its partitionPolicy."""
    for task in job.each("spec", "tasks", lacking="minAvailable"):
        if (minimum := _minimum(task.value)) is not None:
            task["minAvailable"] = minimum


def _minimum(task: Mapping[str, Any]) -> int | None:
    """Return the minimum of a task without minAvailable, or None if its numbers are invalid."""
    partitions = mapping(task.get("partitionPolicy"))
    groups = whole(partitions.get("minPartitions"))
    if not groups:
        return _count(task.get("replicas"))
    size, total = whole(partitions.get("partitionSize")), whole(partitions.get("totalPartitions"))
    if size is None or total is None or groups > total:
        return None  # a rule reports the invalid field
    return _count(groups * size)


_MINIMUM = "task.?minAvailable.orValue(task.replicas)"


@says(
    Fill(
        Place.JOB,
        "spec.minAvailable",
        f"object.spec.tasks.map(task, int({_MINIMUM})).sum()",
        "object.spec.tasks.size() > 0 && object.spec.tasks.all(task, has(task.minAvailable) ? type(task.minAvailable) "
        f"== int && 0 <= task.minAvailable && task.minAvailable <= {COUNT_LIMIT} : {_BY_REPLICAS}) && "
        f"object.spec.tasks.map(task, int({_MINIMUM})).sum() <= {COUNT_LIMIT}",
        _ABSENT.format("object.spec"),
    )
)
def jobs_need_what_their_tasks_need(job: Draft, _: Context) -> None:
    """A job without minAvailable needs the sum of its tasks' minimums: its PodGroup waits for that many pods."""
    spec = job.at("spec")
    if spec is None or "minAvailable" in spec or not isinstance(tasks := spec.get("tasks"), list):
        return
    numbers = [(task.get("minAvailable"), task.get("replicas")) for _, task in objects(tasks)]
    minima = [_count(replicas if minimum is None else minimum) for minimum, replicas in numbers]
    valid = [minimum for minimum in minima if minimum is not None]
    total = _count(sum(valid))
    if valid and len(valid) == len(tasks) and total is not None:
        spec["minAvailable"] = total


def _count(value: Any) -> int | None:
    """Return the value if it is a number of pods, else None: rules report invalid values."""
    count = whole(value)
    return count if count is not None and 0 <= count <= COUNT_LIMIT else None


def _needs_companion(name: str) -> str:
    """Return the condition that a plugin of the job needs this one."""
    needing = json.dumps([plugin for plugin, companions in COMPANIONS.items() if name in companions])
    return f"type(object.spec.plugins) == map && {needing}.exists(name, name in object.spec.plugins)"


@says(
    *(Fill(Place.JOB, f"spec.plugins.{name}", "[]", _needs_companion(name)) for name in ("svc", "ssh")),
    Need(Place.JOB, "has(object.spec.plugins) && type(object.spec.plugins) != map"),
)
def plugins_have_their_companions(job: Draft, _: Context) -> None:
    """The plugins of frameworks need svc for the names of pods; MPI's also needs ssh to start its workers."""
    plugins = job.at("spec", "plugins")
    if plugins is None or COMPANIONS.keys().isdisjoint(plugins.value):
        return
    for plugin in [name for name in COMPANIONS if name in plugins]:
        for companion in COMPANIONS[plugin]:
            plugins.setdefault(companion, [])


DEFAULTS = (
    job_defaults,
    task_defaults,
    jobs_have_a_scheduler,
    tasks_are_named_by_their_place,
    pods_in_the_host_network_find_services,
    tasks_need_all_their_pods,
    jobs_need_what_their_tasks_need,
    plugins_have_their_companions,
    limit_what_is_not_shared("spec", "tasks"),
    prerequisites_are_ready("spec", "tasks"),
)
