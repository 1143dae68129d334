"""Rules for elastic training: by torchrun within the bounds of a policy, or by an AIMaster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.kinds.torchjob.models import RendezvousBackend, TorchJobSpec
from jobgate.kinds.torchjob.operator import (
    ELASTIC_TRAINING,
    MAIN_CONTAINER,
    TORCH_ON_K8S,
    annotation,
    scaled_by_ai_master,
)
from jobgate.kinds.torchjob.tasks import TASKS, TaskType, TorchTask, all_torch_tasks, task_of, torch_tasks
from jobgate.names import LABEL_LIMIT
from jobgate.podchecks.reading import named_containers
from jobgate.rules.tasks import expected_name
from webhook import Cause, Forbidden, Invalid, Notice, Path, Required, rule

POLICY = Path("spec") / "torchElasticPolicy"

_BOTH_BOUNDS = "must be set: the operator scales the workers between the two bounds"


@rule("enable_torch_elastic")
def an_elastic_job_has_a_policy(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Without its policy, torchrun has no arguments; without both bounds, the operator never scales the job."""
    if not job.spec.enable_torch_elastic:
        return
    policy = job.spec.torch_elastic_policy
    if policy is None:
        yield Required(POLICY, "must be set when spec.enableTorchElastic is true")
        return
    for attribute, field, reason in (
        ("num_min_replicas", "numMinReplicas", _BOTH_BOUNDS),
        ("num_max_replicas", "numMaxReplicas", _BOTH_BOUNDS),
        ("rendezvous_backend", "rendezvousBackend", "must be the rendezvous backend, such as c10d"),
        ("rendezvous_endpoint", "rendezvousEndpoint", "must be the rendezvous endpoint, as host:port"),
    ):
        # An invalid field is already reported, and counts as set.
        if getattr(policy, attribute, True) in {None, ""}:
            yield Required(POLICY / field, reason)


@rule("enable_torch_elastic")
def workers_are_within_the_bounds(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The number of workers of an elastic job must be within the bounds.

    The operator doubles the workers regardless of the upper bound: such an update is denied, and the job continues.
    """
    if not job.spec.enable_torch_elastic or job.spec.torch_elastic_policy is None:
        return
    low, high = job.get("min_replicas"), job.get("max_replicas")
    worker, replicas = _worker(job)
    if worker is None:
        yield Required(TASKS.key(TaskType.WORKER.value), "an elastic job needs a Worker task")
        return
    if low is not None and high is not None and low > high:
        return  # reported by another rule
    if low is not None and replicas < low:
        detail = f"must be at least {POLICY}.numMinReplicas, which is {low}"
        yield Invalid(worker.at("replicas"), replicas, detail)
    if high is not None and replicas > high:
        detail = f"must be at most {POLICY}.numMaxReplicas, which is {high}"
        yield Invalid(worker.at("replicas"), replicas, detail)


@rule("enable_torch_elastic")
def the_most_workers_have_names(job: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """All pods up to numMaxReplicas need valid names: otherwise the job could not be scaled later."""
    if not job.spec.enable_torch_elastic:
        return
    maximum, name = job.get("max_replicas"), expected_name(context)
    worker, replicas = _worker(job)
    if maximum is None or not name or worker is None:
        return
    length, scaled_length = (
        len(TORCH_ON_K8S.pod_name.format(job=name, task=worker.name, index=count - 1)) for count in (replicas, maximum)
    )
    if length <= LABEL_LIMIT < scaled_length:
        detail = (
            f"pods are named <job>-<task>-<index>, and names with such long indices exceed {LABEL_LIMIT} characters"
        )
        yield Invalid(job.at("max_replicas"), maximum, f"{detail}: use a shorter job name")


def _worker(job: Job[TorchJobSpec]) -> tuple[TorchTask | None, int]:
    """Return the Worker task of a job, or None, and the number of its pods."""
    tasks = {task.role: (task, task.replicas) for task in reversed(all_torch_tasks(job))}
    return tasks.get(TaskType.WORKER, (None, 0))


#: A host name or an address, in the format of torchrun.
_HOST: Final = re.compile(r"[\w.:-]+|\[[\w.:-]+\]")


@rule("torch_elastic_policy")
def the_rendezvous_is_at_a_port(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Pods with an invalid rendezvous endpoint fail at once, again after every restart.

    Without a port, torchrun uses the default of the backend; `static` has none.
    """
    policy = job.spec.torch_elastic_policy
    if policy is None:
        return
    endpoint, backend = policy.rendezvous_endpoint or "", policy.rendezvous_backend
    host, colon, port = endpoint.rpartition(":") if not endpoint.endswith("]") else (endpoint, "", "")
    host = host if colon else endpoint
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
    needs_port = colon or backend is RendezvousBackend.STATIC
    if endpoint and (not _HOST.fullmatch(host) or (needs_port and not is_port)):
        detail = "must be host:port with a port between 1 and 65535, such as job-master-0:29400"
        yield Invalid(POLICY / "rendezvousEndpoint", endpoint, detail)


@rule("torch_elastic_policy")
def a_policy_counts_when_it_is_enabled(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """A policy has no effect unless elastic training is enabled."""
    if job.spec.torch_elastic_policy is not None and not job.spec.enable_torch_elastic:
        yield Notice(POLICY, "has no effect unless spec.enableTorchElastic is true")


@rule("enable_torch_elastic")
def one_of_two_scales_the_job(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """The operator and the AIMaster would revert each other's changes."""
    if job.spec.enable_torch_elastic and scaled_by_ai_master(job):
        yield Forbidden(
            "spec.enableTorchElastic",
            f'may not be set together with the annotation {ELASTIC_TRAINING}: "true", '
            "which lets the AIMaster scale the job",
        )


@rule(f"annotations.{ELASTIC_TRAINING}")
def elastic_training_is_asked_for_in_so_many_words(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The operator accepts only the exact value `true`."""
    value = annotation(job, ELASTIC_TRAINING)
    if value is not None and value not in {"true", "false", ""}:
        path = (Path("metadata") / "annotations").key(ELASTIC_TRAINING)
        yield Notice(path, 'has no effect: only the value "true" enables elastic training')


@rule("enable_torch_elastic")
def an_elastic_worker_is_called_so(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """Unlike the rest of the operator, its scaler treats keys as case-sensitive. The runner does not."""
    if runs_here(job, context) or not job.spec.enable_torch_elastic:
        return
    worker = task_of(job, TaskType.WORKER)
    if worker is not None and worker.key != TaskType.WORKER:
        yield Notice(worker.path, f"torch-on-k8s scales only the key {TaskType.WORKER}: use this spelling")


@rule("enable_torch_elastic")
def a_command_leaves_its_arguments_to_args(job: Job[TorchJobSpec], context: Context) -> Iterator[Notice]:
    """The operator inserts torchrun's arguments before `args`. The runner sets variables for torchrun instead."""
    if runs_here(job, context) or not job.spec.enable_torch_elastic:
        return
    for task in torch_tasks(job):
        for container in named_containers(MAIN_CONTAINER, task.template, task.template_path):
            if container.json.get("command") and not container.json.get("args"):
                yield Notice(
                    container.path / "command",
                    "torch-on-k8s adds the arguments of torchrun, such as --nnodes, after the whole command, where "
                    "torchrun does not read them: keep torchrun here, and move the program and its arguments to args",
                )


#: The rules, in the order of the documentation.
elastic_rules = (
    an_elastic_job_has_a_policy,
    the_rendezvous_is_at_a_port,
    workers_are_within_the_bounds,
    the_most_workers_have_names,
    a_policy_counts_when_it_is_enabled,
    one_of_two_scales_the_job,
    elastic_training_is_asked_for_in_so_many_words,
    an_elastic_worker_is_called_so,
    a_command_leaves_its_arguments_to_args,
)
