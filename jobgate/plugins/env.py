"""The plugins `env` and `run`: variables with a pod's place in its job, and those of the kind and of Volcano."""

from __future__ import annotations

import json
from collections.abc import Iterator

from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.crew import Crew, Member, Part, Variable
from jobgate.plugins.limits import MOST_PODS, POD_LIMIT, VARIABLE_LIMIT
from jobgate.plugins.plugin import Plugin
from jobgate.plugins.pod import Pod
from webhook import Cause, Forbidden, Path
from webhook.text import short

#: Bytes of a variable in a pod, without its name and value.
_EMPTY = len(json.dumps({"name": "", "value": ""})) - len(json.dumps(""))


class Env(Plugin[NoArguments]):
    """Sets variables with the pod's place in the job.

    `VC_TASK_INDEX` and `VK_TASK_INDEX` are Volcano's. Users of Volcano have asked for the others.
    """

    name = "env"
    arguments = NoArguments

    def check(self, crew: Crew, arguments: NoArguments, path: Path) -> Iterator[Cause]:
        """Yield a cause if the variables are too large for a container or a pod."""
        if crew.size > MOST_PODS:
            text = f"the job has {crew.size} pods, and the plugin supports at most {MOST_PODS}"
            yield Forbidden(path, text, crew.size)
            return
        members = (Member(crew, part, max(part.replicas - 1, 0)) for part in _largest_of_each_type(crew))
        causes = (_too_large(list(crew.contract(member)), member.part, path) for member in members)
        if cause := next(filter(None, causes), None):
            yield cause  # the variables of the other tasks are hardly shorter

    def wire(self, pod: Pod, member: Member, arguments: NoArguments) -> None:
        """Set the variables of the kind's contract, and those with the place in the task and in the job.

        If the job was not checked, and the contract's variables are too large for a pod, they are omitted.
        """
        contract = list(member.crew.contract(member)) if member.crew.size <= MOST_PODS else []
        if _too_large(contract, member.part, Path()) is None:
            for variable in contract:
                pod.promise(variable)
        for name in ("VK_TASK_INDEX", "VC_TASK_INDEX"):
            pod.variable(name, str(member.index))
        pod.variable("VC_TASK_NAME", member.part.name)
        pod.variable("VC_TASK_SIZE", str(member.part.replicas))
        pod.variable("VC_JOB_NAME", member.crew.name)
        pod.variable("VC_GLOBAL_RANK", str(member.rank))
        pod.variable("VC_GLOBAL_SIZE", str(member.crew.size))


class Run(Plugin[NoArguments]):
    """Sets variables, labels and annotations of a kind in the pods of jobs that jobgate runs.

    jobgate itself adds it to these jobs. All pods of an Indexed Job come from one template: it sets what differs.
    """

    name = "run"
    arguments = NoArguments
    imposed = True

    def wire(self, pod: Pod, member: Member, arguments: NoArguments) -> None:
        """Set labels, annotations and, unless the job has too many pods, the variables."""
        marks = member.crew.marks(member)
        for key, value in marks.get("labels", {}).items():
            pod.label(key, value)
        for key, value in marks.get("annotations", {}).items():
            pod.annotate(key, value)
        if member.crew.size <= MOST_PODS:
            for variable in member.crew.contract(member):
                pod.promise(variable)


def _largest_of_each_type(crew: Crew) -> Iterator[Part]:
    """Yield the part with the most containers of each type. Parts of one type get the same variables."""
    largest: dict[str, Part] = {}
    for part in crew.parts:
        so_far = largest.setdefault(part.type or part.name, part)
        if len(part.containers) > len(so_far.containers):
            largest[part.type or part.name] = part
    yield from largest.values()


def _too_large(variables: list[Variable], part: Part, path: Path) -> Cause | None:
    for variable in variables:
        length = len(variable.name) + len(variable.value) + 2
        if length > VARIABLE_LIMIT:
            detail = f"a container cannot start with a variable larger than {VARIABLE_LIMIT}: use fewer pods"
            text = f"{short(variable.name)} would have {length} bytes in task {short(part.name)}; {detail}"
            return Forbidden(path, text, [variable.name, length])
    names = len(json.dumps([variable.name for variable in variables], separators=(",", ":")))
    size = names + sum(_EMPTY + len(variable.value) for variable in variables) - 1
    if size * len(part.containers) <= POD_LIMIT:
        return None
    return Forbidden(
        path,
        f"the variables would have {size} bytes in each of the {len(part.containers)} containers of task "
        f"{short(part.name)}, and the limit of a pod is {POD_LIMIT}: use fewer pods or fewer tasks",
        [size, len(part.containers)],
    )
