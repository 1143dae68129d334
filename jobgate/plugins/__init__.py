"""Plugins: features that a job requests for its pods.

- `crew`: a job and a pod as plugins see them
- `plugin`: the base class of plugins, and the objects that they declare
- `arguments`: their arguments
- `pod`: a pod while it is wired
- `limits`, `weight`: how much can be put into a pod, and how much memory a job may take
- `paths`: paths in containers, and volumes of users that collide with those of a plugin
- the built-in plugins, listed in `BUILT_IN`; the installation sets those that are `imposed`

A package adds a `Plugin` by the entry point `jobgate.plugins`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jobgate.packages import Provided, provided, usable
from jobgate.plugins.arguments import Arguments, Takes, parse
from jobgate.plugins.crew import INDEX_LABEL, TASK_LABEL, Crew, CrewContainer, Member, Part, Variable
from jobgate.plugins.env import Env, Run
from jobgate.plugins.plugin import (
    CONFIG_MAP,
    NETWORK_POLICY,
    SECRET,
    SERVICE,
    Declared,
    Derived,
    ObjectType,
    Plugin,
)
from jobgate.plugins.pod import Pod
from jobgate.plugins.queueing import Queueing
from jobgate.plugins.ssh import Ssh
from jobgate.plugins.svc import Svc

__all__ = [
    "BUILT_IN",
    "CONFIG_MAP",
    "ENTRY_POINT",
    "NETWORK_POLICY",
    "SECRET",
    "SERVICE",
    "Arguments",
    "Crew",
    "CrewContainer",
    "Declared",
    "Derived",
    "Member",
    "ObjectType",
    "Part",
    "Plugin",
    "Pod",
    "Takes",
    "Variable",
    "carried_out",
    "installed",
    "lacking",
    "of_packages",
    "offered",
    "parse",
    "wire",
]

#: In the order in which they wire a pod; plugins of packages come after them, sorted by name.
BUILT_IN: tuple[Plugin[Any], ...] = (Run(), Env(), Queueing(), Svc(), Ssh())
ENTRY_POINT = "jobgate.plugins"


@cache
def installed() -> Mapping[str, Plugin[Any]]:
    """Return the built-in plugins and those of packages by name, in the order in which they are applied."""
    available = [*BUILT_IN, *sorted(usable(of_packages()), key=lambda plugin: plugin.name)]
    return {plugin.name: plugin for plugin in available}


@cache
def of_packages() -> Sequence[Provided[Plugin[Any]]]:
    """Return the entry points of installed packages; one whose plugin has the name of another is unusable."""
    names = [plugin.name for plugin in BUILT_IN]
    entries: list[Provided[Plugin[Any]]] = []
    for entry in provided(ENTRY_POINT, Plugin):
        name = entry.value.name if entry.value is not None else ""
        entries.append(entry.clashing(f"cannot be used: two plugins are named {name}") if name in names else entry)
        names.append(name or entry.target)
    return entries


def lacking() -> list[str]:
    """Return a sentence for each plugin of a package that cannot be used."""
    return [str(entry) for entry in of_packages() if entry.fault]


def offered() -> list[str]:
    """Return the names of the plugins that jobs can request."""
    return [name for name, plugin in installed().items() if not plugin.imposed]


def carried_out(crew: Crew) -> Iterator[tuple[Plugin[Any], Any]]:
    """Yield the plugins of a job that its operator does not implement itself, with their arguments, in order."""
    ours = crew.ours
    return ((plugin, ours[name]) for name, plugin in installed().items() if name in ours)


def wire(pod: Pod) -> None:
    """Apply to a pod the plugins that its job requests and its operator does not implement itself."""
    crew, member = pod.member.crew, pod.member
    if crew.marked:
        for key, value in {**crew.labels, TASK_LABEL: member.part.name, INDEX_LABEL: str(member.index)}.items():
            pod.label(key, value)
    for plugin, arguments in carried_out(crew):
        plugin.wire(pod, member, arguments)
    pod.write()
