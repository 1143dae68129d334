"""Ordinary jobs: those in which the built-in plugins surely find nothing, as the JSON of plain jobs shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from jobgate.jobs.crew import plugins_of
from jobgate.jobs.operator import operator_of
from jobgate.jobs.prerequisites import asked_of
from jobgate.names import dns_1035_label
from jobgate.plugins import BUILT_IN
from jobgate.plugins.paths import is_inside
from jobgate.plugins.ssh import SshArguments
from jobgate.plugins.svc import FOLDER
from jobgate.rules.tasks import names_have_room
from webhook import Context, Job

#: Most of anything in an ordinary job: its variables, host lists and weight are far below all limits of plugins.
_PODS, _TASKS, _CONTAINERS, _NAMES, _NAME, _TEXT = 64, 8, 4, 128, 50, 253
#: What of a pod's spec hosts are named by, or is a text of any length.
_NAMING: Final = frozenset({"hostname", "subdomain", "schedulerName"})
#: What says in a security context which users files have to be readable for.
_USERS: Final = frozenset({"runAsUser", "runAsNonRoot", "fsGroup"})
_NO_ARGUMENTS: Final[tuple[Any, ...]] = (None, [], {})
_PLUGINS: Final = {plugin.name: plugin for plugin in BUILT_IN if plugin.name in {"env", "svc", "ssh"}}
_FOLDERS: Final = (FOLDER, SshArguments().folder)


def is_ordinary(job: Job[Any], context: Context) -> bool:
    """Return whether the plugins that a plain job asks for surely find nothing in it."""
    if is_ordinary not in job.shared:
        job.shared[is_ordinary] = _is_ordinary(job, context)
    return bool(job.shared[is_ordinary])


def _is_ordinary(job: Job[Any], context: Context) -> bool:
    plugins, operator, name = job.said("plugins"), operator_of(job), context.name
    if not plugins or context.settings.plugins or asked_of(job) or job.said("volumes"):
        return False
    if not (len(name) <= _NAME and names_have_room(job, context) and not dns_1035_label(name)):
        return False
    if sum(job.said("tasks.replicas")) > _PODS or len(operator.pod_pattern(job)) > _TEXT:
        return False
    known = plugins_of(context)
    if any(
        one not in _PLUGINS or known.get(one) is not _PLUGINS[one] or arguments not in _NO_ARGUMENTS
        for one, arguments in plugins.items()
    ):
        return False
    if "ssh" in plugins and not (operator.service_name or "svc" in plugins):
        return False
    pods = [template["spec"] for template in job.said("tasks.template")]
    return _leave_room(name, pods, plugins) and (
        operator.members is None or len(str(operator.members.facts(job))) <= _TEXT
    )


def _leave_room(name: str, pods: Sequence[dict[str, Any]], plugins: Mapping[str, Any]) -> bool:
    """Return whether pods have little of everything, and nothing that is in the way of a plugin's files."""
    containers = [[*pod["containers"], *(pod.get("initContainers") or ())] for pod in pods]
    every = list(chain.from_iterable(containers))
    mounts = [mount["mountPath"] for one in every for mount in one.get("volumeMounts") or ()]
    volumes = [volume["name"] for pod in pods for volume in pod.get("volumes") or ()]
    contexts = (one.get("securityContext") or () for one in (*pods, *every))
    return (
        len(pods) <= _TASKS
        and max(map(len, containers), default=0) <= _CONTAINERS
        and len(mounts) + len(volumes) <= _NAMES
        and max(map(len, mounts), default=0) <= _TEXT
        and _NAMING.isdisjoint(chain.from_iterable(pods))
        and ("ssh" not in plugins or _USERS.isdisjoint(chain.from_iterable(contexts)))
        and {f"{name}-svc", f"{name}-ssh"}.isdisjoint(volumes)
        and not any(is_inside(path, folder) for path in {*mounts} for folder in _FOLDERS)
    )
