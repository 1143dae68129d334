"""The profile of sweeper: what it makes of a SweepJob."""

from jobgate.jobs.operator import Operator

SWEEPER = Operator(
    name="sweeper",
    minor=31,
    pod_name="{job}-{task}-{index}",
    supports=frozenset({"queue", "suspend", "policies", "min_available", "depends_on"}),
)
