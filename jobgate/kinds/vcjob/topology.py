"""The rules of where pods may be: in the network, on a machine, and in which groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.gangs import COUNT_LIMIT
from jobgate.jobs.operator import runs_here
from jobgate.kinds.vcjob.models import JobSpec, NetworkTopology, PartitionPolicy, TaskSpec, TopologyPolicy
from jobgate.podchecks.quantity import is_whole, parse
from jobgate.podchecks.reading import containers
from webhook import Cause, Context, Forbidden, Invalid, Job, Notice, Path, Required, Rule, readable, rule
from webhook.values import mapping

_TASKS = Path("spec") / "tasks"


@rule("network_topology", "tasks.partition_policy", reads=("tasks",))
def tiers_are_named_in_one_way(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """The highest tier is given by number or by name: both could contradict each other."""
    detail = "may not be set together with highestTierAllowed: remove one of them"
    for path, topology in _topologies(job):
        for _, one in readable([topology], "highest_tier_allowed", "highest_tier_name"):
            if one.highest_tier_allowed is not None and one.highest_tier_name:
                yield Forbidden(path / "highestTierName", detail)


@rule("network_topology", "tasks.partition_policy", reads=("tasks",))
def networks_are_left_to_volcano(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """Where jobgate runs the job, its pods are placed without regard to the network topology."""
    if not runs_here(job, context):
        return
    text = "the runner ignores this field: pods are placed without regard to the network topology"
    for path, _ in _topologies(job):
        yield Notice(path, text)


def _topologies(job: Job[JobSpec]) -> Iterator[tuple[Path, NetworkTopology]]:
    """Yield the network topologies of the job and of partitions, each with its place."""
    places: list[tuple[Path, JobSpec | PartitionPolicy]] = [
        (Path("spec"), one) for _, one in readable([job.spec], "network_topology")
    ]
    places += [(path / "partitionPolicy", one) for path, _, one in _partitioned(job, "network_topology")]
    yield from ((path / "networkTopology", one.network_topology) for path, one in places if one.network_topology)


@rule("tasks.partition_policy", reads=("tasks",))
def partitions_hold_all_pods(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """The partitions of a task have equal size, and every pod is in one of them."""
    for path, task, policy in _partitioned(job, "total_partitions", "partition_size"):
        total = policy.total_partitions * policy.partition_size
        if total > COUNT_LIMIT:
            most = f"must be at most {COUNT_LIMIT // policy.total_partitions}"
            detail = (
                f"{most} with totalPartitions {policy.total_partitions}: a task may have at most {COUNT_LIMIT} pods"
            )
            yield Invalid(path / "partitionPolicy" / "partitionSize", policy.partition_size, detail)
            continue
        for _, one in readable([task], "replicas"):
            if one.replicas != total:
                groups = f"partitionPolicy has {policy.total_partitions} partitions of {policy.partition_size}"
                yield Invalid(path / "replicas", one.replicas, f"must be {total}: {groups} pods")


@rule("tasks.partition_policy", reads=("tasks",))
def no_more_partitions_are_needed_than_there_are(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """A task that needs more partitions than it has never starts."""
    for path, _, policy in _partitioned(job, "total_partitions", "min_partitions"):
        if policy.min_partitions > policy.total_partitions:
            detail = f"must be at most totalPartitions, which is {policy.total_partitions}"
            yield Invalid(path / "partitionPolicy" / "minPartitions", policy.min_partitions, detail)


@rule("tasks.partition_policy", reads=("tasks",))
def minimum_is_as_many_partitions(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """If minPartitions is set, minAvailable must be the same number of pods, or not be set."""
    for path, task, policy in _partitioned(job, "total_partitions", "partition_size", "min_partitions"):
        if not 0 < policy.min_partitions <= policy.total_partitions:
            continue  # reported by the rule above
        for _, one in readable([task], "min_available"):
            least = policy.min_partitions * policy.partition_size
            if least > COUNT_LIMIT:
                continue  # reported for all partitions
            if one.min_available is not None and one.min_available != least:
                groups = f"partitionPolicy needs {policy.min_partitions} partitions of {policy.partition_size}"
                yield Invalid(path / "minAvailable", one.min_available, f"must be {least}: {groups} pods")


def _partitioned(job: Job[JobSpec], *words: str) -> Iterator[tuple[Path, TaskSpec, PartitionPolicy]]:
    """Yield the tasks with a partition policy of which these words can be read, each with its place."""
    for index, task in readable(job.spec.tasks, "partition_policy"):
        for _, policy in readable([task.partition_policy] if task.partition_policy else [], *words):
            yield _TASKS / index, task, policy


@rule("tasks.topology_policy", reads=("tasks",))
def pods_of_a_numa_policy_have_whole_cpus(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """Only pods with whole CPUs get exclusive CPUs, which can be placed on one NUMA node.

    A container without requests requests its limits.
    """
    for index, task in readable(job.spec.tasks, "topology_policy", "template"):
        if task.topology_policy not in {None, TopologyPolicy.NONE}:
            for container in containers(task.template, _TASKS / index / "template"):
                resources = mapping(container.json.get("resources"))
                yield from _whole_cpus(resources, container.path / "resources", task.topology_policy)


def _whole_cpus(resources: Mapping[str, Any], path: Path, policy: TopologyPolicy | None) -> Iterator[Cause]:
    side = "requests" if mapping(resources.get("requests")) else "limits"
    cpus = mapping(resources.get(side)).get("cpu")
    wanted = f"topologyPolicy {policy} requires a whole number of CPUs"
    if cpus is None:
        yield Required((path / "requests").key("cpu"), wanted)
        return
    try:
        amount = parse(cpus)
    except ValueError:
        return  # no quantity, which the rules of templates report
    if not amount or not is_whole(amount):
        yield Invalid((path / side).key("cpu"), cpus, f"{wanted}, at least 1")


topology_rules: tuple[Rule, ...] = (
    tiers_are_named_in_one_way,
    networks_are_left_to_volcano,
    partitions_hold_all_pods,
    no_more_partitions_are_needed_than_there_are,
    minimum_is_as_many_partitions,
    pods_of_a_numa_policy_have_whole_cpus,
)
