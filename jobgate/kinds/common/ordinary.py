"""Ordinary jobs: those in which plugins surely find nothing, as the JSON of plain jobs shows at little cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from jobgate.kinds.common.crew import plugins_of
from jobgate.kinds.common.operator import Operator, operator_of
from jobgate.kinds.common.prerequisites import asked_of
from jobgate.kinds.common.tasks import names_have_room
from jobgate.names import dns_1035_label
from jobgate.plugins.plugin import Outline
from webhook import Context, Job

#: Most of anything in an ordinary job: its variables, host lists and weight are far below all limits of plugins.
_PODS, _TASKS, _CONTAINERS, _NAMES, _NAME, _TEXT = 64, 8, 4, 128, 50, 253
#: What of a pod's spec hosts are named by, or is a text of any length.
_NAMING: Final = frozenset({"hostname", "subdomain", "schedulerName"})
#: What says in a security context which users files have to be readable for.
_USERS: Final = frozenset({"runAsUser", "runAsNonRoot", "fsGroup"})
_NO_ARGUMENTS: Final[tuple[Any, ...]] = (None, [], {})


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
    outline = _outline(operator, name, plugins, [template["spec"] for template in job.said("tasks.template")])
    known = plugins_of(context)
    return (
        outline is not None
        and all(
            one in known and arguments in _NO_ARGUMENTS and known[one].finds_nothing(outline)
            for one, arguments in plugins.items()
        )
        and (operator.members is None or len(str(operator.members.facts(job))) <= _TEXT)
    )


def _outline(operator: Operator, name: str, plugins: Any, pods: Sequence[dict[str, Any]]) -> Outline | None:
    """Return the outline of a job with these pods, or None where there is too much of something."""
    containers = [[*pod["containers"], *(pod.get("initContainers") or ())] for pod in pods]
    every = list(chain.from_iterable(containers))
    mounts = [mount["mountPath"] for one in every for mount in one.get("volumeMounts") or ()]
    volumes = [volume["name"] for pod in pods for volume in pod.get("volumes") or ()]
    if (
        len(pods) > _TASKS
        or max(map(len, containers), default=0) > _CONTAINERS
        or len(mounts) + len(volumes) > _NAMES
        or max(map(len, mounts), default=0) > _TEXT
        or not _NAMING.isdisjoint(chain.from_iterable(pods))
    ):
        return None
    users = _USERS.isdisjoint(chain.from_iterable(one.get("securityContext") or () for one in (*pods, *every)))
    return Outline(
        name, frozenset(plugins), bool(operator.service_name), frozenset(volumes), frozenset(mounts), not users
    )
