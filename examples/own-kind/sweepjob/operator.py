"""The profile of the operator sweeper."""

from jobgate.api import Operator

SWEEPER = Operator(
    name="sweeper",
    minor=31,
    pod_name="{job}-{task}-{index}",
    supports=frozenset({"queue", "suspend", "policies", "min_available", "depends_on"}),
)
