"""Small operators for tests and the demo. They create the pods of jobs as the kind's original operator does.

    operator = DIOrchestrator(plane.api())
    report = operator.sync()          # once: creates what is missing, deletes what is not wanted
    await operator.run()              # again and again, until it is cancelled

On a `WholeControlPlane` the pods run, and end as their annotations say.
"""

from controlplane.operators.dijob import DIOrchestrator
from controlplane.operators.mxjob import MXNetOperator
from controlplane.operators.operator import Operator, SyncReport
from controlplane.operators.resources import Child, Resource
from controlplane.operators.torchjob import TorchOnK8s
from controlplane.operators.vcjob import Volcano

__all__ = ["Child", "DIOrchestrator", "MXNetOperator", "Operator", "Resource", "SyncReport", "TorchOnK8s", "Volcano"]
