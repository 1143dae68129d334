"""How a job asks for plugins and for prerequisites."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from crdgen import Doc
from crdgen.markers.types import Replace
from jobgate.prerequisites.reference import ANNOTATION, WORD, ReferenceFields, TaskReferences, asked
from webhook import Job, Kind
from webhook.plan import Plan

#: By plugin: its arguments, as a list of flags or as a mapping, or nothing. Null is taken, because where it is not the
#: API server drops the entry without a word, and the job runs without the plugin.
Plugins: TypeAlias = dict[
    str, Annotated[Any, Replace({"x-kubernetes-preserve-unknown-fields": True, "nullable": True})]
]

PLUGINS_DOC = Doc("Plugins for the pods: env, svc or ssh, each with its arguments as a list of flags or a mapping.")

#: A job that says none of these words names no prerequisites.
NAMING = (WORD, f"tasks.{WORD}", f"annotations.{ANNOTATION}", "tasks.template.metadata")


def where(kind: Kind) -> ReferenceFields:
    """Return where the jobs of a kind name prerequisites."""
    return _where(kind.plan, kind.parts)


def asked_of(job: Job[Any]) -> list[TaskReferences]:
    """Return which prerequisites a job's tasks name, read for the first rule that asks."""
    if asked not in job.shared:
        job.shared[asked] = list(asked(job.document, where(job.kind)))
    found: list[TaskReferences] = job.shared[asked]
    return found


@lru_cache(maxsize=64)
def _where(plan: Plan, parts: str) -> ReferenceFields:
    tasks = tuple(str(step) for step in plan.word(parts).path.steps)
    return ReferenceFields(tasks, in_spec=bool(plan.word(WORD).attributes))
