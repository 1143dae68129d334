"""The companion controller: creates and maintains the objects that the plugins of jobs declare.

- `jobs`: all jobs, as their crews
- `owned`: objects with our label, by job
- `territory`: the namespaces in which objects are created
- `present`: the existing pods of a job
- `desired`, `difference`: the objects that a job needs, and how they differ from existing ones
- `loop`: reconciles one job
- `queue`: the work queue
- `work`: runs caches, queue and workers; shared with the runner
- `statuses`: the status of prerequisites
- `metrics`: Prometheus metrics; shared with the runner
- `run`: the controller, with all its parts
"""

from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.run import Controller, ControllerSettings

__all__ = ["Controller", "ControllerMetrics", "ControllerSettings"]
