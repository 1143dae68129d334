"""Types of fields that several kinds have, each with its bounds.

Modules with models do not import `annotations` from `__future__`: Pydantic would compile the text of each annotation.
"""

from typing import Annotated, Any, TypeAlias

from crdgen import Atomic, Doc, Int32, MaxItems, Model, Scale
from crdgen.markers.types import Replace
from jobgate.jobs.policies import LifecyclePolicy
from jobgate.jobs.status import PhaseCondition
from jobgate.limits import ENTRIES_LIMIT
from jobgate.plugins import BUILT_IN

Number: TypeAlias = Annotated[int, Int32]
Count: TypeAlias = Annotated[int, Int32(minimum=0)]
Positive: TypeAlias = Annotated[int, Int32(minimum=1)]

Conditions: TypeAlias = Annotated[list[PhaseCondition], Atomic]
_Policies: TypeAlias = Annotated[list[LifecyclePolicy], Atomic, MaxItems(ENTRIES_LIMIT)]
JobPolicies: TypeAlias = Annotated[_Policies | None, Doc("Actions on events that no policy of a task handles.")]
TaskPolicies: TypeAlias = Annotated[
    _Policies | None, Doc("Actions on events of the task. They take precedence over the job's policies.")
]

#: Arguments by plugin, as a list of flags, a mapping, or null. Null is allowed, because the API server would silently
#: drop the entry otherwise, and the job would run without the plugin.
Plugins: TypeAlias = dict[
    str, Annotated[Any, Replace({"x-kubernetes-preserve-unknown-fields": True, "nullable": True})]
]

*_FIRST, _LAST = (plugin.name for plugin in BUILT_IN if not plugin.imposed)
PLUGINS_DOC = Doc(
    f"Plugins for the pods: {', '.join(_FIRST)} or {_LAST}, each with its arguments as a list of flags or a mapping."
)


class TaskScale(Model):
    """The number of pods of one task, where `kubectl scale` and autoscalers find it."""

    task: Annotated[str, Doc("Name of the task.")]
    replicas: Annotated[Positive, Doc("Number of its pods, instead of its own replicas.")]


class ScaleStatus(Model):
    """What autoscalers read."""

    replicas: Annotated[Count, Doc("Number of pods of the task that run or start.")] = 0
    selector: Annotated[str | None, Doc("Label selector of these pods.")] = None


#: The subresource `scale` of a kind with a list of tasks: fields of lists have no path.
SCALE_OF_TASK = Scale(
    replicas=".spec.scale.replicas", status_replicas=".status.scale.replicas", selector=".status.scale.selector"
)
