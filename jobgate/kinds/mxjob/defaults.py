"""The defaults of an MxJob. The CRD has the same defaults of fields, because both come from the models.

The runtime ID has no default here. The operator generates it; a random value in admission would be different in each
dry run and each repeated call.
"""

from __future__ import annotations

from jobgate.jobs.context import Context
from jobgate.jobs.defaults import fill_each, limit_what_is_not_shared, pod_specs_of
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.jobs.twins import Fill, Place, says
from jobgate.kinds.mxjob.accelerators import main_containers_have_their_accelerators_drivers
from jobgate.kinds.mxjob.models import ReplicaSpec, ReplicaType
from jobgate.kinds.mxjob.operator import PORT
from webhook import Draft

#: The path of the roles.
_ROLES = ("spec", "replicaSpecs")


@says()
def role_defaults(job: Draft, _: Context) -> None:
    """The role defaults to WORKER, and replicas to 1."""
    fill_each(job, *_ROLES, model=ReplicaSpec)


_SCHEDULES = f"has(task.mxReplicaType) && task.mxReplicaType == '{ReplicaType.SCHEDULER}'"


@says(Fill(Place.TASK, "psRootPort", str(PORT), f"{_SCHEDULES} && !has(task.PsRootPort)"))
def schedulers_have_a_port(job: Draft, _: Context) -> None:
    """Only the SCHEDULER gets the default port; the operator would set it for every role."""
    for role in job.each(*_ROLES, lacking="psRootPort"):
        if role.get("mxReplicaType") == ReplicaType.SCHEDULER and "PsRootPort" not in role:
            role["psRootPort"] = PORT


@says(Fill(Place.TASK, "template.spec.restartPolicy", '"OnFailure"'))
def pods_are_restarted_on_failure(job: Draft, _: Context) -> None:
    """The default restart policy of pods, Always, is not allowed in batch Jobs."""
    for index, pod in pod_specs_of(job, *_ROLES):
        if pod.get("restartPolicy") is None:
            job.below((*_ROLES, index, "template", "spec"), pod)["restartPolicy"] = "OnFailure"


DEFAULTS = (
    role_defaults,
    schedulers_have_a_port,
    pods_are_restarted_on_failure,
    limit_what_is_not_shared(*_ROLES),
    main_containers_have_their_accelerators_drivers,
    prerequisites_are_ready(*_ROLES),
)
