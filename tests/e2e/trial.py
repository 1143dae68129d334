"""Kinds in other API groups, for tests beside the shared kinds.

A Volcano Job in two versions, as of an older jobgate and of this one, and a DIJob.
"""

from typing import Annotated

from msgspec.structs import replace

from crdgen import Atomic, Int32, MinItems, Model, Names, PodTemplate, Version
from jobgate.jobs.binding import bind
from jobgate.jobs.policies import LifecyclePolicy
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.dijob import models as dijob
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.models import RESOURCE, JobSpec, JobStatus
from jobgate.kinds.vcjob.operator import VOLCANO
from jobgate.kinds.vcjob.rules import MAY_CHANGE

GROUP = "trial.example.com"
NAMES = Names(kind="TrialJob")


class OlderTask(Model):
    """A task with fewer fields."""

    name: str | None = None
    replicas: Annotated[int, Int32(minimum=0)] = 0
    min_available: Annotated[int | None, Int32(minimum=0)] = None
    template: Annotated[PodTemplate, "What the pods of the task are made from."]


class OlderSpec(Model):
    """A job with fewer fields."""

    min_available: Annotated[int | None, Int32(minimum=0)] = None
    tasks: Annotated[list[OlderTask], Atomic, MinItems(1)]
    policies: Annotated[list[LifecyclePolicy] | None, Atomic] = None


#: Without newer fields, with only the defaults of the schema, and with one rule.
OLDER = bind(
    replace(RESOURCE, group=GROUP, names=NAMES, versions=(Version("v1alpha1", spec=OlderSpec, status=JobStatus),)),
    operator=VOLCANO,
    rules=(MAY_CHANGE.rule(),),
)

#: As in this version of jobgate.
NEWER = bind(
    replace(RESOURCE, group=GROUP, names=NAMES, versions=(Version("v1alpha1", spec=JobSpec, status=JobStatus),)),
    operator=VOLCANO,
    defaults=VCJOB.defaults,
    rules=VCJOB.rules,
)

#: A DIJob with all defaults and rules.
ADOPTED = bind(
    replace(dijob.RESOURCE, group="adopted.example.com", names=Names(kind="DIJob")),
    operator=DI_ORCHESTRATOR,
    defaults=DIJOB.defaults,
    rules=DIJOB.rules,
)
