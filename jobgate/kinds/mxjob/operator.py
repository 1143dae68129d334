"""The profile of mxnet-operator (deepinsight, 2017): what it makes of an MxJob.

Of each pod template it makes batch Jobs, one a replica, and these make the pods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobgate.kinds.common.operator import Operator
from jobgate.kinds.mxjob.members import MEMBERS, RUNTIME_ID, facts
from webhook import Job

#: What an installation says whose operator adds its variables to those of the container.
OWN_VARIABLES = "mxjobs/env"

#: The container that trains: the operator tells it, and no other, where the scheduler is.
MAIN_CONTAINER = "mxnet"

#: What the operator puts for a runtime id where the job has none: so many characters, not known before.
MADE_UP_ID = "xxxx"

#: The variables that the operator sets in the main container of a distributed job.
VARIABLES = (
    "DMLC_PS_ROOT_PORT",
    "DMLC_PS_ROOT_URI",
    "DMLC_NUM_SERVER",
    "DMLC_NUM_WORKER",
    "DMLC_ROLE",
)

#: The labels that the operator sets on pods, whatever the template says.
LABELS = ("mxnet.mlkube.io", "job_type", "runtime_id", "task_index")

#: The labels by which a batch Job knows its pods. The API server sets them, and rejects a template that has others.
BATCH_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)


@dataclass(frozen=True, kw_only=True)
class MxnetOperator(Operator):
    """An operator that calls what it makes by the job's runtime id too."""

    def pod_pattern(self, job: Job[Any]) -> str:
        """Return the pattern of the names of a job's batch Jobs, which are the host names of its pods."""
        return self.pod_name.replace(MADE_UP_ID, facts(job).get(RUNTIME_ID, MADE_UP_ID))


MXNET_OPERATOR = MxnetOperator(
    name="mxnet-operator",
    # Its types are older still, those of Kubernetes 1.7. This is the oldest whose losses are known whole (`vintage`).
    minor=21,
    # The batch Jobs are called so, and the Service of the scheduler too. Pods get five random characters more, for
    # which the name is cut where it is too long.
    pod_name=f"{{job}}-{{task}}-{MADE_UP_ID}-{{index}}",
    capabilities=frozenset({OWN_VARIABLES.partition("/")[2]}),
    members=MEMBERS,
)
