"""What users ask the runner to do with a job, by an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jobgate.jobs.operator import runs_here
from jobgate.jobs.policies import COMMAND, USER_ACTIONS
from webhook import Cause, Context, Job, NotSupported, Path, Rule, rule
from webhook.values import mapping, metadata_of, text


@rule(quiet=(f"annotations.{COMMAND}",))
def command_is_known(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The runner would ignore an unknown command: the job would go on as if nothing had been asked for."""
    asked = text(mapping(metadata_of(job.document).get("annotations")).get(COMMAND))
    if asked and asked not in USER_ACTIONS and runs_here(job, context):
        yield NotSupported((Path("metadata") / "annotations").key(COMMAND), asked, [*USER_ACTIONS])


command_rules: tuple[Rule, ...] = (command_is_known,)
