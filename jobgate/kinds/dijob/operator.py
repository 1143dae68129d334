"""The profile of DI-orchestrator v1.1: what it makes of a DIJob."""

from __future__ import annotations

from jobgate.kinds.common.operator import Operator
from jobgate.kinds.dijob.members import MEMBERS

#: What an installation says whose operator does not die of a preemptible job.
PREEMPTIBLE = "dijobs/preemptible"

#: The service account of DI-orchestrator as its own manifests install it: it writes back jobs without what it does not
#: know.
ACCOUNT = "system:serviceaccount:di-system:di-orchestrator"

#: The container that the operator takes for the one that trains.
MAIN_CONTAINER = "di-container"


DI_ORCHESTRATOR = Operator(
    name="DI-orchestrator",
    minor=21,
    pod_name="{job}-{task}-{index}",
    service_name="di-{job}",
    overwrites={"restartPolicy": "Never"},
    replaces=("hostname", "subdomain"),
    drops_metadata=True,
    adds_volumes=True,
    capabilities=frozenset({PREEMPTIBLE.partition("/")[2]}),
    members=MEMBERS,
)
