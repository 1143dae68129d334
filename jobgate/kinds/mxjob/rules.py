"""The rules of an MxJob beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from jobgate.kinds.common.rules import shared_rules
from jobgate.kinds.common.updates import MayChange, Mutable
from jobgate.kinds.mxjob.accelerators import drivers_find_their_places
from jobgate.kinds.mxjob.checks import (
    derived_names_are_short_enough,
    distributed_jobs_can_name_a_service,
    each_role_is_played_by_one_element,
    respelled,
    role_rules,
    runtime_ids_are_labels,
    spelling_rules,
    template_rules,
    templates_have_a_main_container,
)
from jobgate.kinds.mxjob.models import MxJobSpec
from webhook import Cause, Context, Job

#: The operator erases what its types do not have when it fills in the runtime id.
_MAY_CHANGE = MayChange({"spec.plugins": Mutable.ALWAYS})


@_MAY_CHANGE.rule
def stored_jobs_stay_as_they_are(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator ignores changes of a stored job.

    Its own writes are allowed: another spelling is not a change, and neither is a value that it fills in.
    """
    if context.old is not None:
        stored = {**context.old, "spec": respelled(context.old.get("spec"), job.document.get("spec"))}
        yield from _MAY_CHANGE(job, replace(context, old=stored))


RULES = (
    *role_rules,
    templates_have_a_main_container,
    *spelling_rules,
    runtime_ids_are_labels,
    *shared_rules(
        {
            # Roles are the tasks, and their names are fixed.
            "task_names_are_unique": (each_role_is_played_by_one_element,),
            "task_names_are_labels": (),
            # The scheduler's Service, and the runtime id, are in the names.
            "derived_names_are_legal": (distributed_jobs_can_name_a_service, derived_names_are_short_enough),
            # The operator starts pods one by one: there is no gang.
            "a_gang_has_priorities_throughout": (),
        }
    ),
    *template_rules,
    drivers_find_their_places,
    stored_jobs_stay_as_they_are,
)
