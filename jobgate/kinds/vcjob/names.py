"""The rules of names: those of tasks, and those that Volcano derives from a job's name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jobgate.kinds.common.plugins import derived_names
from jobgate.kinds.common.tasks import derived_names_are_legal
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.names import dns_1035_label, dns_label
from jobgate.plugins import Derived
from webhook import Cause, Context, Job, Path, Required, TooLong, readable, rule


@rule("tasks")
def tasks_have_names(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano calls a task without a name by its place; a name that is written and empty cannot be overwritten."""
    for index, task in readable(job.spec.tasks, "name"):
        if task.name == "":
            path = Path("spec") / "tasks" / index / "name"
            yield Required(path, f"set a name, or remove the field to use default{index}")


@rule(reads=("tasks.name", "tasks.replicas"))
def pod_names_are_short_enough(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """The name of a pod holds those of its job and its task, and is cut nowhere: the largest index counts.

    A job's name may hold dots, as a pod's may; what is called by it and may not is judged by the next rule.
    """
    yield from (cause for cause in derived_names_are_legal(job, context) if isinstance(cause, TooLong))


_BY_PLUGINS: Final = (
    Derived("plugin svc", "Service", "<job>", dns_1035_label, 0),
    Derived("plugin svc", "volume", "<job>-svc", dns_label, 4),
    Derived("plugin ssh", "volume", "<job>-ssh", dns_label, 4),
    Derived("plugin ray", "Service", "<job>-head-svc", dns_1035_label, 9),
)
_BY_VOLUMES: Final = Derived("spec.volumes", "volume", "<job>-<12 characters>", dns_label, 13)


@rule("plugins", "volumes")
def derived_objects_have_legal_names(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """Under a job's name that its Service or its volumes cannot have, the job would stay Pending."""
    plugins = {f"plugin {plugin}" for plugin in job.word("plugins") or {}}
    derived = [one for one in _BY_PLUGINS if one.maker in plugins]
    derived += [_BY_VOLUMES] if job.word("volumes") else []
    yield from derived_names(derived, context)
