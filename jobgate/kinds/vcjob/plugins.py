"""Rules for the plugins of Volcano Jobs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from jobgate.jobs.context import Context
from jobgate.jobs.crew import crew_of, plugins_of, requested
from jobgate.jobs.gangs import total_pods
from jobgate.jobs.job import Job
from jobgate.jobs.operator import runs_here
from jobgate.jobs.status import taken_over
from jobgate.kinds.vcjob.flags import PLUGINS, flags_of
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.volumes import mount_paths
from jobgate.plugins import parse
from jobgate.plugins.limits import POD_LIMIT, VARIABLE_LIMIT
from jobgate.plugins.ssh import SshArguments
from jobgate.plugins.svc import FOLDER
from jobgate.rules.tasks import expected_name
from webhook import Cause, NotFound, Notice, NotSupported, Path, rule

_PLACE: Final = Path("spec") / "plugins"


@rule("plugins")
def plugins_are_known(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano's plugins are compiled in: a job with an unknown plugin stays Pending."""
    for name in job.spec.plugins or ():
        if name not in PLUGINS:
            yield NotSupported(_PLACE.key(name), name, PLUGINS)


@rule("plugins")
def plugins_understand_their_arguments(job: Job[JobSpec], context: Context) -> Iterator[Cause | Notice]:
    """Plugins ignore an argument that they do not understand, and all arguments after it.

    If jobgate runs the job, another rule checks the arguments of jobgate's own plugins.
    """
    plugins = job.spec.plugins or {}
    if not any(plugins.values()):
        return
    own = plugins_of(context) if runs_here(job, context) else {}
    for name, arguments in plugins.items():
        if not arguments or (model := PLUGINS.get(name)) is None or name in own:
            continue
        _, causes = parse(model, name, arguments, _PLACE.key(name))
        for cause in causes:
            if (name, cause.value) == ("ssh", "--no-root"):  # a removed flag, which working manifests still have
                detail = "ssh no longer has the flag --no-root, and ignores all arguments after it: remove it"
                yield Notice(cause.path, detail)
            else:
                yield cause


#: The task that each plugin needs: the flag that names the task, and the consequence if the job lacks it.
_LEADERS: Final = {
    "mpi": ("master", "mpi needs it to start the workers"),
    "pytorch": ("master", "pytorch does nothing without it"),
    "ray": ("head", "ray fails without it, so that the job stays Pending"),
}


@rule("plugins")
def leading_tasks_are_there(job: Job[JobSpec], _: Context) -> Iterator[Cause | Notice]:
    """The plugin of a framework finds the leading task by name. Volcano rejects only MPI jobs without it."""
    plugins = job.spec.plugins or {}
    if _LEADERS.keys().isdisjoint(plugins):
        return
    names = {task.name for task in job.all_tasks}
    for plugin, (flag, consequence) in _LEADERS.items():
        leader = flags_of(plugin, plugins[plugin])[flag] if plugin in plugins else None
        if leader is not None and leader not in names:
            detail = f"no task has this name, and {consequence}: rename a task, or name one with --{flag}=<task>"
            cause = NotFound(_PLACE.key(plugin), leader, detail)
            yield cause if plugin == "mpi" else Notice(cause.path, cause.message)


@rule("plugins")
def the_runner_carries_out_the_arguments(job: Job[JobSpec], context: Context) -> Iterator[Cause | Notice]:
    """If jobgate runs the job, its own plugins check the job, as in jobs of other kinds.

    Keys in the arguments of ssh are ignored, not denied, because existing jobs of Volcano have them.
    """
    if not runs_here(job, context):
        return
    plugins, written = plugins_of(context), job.spec.plugins or {}
    yield from requested(job, plugins)[1]
    run = Job(job.kind, taken_over(job.document), job.spec)
    crew = crew_of(run, context.namespace, expected_name(context), plugins=plugins)
    for name, arguments in crew.plugins.items():
        if name not in written:
            continue
        path = _PLACE.key(name)
        if isinstance(arguments, SshArguments):
            yield from _ignored_keys(arguments, path)
            arguments = arguments.model_copy(update=dict.fromkeys(_KEYS))  # noqa: PLW2901 - without the keys
        yield from plugins[name].check(crew, arguments, path)


#: The arguments of ssh with keys, which everyone who can read the job can read.
_KEYS: Final = ("ssh_private_key", "ssh_public_key")


def _ignored_keys(arguments: SshArguments, path: Path) -> Iterator[Notice]:
    for field in _KEYS:
        if getattr(arguments, field) is not None:
            flag = field.replace("_", "-")
            text = "it generates a key pair for the job. For your own, use --ssh-key-secret"
            yield Notice(path, f"the runner ignores --{flag}: {text}")


@rule("plugins")
def host_lists_have_room(job: Job[JobSpec], context: Context) -> Iterator[Cause | Notice]:
    """Volcano does not check the size of svc's host lists, or whether the user has a volume with the same name."""
    if "svc" not in (job.spec.plugins or ()) or runs_here(job, context):
        return
    name = expected_name(context)
    if job.fits and _host_lists_surely_fit(job, name):
        return
    plugins = plugins_of(context)
    crew = crew_of(job, context.namespace, name, plugins=plugins)
    if "svc" in crew.plugins:
        yield from plugins["svc"].check(crew, crew.plugins["svc"], _PLACE.key("svc"))


#: Characters of a host name in addition to the names of job, Service and task: dashes, a dot, an index, a separator.
_AROUND_A_HOST: Final = 16
#: Bytes of the references to the variables of a task in a container, in addition to the names.
_AROUND_REFERENCES: Final = 256


def _host_lists_surely_fit(job: Job[JobSpec], name: str) -> bool:
    """Return True only if svc would find no fault: a fast check that lists are short, and no volume collides."""
    folder, reserved = posixpath.basename(FOLDER), f"{name}-svc"
    if any(folder in path for path in mount_paths(job)):
        return False
    most_containers = 0
    for task in job.tasks:
        pod = task.template["spec"]
        if "hostname" in pod or "subdomain" in pod:
            return False
        if "volumes" in pod and reserved in [volume["name"] for volume in pod["volumes"] or ()]:
            return False
        most_containers = max(most_containers, len(pod["containers"]) + len(pod.get("initContainers") or ()))
    tasks, pods = len(job.tasks), total_pods(job)
    longest = max([len(task.name or "") for task in job.tasks])
    # An upper bound: the size if all lists were in one variable.
    lists = pods * (2 * len(name) + longest + _AROUND_A_HOST) + tasks * (longest + _AROUND_A_HOST)
    references = tasks * (2 * len(name) + 4 * longest + _AROUND_REFERENCES) * most_containers
    return lists <= VARIABLE_LIMIT and references <= POD_LIMIT
