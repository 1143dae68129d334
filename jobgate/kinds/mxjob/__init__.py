"""MxJob: the jobs of mxnet-operator (https://github.com/deepinsight/mxnet-operator)."""

from collections.abc import Iterator
from typing import Any, Final

from jobgate.jobs.binding import bind
from jobgate.jobs.task import Task
from jobgate.kinds.mxjob.accelerators import MxJobSettings
from jobgate.kinds.mxjob.defaults import DEFAULTS
from jobgate.kinds.mxjob.models import RESOURCE, MxJobSpec
from jobgate.kinds.mxjob.operator import MXNET_OPERATOR
from jobgate.kinds.mxjob.rules import RULES
from jobgate.kinds.mxjob.runner import MxJobRunner
from webhook import Path

__all__ = ["MXJOB"]


#: The fields of tasks that an MxJob takes from the role's type.
_NAMES: Final = {"type": "mx_replica_type", "name": "mx_replica_type"}


def tasks(spec: MxJobSpec) -> Iterator[Task]:
    """Yield the roles of an MxJob as tasks, with the names that the operator uses for objects."""
    path = Path("spec") / "replicaSpecs"
    for index, role in enumerate(spec.replica_specs):
        fixed: dict[str, Any] = {"name": role.name} if "mx_replica_type" in role.__dict__ else {}
        yield Task(path / index, role, _NAMES, **fixed)


MXJOB = bind(
    RESOURCE,
    operator=MXNET_OPERATOR,
    tasks=tasks,
    defaults=DEFAULTS,
    rules=RULES,
    runner=MxJobRunner(),
    fields={
        "tasks": "replica_specs",
        "tasks.type": "replica_specs.mx_replica_type",
        "tasks.name": "replica_specs.mx_replica_type",
    },
    settings=MxJobSettings,
)
