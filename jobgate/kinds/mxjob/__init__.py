"""MxJob: what mxnet-operator runs (https://github.com/deepinsight/mxnet-operator)."""

from collections.abc import Iterator

from jobgate.jobs.binding import bind
from jobgate.kinds.mxjob.accelerators import MxJobSettings
from jobgate.kinds.mxjob.defaults import DEFAULTS
from jobgate.kinds.mxjob.models import RESOURCE, MxJobSpec
from jobgate.kinds.mxjob.operator import MXNET_OPERATOR
from jobgate.kinds.mxjob.rules import RULES
from jobgate.kinds.mxjob.runner import RUNNER
from webhook import Path, Task

__all__ = ["MXJOB"]


def tasks(spec: MxJobSpec) -> Iterator[Task]:
    """Yield the neutral views of an MxJob's roles. A task is called as the operator calls it in names."""
    place = Path("spec") / "replicaSpecs"
    for index, role in enumerate(spec.replica_specs):
        path = place / index
        named = {"name": role.name} if "mx_replica_type" in role.__dict__ else {}
        yield Role(path, role, names={"type": "mx_replica_type"}, places={"name": path / "mxReplicaType"}, **named)


class Role(Task):
    """A role of an MxJob. What it is called follows from its type."""

    __slots__ = ()

    @property
    def broken(self) -> frozenset[str]:
        """The words that do not fit their schema and cannot be read."""
        broken = super().broken
        return broken | {"name"} if "type" in broken else broken


MXJOB = bind(
    RESOURCE,
    operator=MXNET_OPERATOR,
    tasks=tasks,
    defaults=DEFAULTS,
    rules=RULES,
    runner=RUNNER,
    parts="replica_specs",
    task_words={"type": "mx_replica_type", "name": lambda _, role: role["mxReplicaType"].lower()},
    settings=MxJobSettings,
)
