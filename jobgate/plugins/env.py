"""The plugin `env`: a pod learns which one it is, by its kind's own variables and by those of Volcano."""

from __future__ import annotations

from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Member
from jobgate.plugins.plugin import Plugin
from jobgate.plugins.pod import Pod


class EnvArguments(Arguments):
    """It takes none."""


class Env(Plugin[EnvArguments]):
    """Sets variables of the pod's place in the job.

    `VC_TASK_INDEX` and `VK_TASK_INDEX` are Volcano's. Of the rest its users have said that they miss them.
    """

    name = "env"
    arguments = EnvArguments

    def wire(self, pod: Pod, member: Member, arguments: EnvArguments) -> None:
        """Set the variables of the kind's contract, and those of the place in the task and in the job."""
        del arguments
        for variable in member.crew.contract(member):
            pod.promise(variable)
        for name in ("VK_TASK_INDEX", "VC_TASK_INDEX"):
            pod.variable(name, str(member.index))
        pod.variable("VC_TASK_NAME", member.part.name)
        pod.variable("VC_TASK_SIZE", str(member.part.replicas))
        pod.variable("VC_JOB_NAME", member.crew.name)
        pod.variable("VC_GLOBAL_RANK", str(member.rank))
        pod.variable("VC_GLOBAL_SIZE", str(member.crew.size))
