"""The rules of elastic training: by torchrun within the bounds of a policy, or by an AIMaster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jobgate.kinds.common.tasks import expected_name
from jobgate.kinds.torchjob.models import RendezvousBackend, TorchElasticPolicy, TorchJobSpec
from jobgate.kinds.torchjob.operator import ELASTIC_TRAINING, TORCH_ON_K8S, annotation, scaled_by_ai_master
from jobgate.kinds.torchjob.tasks import TASKS, TaskType, task_of
from jobgate.names import LABEL_LIMIT
from webhook import Cause, Context, Forbidden, Invalid, Job, Notice, Path, Required, readable, rule

POLICY = Path("spec") / "torchElasticPolicy"


@rule("enable_torch_elastic", reads=("torch_elastic_policy",))
def an_elastic_job_has_a_policy(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Without its policy torchrun has no arguments, and without both bounds the operator never scales the job."""
    if not job.spec.enable_torch_elastic:
        return
    policy = job.spec.torch_elastic_policy
    if policy is None:
        yield Required(POLICY, "must be set when spec.enableTorchElastic is true")
        return
    reasons = {
        "num_min_replicas": "must be set: the operator scales the workers between the two bounds",
        "num_max_replicas": "must be set: the operator scales the workers between the two bounds",
        "rendezvous_backend": "must be the rendezvous backend, such as c10d",
        "rendezvous_endpoint": "must be the rendezvous endpoint, as host:port",
    }
    for attribute, reason in reasons.items():
        # The schema reports one that is broken; it counts as set.
        if getattr(policy, attribute, policy) in {None, ""}:
            yield Required(POLICY / str(TorchElasticPolicy.model_fields[attribute].alias), reason)


@rule("torch_elastic_policy", reads=("torch_elastic_policy.num_min_replicas", "torch_elastic_policy.num_max_replicas"))
def the_bounds_of_an_elastic_job_do_not_cross(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Between bounds that cross, there is no number of workers."""
    policy = job.spec.torch_elastic_policy
    least, most = (policy.num_min_replicas, policy.num_max_replicas) if policy else (None, None)
    if least is not None and most is not None and least > most:
        cause = Invalid(POLICY / "numMinReplicas", least, f"must be at most {POLICY}.numMaxReplicas, which is {most}")
        cause.value = [least, most]  # either makes it another fault than was stored
        yield cause


@rule(
    "enable_torch_elastic",
    reads=("torch_task_specs", "torch_elastic_policy.num_min_replicas", "torch_elastic_policy.num_max_replicas"),
    whole=("tasks.replicas",),
)
def workers_are_within_the_bounds(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """An elastic job starts with a number of workers that it may have, and is never scaled to another.

    The operator doubles the workers without a look at the upper bound; its update is refused then, and the job goes on.
    """
    policy = job.spec.torch_elastic_policy
    if not job.spec.enable_torch_elastic or policy is None:
        return
    worker = task_of(job, TaskType.WORKER)
    if worker is None:
        yield Required(TASKS.key(TaskType.WORKER.value), "an elastic job needs a Worker task")
        return
    least, most = policy.num_min_replicas, policy.num_max_replicas
    if least is not None and most is not None and least > most:
        return  # reported by the rule above
    if least is not None and worker.replicas < least:
        detail = f"must be at least {POLICY}.numMinReplicas, which is {least}"
        yield Invalid(worker.at("replicas"), worker.replicas, detail)
    if most is not None and worker.replicas > most:
        detail = f"must be at most {POLICY}.numMaxReplicas, which is {most}"
        yield Invalid(worker.at("replicas"), worker.replicas, detail)


@rule(
    "enable_torch_elastic",
    reads=("torch_elastic_policy.num_min_replicas", "torch_elastic_policy.num_max_replicas"),
    whole=("tasks.replicas",),
)
def the_most_workers_have_names(job: Job[TorchJobSpec], context: Context) -> Iterator[Cause]:
    """The workers that the job may be scaled to need legal names as well: scaled later, it would be stuck."""
    policy, name = job.spec.torch_elastic_policy, expected_name(context)
    worker = task_of(job, TaskType.WORKER)
    if not job.spec.enable_torch_elastic or policy is None or policy.num_max_replicas is None or not name or not worker:
        return
    lengths = [
        len(TORCH_ON_K8S.pod_name.format(job=name, task=worker.name, index=count - 1))
        for count in (worker.replicas, policy.num_max_replicas)
    ]
    if lengths[0] <= LABEL_LIMIT < lengths[1]:
        detail = f"pods are named <job>-<task>-<index>, and names with such an index exceed {LABEL_LIMIT} characters"
        yield Invalid(POLICY / "numMaxReplicas", policy.num_max_replicas, f"{detail}: use a shorter job name")


#: A name or an address, as torchrun reads them.
_HOST: Final = re.compile(r"[\w.:-]+|\[[\w.:-]+\]")


@rule("torch_elastic_policy")
def the_rendezvous_is_at_a_port(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Pods that cannot read where they meet end at once, and are restarted to no avail.

    Without a port torchrun takes the default of the backend, and `static` has none.
    """
    policy = job.spec.torch_elastic_policy
    for _place, one in readable([policy] if policy else (), "rendezvous_endpoint", "rendezvous_backend"):
        endpoint = one.rendezvous_endpoint or ""
        host, colon, port = endpoint.rpartition(":") if not endpoint.endswith("]") else (endpoint, "", "")
        host = host if colon else endpoint
        named = port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
        needed = colon or one.rendezvous_backend is RendezvousBackend.STATIC
        if endpoint and (not _HOST.fullmatch(host) or (needed and not named)):
            detail = "must be host:port with a port between 1 and 65535, such as job-master-0:29400"
            yield Invalid(POLICY / "rendezvousEndpoint", endpoint, detail)


@rule("torch_elastic_policy", reads=("enable_torch_elastic",))
def a_policy_counts_when_it_is_enabled(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """A policy by itself does nothing."""
    if job.spec.torch_elastic_policy is not None and not job.spec.enable_torch_elastic:
        yield Notice(POLICY, "has no effect unless spec.enableTorchElastic is true")


@rule("enable_torch_elastic")
def one_of_two_scales_the_job(job: Job[TorchJobSpec], _: Context) -> Iterator[Cause]:
    """Each would take the other's changes back."""
    if job.spec.enable_torch_elastic and scaled_by_ai_master(job):
        yield Forbidden(
            "spec.enableTorchElastic",
            f'may not be set together with the annotation {ELASTIC_TRAINING}: "true", '
            "which lets the AIMaster scale the job",
        )


@rule()
def elastic_training_is_asked_for_in_so_many_words(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """The operator compares the annotation's value letter by letter."""
    value = annotation(job, ELASTIC_TRAINING)
    if value is not None and value not in {"true", "false", ""}:
        place = (Path("metadata") / "annotations").key(ELASTIC_TRAINING)
        yield Notice(place, 'has no effect: only the value "true" enables elastic training')


@rule("enable_torch_elastic")
def an_elastic_worker_is_called_so(job: Job[TorchJobSpec], _: Context) -> Iterator[Notice]:
    """Other than the rest of the operator, its scaler does not read keys of any case."""
    worker = task_of(job, TaskType.WORKER)
    if job.spec.enable_torch_elastic and worker is not None and worker.key != TaskType.WORKER:
        yield Notice(worker.path, f"torch-on-k8s scales only the key {TaskType.WORKER}: use this spelling")


#: The rules, in the order in which a reader wants to know.
elastic_rules = (
    an_elastic_job_has_a_policy,
    the_rendezvous_is_at_a_port,
    the_bounds_of_an_elastic_job_do_not_cross,
    workers_are_within_the_bounds,
    the_most_workers_have_names,
    a_policy_counts_when_it_is_enabled,
    one_of_two_scales_the_job,
    elastic_training_is_asked_for_in_so_many_words,
    an_elastic_worker_is_called_so,
)
