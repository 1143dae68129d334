"""What mutation adds to an MxJob. What the CRD defaults too is the same value there: both come from the models.

The runtime id is not among it. The operator makes it up, and writes it into the job; a random value of ours would be
another one at each dry run and each repeated call.
"""

from __future__ import annotations

from jobgate.jobs.defaults import fill, limit_what_is_not_shared
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.kinds.mxjob.accelerators import main_containers_have_their_accelerators_drivers
from jobgate.kinds.mxjob.models import ReplicaSpec, ReplicaType
from jobgate.kinds.mxjob.operator import PORT
from jobgate.kinds.mxjob.spellings import said_ports
from webhook import Context, Draft, adds_nothing


@adds_nothing({})
def role_defaults(job: Draft, _: Context) -> None:
    """The role defaults to WORKER, and replicas to 1."""
    for role in job.each("spec", "replicaSpecs"):
        fill(role, ReplicaSpec)


@adds_nothing(lambda job, _: all(role != ReplicaType.SCHEDULER or port for role, port in said_ports(job)))
def schedulers_have_a_port(job: Draft, _: Context) -> None:
    """Only the SCHEDULER gets the default port; the operator would set it for every role."""
    for role in job.each("spec", "replicaSpecs"):
        if role.get("mxReplicaType") == ReplicaType.SCHEDULER and "PsRootPort" not in role:
            role.setdefault("psRootPort", PORT)


@adds_nothing(lambda job, _: all(template["spec"].get("restartPolicy") for template in job.said("tasks.template")))
def pods_are_restarted_on_failure(job: Draft, _: Context) -> None:
    """The default restart policy of pods, Always, is not allowed in batch Jobs."""
    for role in job.each("spec", "replicaSpecs"):
        pod = role.at("template", "spec")
        if pod is not None:
            pod.setdefault("restartPolicy", "OnFailure")


DEFAULTS = (
    role_defaults,
    schedulers_have_a_port,
    pods_are_restarted_on_failure,
    limit_what_is_not_shared("spec", "replicaSpecs"),
    main_containers_have_their_accelerators_drivers,
    prerequisites_are_ready("spec", "replicaSpecs"),
)
