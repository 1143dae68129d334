"""The rules of names: those of tasks, and those that Volcano derives from a job's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from jobgate.kinds.common.names import LABEL_LIMIT, dns_1035_label, dns_label
from jobgate.kinds.common.tasks import (
    GENERATED_SUFFIX,
    derived_names_are_legal,
    expected_name,
    task_names_are_labels,
    task_names_are_unique,
)
from jobgate.kinds.vcjob.models import JobSpec
from webhook import Cause, Context, Invalid, Job, Path, Required, Rule, TooLong, readable


def tasks_have_names(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano calls a task without a name by its place; a name that is written and empty cannot be overwritten."""
    for index, task in readable(job.spec.tasks, "name"):
        if task.name == "":
            path = Path("spec") / "tasks" / index / "name"
            yield Required(path, f"leave it out, and the task is called default{index}, or give a name")


def pod_names_are_short_enough(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """The name of a pod holds those of its job and its task, and is cut nowhere: the largest index counts.

    A job's name may hold dots, as a pod's may; what is called by it and may not is judged by the next rule.
    """
    yield from (cause for cause in derived_names_are_legal(job, context) if isinstance(cause, TooLong))


class Derived(NamedTuple):
    """Something that is called by its job.

    Attributes:
        maker: who asks for it, as a message says it.
        thing: what it is.
        name: its name, with `<job>` where the job's is.
        fault_of: what is wrong with such a name.
        extra: how many characters the name has beside the job's.
    """

    maker: str
    thing: str
    name: str
    fault_of: Callable[[str], str | None]
    extra: int


_BY_PLUGINS: Final = (
    Derived("plugin svc", "Service", "<job>", dns_1035_label, 0),
    Derived("plugin svc", "volume", "<job>-svc", dns_label, 4),
    Derived("plugin ssh", "volume", "<job>-ssh", dns_label, 4),
    Derived("plugin ray", "Service", "<job>-head-svc", dns_1035_label, 9),
)
_BY_VOLUMES: Final = Derived("spec.volumes", "volume", "<job>-<12 characters>", dns_label, 13)


def derived_objects_have_legal_names(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """Under a job's name that its Service or its volumes cannot have, the job would stay Pending."""
    name = expected_name(context)
    plugins = {f"plugin {plugin}" for plugin in job.spec.plugins or {}}
    derived = [one for one in _BY_PLUGINS if one.maker in plugins]
    derived += [_BY_VOLUMES] if job.spec.volumes else []
    if not name or not derived:
        return
    place, given = Path("metadata") / ("name" if context.name else "generateName"), context.name
    beginning = name[:LABEL_LIMIT].rstrip("-") or name
    faults = ((one, one.fault_of(beginning)) for one in derived)
    for one, fault in faults:
        if fault:
            yield Invalid(place, given or context.generate_name, f"{fault}: {_called(one)}")
            break
    longest = max(derived, key=lambda one: one.extra)
    room = LABEL_LIMIT - longest.extra
    if len(name) > room:
        limit = room if given else room - len(GENERATED_SUFFIX)
        detail = f"{_called(longest)}, of at most {LABEL_LIMIT} characters"
        yield TooLong(place, given or context.generate_name, limit, detail)


def _called(derived: Derived) -> str:
    return f"{derived.maker} makes a {derived.thing} {derived.name}"


name_rules: tuple[Rule, ...] = (
    tasks_have_names,
    task_names_are_unique,
    task_names_are_labels,
    pod_names_are_short_enough,
    derived_objects_have_legal_names,
)
