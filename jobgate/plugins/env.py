"""The plugins `env` and `run`: variables of a pod's place in its job, of its kind and of Volcano."""

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

#: Bytes of a variable in a pod, beside its name and value.
_EMPTY = len(json.dumps({"name": "", "value": ""})) - len(json.dumps(""))


class Env(Plugin[NoArguments]):
    """Sets variables of the pod's place in the job.

    `VC_TASK_INDEX` and `VK_TASK_INDEX` are Volcano's. Of the rest its users have said that they miss them.
    """

    name = "env"
    arguments = NoArguments

    def check(self, crew: Crew, arguments: NoArguments, path: Path) -> Iterator[Cause]:
        """Yield what containers could not be started with, or pods could not hold."""
        if crew.size > MOST_PODS:
            text = f"the job has {crew.size} pods, and the plugin supports at most {MOST_PODS}"
            yield Forbidden(path, text, crew.size)
            return
        members = (Member(crew, part, max(part.replicas - 1, 0)) for part in _one_of_each_type(crew))
        causes = (_too_large(list(crew.contract(member)), member.part, path) for member in members)
        if cause := next((one for one in causes if one), None):
            yield cause  # the other tasks' are hardly shorter

    def wire(self, pod: Pod, member: Member, arguments: NoArguments) -> None:
        """Set the variables of the kind's contract, and those of the place in the task and in the job.

        Variables of an unchecked job that no pod can hold are omitted.
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
    """Sets variables, labels and annotations of a kind, in the pods of jobs that jobgate runs.

    No job or installation asks for it. All pods of an Indexed Job come from one template, so what differs is set here.
    """

    name = "run"
    arguments = NoArguments
    imposed = True

    def wire(self, pod: Pod, member: Member, arguments: NoArguments) -> None:
        """Set labels and annotations, and the variables, unless their lists of hosts are too long for a pod."""
        marks = member.crew.marks(member)
        for key, value in marks.get("labels", {}).items():
            pod.label(key, value)
        for key, value in marks.get("annotations", {}).items():
            pod.annotate(key, value)
        if member.crew.size <= MOST_PODS:
            for variable in member.crew.contract(member):
                pod.promise(variable)


def _one_of_each_type(crew: Crew) -> Iterator[Part]:
    """Yield the part with the most containers of each type, which are promised the same: types are few."""
    most: dict[str, Part] = {}
    for part in crew.parts:
        found = most.setdefault(part.type or part.name, part)
        if len(part.containers) > len(found.containers):
            most[part.type or part.name] = part
    yield from most.values()


def _too_large(variables: list[Variable], part: Part, path: Path) -> Cause | None:
    for variable in variables:
        length = len(variable.name) + len(variable.value) + 2
        if length > VARIABLE_LIMIT:
            detail = f"a container cannot start with a variable larger than {VARIABLE_LIMIT}: use fewer pods"
            text = f"{short(variable.name)} would have {length} bytes in task {short(part.name)}; {detail}"
            return Forbidden(path, text, [variable.name, length])
    names = len(json.dumps([one.name for one in variables], separators=(",", ":")))
    each = names + sum(_EMPTY + len(one.value) for one in variables) - 1
    if each * len(part.containers) <= POD_LIMIT:
        return None
    return Forbidden(
        path,
        f"the variables would have {each} bytes in each of the {len(part.containers)} containers of task "
        f"{short(part.name)}, and the limit of a pod is {POD_LIMIT}: use fewer pods or fewer tasks",
        [each, len(part.containers)],
    )
