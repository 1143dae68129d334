"""The plugin `run`: the pods of a job that the runner runs get the variables that its kind promises.

No job asks for it, and no installation: whoever takes a job over does (`jobgate.dev/run-by`). All pods of an Indexed
Job come from one template, so what differs between them is put in here.
"""

from __future__ import annotations

from jobgate.plugins.arguments import Arguments
from jobgate.plugins.crew import Member
from jobgate.plugins.limits import MOST_PODS
from jobgate.plugins.plugin import Plugin
from jobgate.plugins.pod import Pod


class RunArguments(Arguments):
    """It takes none."""


class Run(Plugin[RunArguments]):
    """Sets the variables of the kind's contract."""

    name = "run"
    arguments = RunArguments
    imposed = True

    def wire(self, pod: Pod, member: Member, arguments: RunArguments) -> None:
        """Set the variables, unless their lists of hosts are too long for a pod."""
        del arguments
        if member.crew.size <= MOST_PODS:
            for variable in member.crew.contract(member):
                pod.promise(variable)
