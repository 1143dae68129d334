"""What mutation adds to a Volcano Job. What the CRD defaults too is the same value there: both come from the models.

What is derived is added on updates too, where Volcano's own webhook leaves them alone: a second `kubectl apply` of the
same file sends the list of tasks as the user wrote it, and would take away what was filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.jobs.defaults import fill, fill_each, limit_what_is_not_shared, pod_specs_of
from jobgate.jobs.gangs import COUNT_LIMIT
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.kinds.vcjob.models import JobSpec, NetworkTopology, PartitionPolicy, TaskSpec
from jobgate.kinds.vcjob.operator import SCHEDULER
from webhook import Context, Draft, adds_nothing
from webhook.values import mapping, objects, whole

#: Plugins that work only with others, which are switched on with them.
COMPANIONS = {
    "tensorflow": ("svc",),
    "mpi": ("svc", "ssh"),
    "pytorch": ("svc",),
    "ray": ("svc",),
}


@adds_nothing(("network_topology",))
def job_defaults(job: Draft, _: Context) -> None:
    """The job's own defaults, for a server that has not applied the CRD's."""
    if (spec := job.at("spec")) is not None:
        fill(spec, JobSpec)
    if (topology := job.at("spec", "networkTopology")) is not None:
        fill(topology, NetworkTopology)


@adds_nothing(("tasks.partition_policy",))
def task_defaults(job: Draft, _: Context) -> None:
    """A task has no pods and three retries unless it says otherwise."""
    fill_each(job, "spec", "tasks", model=TaskSpec)
    for task in job.each("spec", "tasks"):
        if "partitionPolicy" not in task:
            continue
        if (partitions := task.at("partitionPolicy")) is not None:
            fill(partitions, PartitionPolicy)
        if (topology := task.at("partitionPolicy", "networkTopology")) is not None:
            fill(topology, NetworkTopology)


@adds_nothing({"scheduler_name": {"required": True}})
def jobs_have_a_scheduler(job: Draft, _: Context) -> None:
    """A job without a schedulerName is scheduled by Volcano."""
    if (spec := job.at("spec")) is not None:
        spec.setdefault("schedulerName", SCHEDULER)


@adds_nothing({"tasks.name": {"required": True}})
def tasks_are_named_by_their_place(job: Draft, _: Context) -> None:
    """Volcano calls a task without a name default0, default1, …, by its place in the list."""
    if next(job.each("spec", "tasks", lacking="name"), None) is None:
        return
    for place, task in enumerate(job.each("spec", "tasks")):
        task.setdefault("name", f"default{place}")


@adds_nothing(("tasks.template.spec.hostNetwork",))
def pods_in_the_host_network_find_services(job: Draft, _: Context) -> None:
    """With the default DNS policy, pods in the host network cannot resolve the names of Services."""
    for place, spec in pod_specs_of(job, "spec", "tasks"):
        if spec.get("hostNetwork") is True:
            pod = job.below(("spec", "tasks", place, "template", "spec"), spec)
            pod.setdefault("dnsPolicy", "ClusterFirstWithHostNet")


@adds_nothing({"tasks.min_available": {"required": True}})
def tasks_need_all_their_pods(job: Draft, _: Context) -> None:
    """A task without minAvailable needs all its pods, or the minimum number of partitions of its partitionPolicy."""
    for task in job.each("spec", "tasks", lacking="minAvailable"):
        if (least := _least(task.value)) is not None:
            task["minAvailable"] = least


def _least(task: Mapping[str, Any]) -> int | None:
    """Return the minimum that a task means, or None where what it says cannot be."""
    partitions = mapping(task.get("partitionPolicy"))
    groups = whole(partitions.get("minPartitions"))
    if not groups:
        return _count(task.get("replicas"))
    size, total = whole(partitions.get("partitionSize")), whole(partitions.get("totalPartitions"))
    if size is None or total is None or groups > total:
        return None  # a rule says so, of the field that is wrong
    return _count(groups * size)


@adds_nothing({"min_available": {"required": True}})
def jobs_need_what_their_tasks_need(job: Draft, _: Context) -> None:
    """A job without minAvailable needs the sum of its tasks' minimums: its PodGroup waits for that many pods."""
    spec = job.at("spec")
    if spec is None or "minAvailable" in spec or not isinstance(tasks := spec.get("tasks"), list):
        return
    said = [(task.get("minAvailable"), task.get("replicas")) for _, task in objects(tasks)]
    minima = [_count(replicas if least is None else least) for least, replicas in said]
    counted = [least for least in minima if least is not None]
    total = _count(sum(counted))
    if counted and len(counted) == len(tasks) and total is not None:
        spec["minAvailable"] = total


def _count(value: Any) -> int | None:
    """Return the value if it is a number of pods, else None: the rules report what is wrong."""
    count = whole(value)
    return count if count is not None and 0 <= count <= COUNT_LIMIT else None


@adds_nothing(lambda job, _: COMPANIONS.keys().isdisjoint(job.said("plugins") or ()))
def plugins_have_their_companions(job: Draft, _: Context) -> None:
    """The plugins of frameworks reach pods by name, which svc gives them; MPI's also needs ssh to start its workers."""
    plugins = job.at("spec", "plugins")
    if plugins is None:
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
