"""What users ask the runner to do with a job, by an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jobgate.kinds.common.operator import runs_here
from jobgate.kinds.common.pod.reading import mapping, metadata_of, text
from jobgate.kinds.common.policies.model import Action
from webhook import Cause, Context, Job, NotSupported, Path, Rule, rule

#: The annotation by which a user asks for an action, as `ResumeJob`; the runner removes it when that is done.
COMMAND: Final = "jobgate.dev/command"
#: Actions that a user may ask for, whatever the kind.
USER_ACTIONS: Final = {
    str(one): one
    for one in (Action.ABORT_JOB, Action.RESUME_JOB, Action.RESTART_JOB, Action.TERMINATE_JOB, Action.COMPLETE_JOB)
}


@rule(quiet=(f"annotations.{COMMAND}",))
def command_is_known(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The runner would ignore an unknown command: the job would go on as if nothing had been asked for."""
    asked = text(mapping(metadata_of(job.document).get("annotations")).get(COMMAND))
    if asked and asked not in USER_ACTIONS and runs_here(job, context):
        yield NotSupported((Path("metadata") / "annotations").key(COMMAND), asked, [*USER_ACTIONS])


command_rules: tuple[Rule, ...] = (command_is_known,)
