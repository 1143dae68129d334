"""The companion controller: creates and maintains the objects that the plugins of jobs declare.

- `jobs`: all jobs, as their crews
- `owned`: objects with our label, by job
- `territory`: the namespaces in which objects are created
- `present`: the pods of a job that exist
- `desired`, `difference`: the objects that a job needs, and what to do with what exists
- `loop`: reconciles one job
- `queue`: the work queue
- `work`: runs caches, queue and workers; shared with the runner
- `statuses`: the status of prerequisites
- `events`, `metrics`: Events and metrics; shared with the runner
- `run`: puts all of it together
"""

from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.run import Controller, ControllerSettings

__all__ = ["Controller", "ControllerMetrics", "ControllerSettings"]
