"""Small operators for tests and the demo: they make pods of jobs as the original of each kind does.

    operator = DIOrchestrator(plane.api())
    report = operator.sync()          # once: what is missing is made, what is too much is deleted
    await operator.run()              # until it is cancelled

What becomes of the pods is not theirs to say: on a `WholeControlPlane` these run, and end as their annotations say.
"""

from tests.operators.dijob import DIOrchestrator
from tests.operators.mxjob import MXNetOperator
from tests.operators.operator import Operator, Report
from tests.operators.resources import Child, Resource
from tests.operators.torchjob import TorchOnK8s
from tests.operators.vcjob import Volcano

__all__ = ["Child", "DIOrchestrator", "MXNetOperator", "Operator", "Report", "Resource", "TorchOnK8s", "Volcano"]
