"""The rules of an MxJob beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jobgate.kinds.common.plugins import plugin_rules
from jobgate.kinds.common.templates import pod_template_rules
from jobgate.kinds.common.updates import MayChange, When
from jobgate.kinds.mxjob.batch import batch_rules
from jobgate.kinds.mxjob.drivers import drivers_find_their_places
from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.kinds.mxjob.names import name_rules
from jobgate.kinds.mxjob.roles import role_rules
from jobgate.kinds.mxjob.spellings import respelled, spelling_rules
from jobgate.kinds.mxjob.variables import variable_rules
from webhook import Cause, Context, Job

#: The operator erases what its types do not have when it fills in the runtime id.
_MAY_CHANGE = MayChange({"spec.plugins": When.ALWAYS})


def stored_jobs_stay_as_they_are(job: Job[MxJobSpec], context: Context) -> Iterator[Cause]:
    """The operator passes over edits: who makes one should know that nothing comes of it.

    The operator's own writes go through: a spelling is no change, nor is what it fills in where nothing stood.
    """
    if context.old is not None:
        stored = {**context.old, "spec": respelled(context.old.get("spec"), job.document.get("spec"))}
        yield from _MAY_CHANGE(job, replace(context, old=stored))


RULES = (
    *role_rules,
    *spelling_rules,
    *name_rules,
    *batch_rules,
    *variable_rules,
    drivers_find_their_places,
    *plugin_rules,
    stored_jobs_stay_as_they_are,
    *pod_template_rules,
)
