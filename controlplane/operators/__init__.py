"""Small operators for tests and the demo. They create the pods of jobs as the original of each kind does.

    operator = DIOrchestrator(plane.api())
    report = operator.sync()          # once: what is missing is made, what is too much is deleted
    await operator.run()              # until it is cancelled

On a `WholeControlPlane` the pods run, and end as their annotations say.
"""

from controlplane.operators.dijob import DIOrchestrator
from controlplane.operators.mxjob import MXNetOperator
from controlplane.operators.operator import Operator, SyncReport
from controlplane.operators.resources import Child, Resource
from controlplane.operators.torchjob import TorchOnK8s
from controlplane.operators.vcjob import Volcano

__all__ = ["Child", "DIOrchestrator", "MXNetOperator", "Operator", "Resource", "SyncReport", "TorchOnK8s", "Volcano"]
