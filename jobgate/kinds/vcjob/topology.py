"""Rules for topologies: tiers of the network, partitions of a task, and NUMA nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.gangs import COUNT_LIMIT
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.task import Task
from jobgate.kinds.vcjob.models import JobSpec, NetworkTopology, PartitionPolicy, TopologyPolicy
from jobgate.podchecks.quantity import is_whole, parse
from jobgate.podchecks.reading import containers
from webhook import Cause, Forbidden, Invalid, Notice, Path, Required, Rule, rule
from webhook.values import mapping


@rule(
    "network_topology.highest_tier_allowed",
    "network_topology.highest_tier_name",
    "tasks.partition_policy.network_topology.highest_tier_name",
)
def tiers_are_named_in_one_way(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """The highest tier is given by number or by name: both could contradict each other."""
    detail = "may not be set together with highestTierAllowed: remove one of them"
    for path, topology in _topologies(job):
        if topology.highest_tier_allowed is not None and topology.highest_tier_name:
            yield Forbidden(path / "highestTierName", detail)


@rule("network_topology", "tasks.partition_policy.network_topology")
def networks_are_left_to_volcano(job: Job[JobSpec], context: Context) -> Iterator[Notice]:
    """If jobgate runs the job, its pods are placed without regard to the network topology."""
    if not runs_here(job, context):
        return
    text = "the runner ignores this field: pods are placed without regard to the network topology"
    for path, _ in _topologies(job):
        yield Notice(path, text)


def _topologies(job: Job[JobSpec]) -> Iterator[tuple[Path, NetworkTopology]]:
    """Yield the network topologies of the job and of partitions, each with its path."""
    if job.spec.network_topology is not None:
        yield job.at("network_topology"), job.spec.network_topology
    for task, policy in _partitioned(job):
        if policy.network_topology is not None:
            yield task.at("partition_policy") / "networkTopology", policy.network_topology


@rule("tasks.partition_policy")
def partitions_hold_all_pods(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """The partitions of a task have equal size, and every pod is in one of them."""
    for task, policy in _partitioned(job):
        total = policy.total_partitions * policy.partition_size
        if total > COUNT_LIMIT:
            bound = f"at most {COUNT_LIMIT // policy.total_partitions} with totalPartitions {policy.total_partitions}"
            detail = f"must be {bound}: a task may have at most {COUNT_LIMIT} pods"
            yield Invalid(task.at("partition_policy") / "partitionSize", policy.partition_size, detail)
        elif "replicas" not in task.broken and task.replicas != total:
            groups = f"partitionPolicy has {policy.total_partitions} partitions of {policy.partition_size}"
            yield Invalid(task.at("replicas"), task.replicas, f"must be {total}: {groups} pods")


@rule("tasks.partition_policy")
def no_more_partitions_are_needed_than_there_are(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """A task that needs more partitions than it has never starts."""
    for task, policy in _partitioned(job):
        if policy.min_partitions > policy.total_partitions:
            detail = f"must be at most totalPartitions, which is {policy.total_partitions}"
            yield Invalid(task.at("partition_policy") / "minPartitions", policy.min_partitions, detail)


@rule("tasks.partition_policy")
def minimum_is_as_many_partitions(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """If minPartitions is set, minAvailable must be the same number of pods, or not be set."""
    for task, policy in _partitioned(job):
        if not 0 < policy.min_partitions <= policy.total_partitions:
            continue  # reported by the rule above
        needed, minimum = policy.min_partitions * policy.partition_size, task.min_available
        if needed > COUNT_LIMIT:
            continue  # reported for all partitions
        if minimum is not None and minimum != needed:
            groups = f"partitionPolicy needs {policy.min_partitions} partitions of {policy.partition_size}"
            yield Invalid(task.at("min_available"), minimum, f"must be {needed}: {groups} pods")


def _partitioned(job: Job[JobSpec]) -> Iterator[tuple[Task, PartitionPolicy]]:
    """Yield the tasks with a partition policy."""
    for task in job.tasks:
        policy: PartitionPolicy | None = task.get("partition_policy")
        if policy is not None:
            yield task, policy


@rule("tasks.topology_policy")
def pods_of_a_numa_policy_have_whole_cpus(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Only pods with whole CPUs get exclusive CPUs, which can be placed on one NUMA node.

    A container without requests requests its limits.
    """
    for task in job.tasks:
        policy: TopologyPolicy | None = task.get("topology_policy")
        if policy is not None and policy is not TopologyPolicy.NONE:
            for container in containers(task.template, task.template_path):
                resources = mapping(container.json.get("resources"))
                yield from _whole_cpus(resources, container.path / "resources", policy)


def _whole_cpus(resources: Mapping[str, Any], path: Path, policy: TopologyPolicy) -> Iterator[Cause]:
    side = "requests" if mapping(resources.get("requests")) else "limits"
    cpus = mapping(resources.get(side)).get("cpu")
    detail = f"topologyPolicy {policy} requires a whole number of CPUs"
    if cpus is None:
        yield Required((path / "requests").key("cpu"), detail)
        return
    try:
        amount = parse(cpus)
    except ValueError:
        return  # not a quantity: the rules for templates report it
    if not amount or not is_whole(amount):
        yield Invalid((path / side).key("cpu"), cpus, f"{detail}, at least 1")


topology_rules: tuple[Rule, ...] = (
    tiers_are_named_in_one_way,
    networks_are_left_to_volcano,
    partitions_hold_all_pods,
    no_more_partitions_are_needed_than_there_are,
    minimum_is_as_many_partitions,
    pods_of_a_numa_policy_have_whole_cpus,
)
