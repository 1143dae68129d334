"""Lifecycle policies, as Volcano knows them: what is done to a job when something happens to its pods.

For an event Volcano goes through the list of the task whose pod raised it, then through the job's, each in order, and
the first policy that matches counts. So each list is judged on its own.
"""

from jobgate.kinds.common.durations import DURATION
from jobgate.kinds.common.policies.model import LifecyclePolicy
from jobgate.kinds.common.policies.rules import policy_rules

__all__ = ["DURATION", "LifecyclePolicy", "policy_rules"]
