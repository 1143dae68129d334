"""Queues: which jobs may run, and why others wait.

- `selectors`: whose turn it is; pure
- `admission`: which jobs are released; pure
- `demand`: what jobs ask for, and what ResourceQuotas leave to them; pure
- `file`: the file of queues
"""

from jobgate.runner.queues.admission import Amounts, Entry, Memory, Order, Queue, Queues, admit
from jobgate.runner.queues.demand import Demand, demand_of, left_to_jobs, present_of
from jobgate.runner.queues.file import InvalidQueues, read_queues
from jobgate.runner.queues.selectors import SelectorName

__all__ = [
    "Amounts",
    "Demand",
    "Entry",
    "InvalidQueues",
    "Memory",
    "Order",
    "Queue",
    "Queues",
    "SelectorName",
    "admit",
    "demand_of",
    "left_to_jobs",
    "present_of",
    "read_queues",
]
