"""The companion controller: makes the objects that the plugins of jobs declare, and keeps them so.

- `jobs`: all jobs, as their crews
- `owned`: the objects that carry our label, by job
- `territory`: the namespaces in which anything is made
- `desired`: what has to be there beside a job
- `difference`: what is to be done with what is there in its place
- `loop`: one look at one job
- `queue`, `pace`: which job next, and how often the API server is called at most
- `work`: the loop of caches, queue and workers, which the runner shares
- `statuses`: the status of prerequisites
- `events`, `metrics`: what others see of it
- `run`: its life
"""

from jobgate.controller.metrics import ControllerMetrics
from jobgate.controller.run import Cluster, Controller, Settings

__all__ = ["Cluster", "Controller", "ControllerMetrics", "Settings"]
