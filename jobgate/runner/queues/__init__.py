"""Queues: which jobs may run, and why others wait.

- `selectors`: whose turn it is; pure
- `admission`: which jobs are released; pure
"""

from jobgate.runner.queues.admission import Admission, Amounts, Entry, Memory, Order, Queue, Queues, admit
from jobgate.runner.queues.selectors import SELECTORS, Selector, SelectorName, Turns

__all__ = [
    "SELECTORS",
    "Admission",
    "Amounts",
    "Entry",
    "Memory",
    "Order",
    "Queue",
    "Queues",
    "Selector",
    "SelectorName",
    "Turns",
    "admit",
]
