"""The content that resolved items add to a pod: hooks in the order in which they run, mounts, variables, plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from jobgate.names import dns_subdomain
from jobgate.prerequisites.item import hash_of, leaves
from jobgate.prerequisites.models import Fetch, TaskEvent
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.resolve import Instance, Resolution
from jobgate.prerequisites.script import DATA, Hook, rendered_size, substituted

#: Maximum size of all commands of a pod, in bytes. Linux accepts an argument of 131,071 bytes; quoting lengthens it.
COMMANDS_LIMIT: Final = 32 * 1024
#: Maximum size of all other content of a pod, with values, in bytes: a text may repeat a placeholder many times.
TEXTS_LIMIT: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class Mount:
    """A claim that is mounted at a path for the instance `by`."""

    claim: str
    path: str
    sub_path: str
    read_only: bool
    by: Instance = field(compare=False)


@dataclass(frozen=True, slots=True)
class Injection:
    """The content to add to a pod.

    Attributes:
        hooks: in the order in which they run: at the start in the order of resolution, at the end reversed.
        mounts: parents before their subfolders.
        env: variables, by name.
        plugins: arguments of plugins, by name.
    """

    hooks: tuple[Hook, ...] = ()
    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    plugins: Mapping[str, Any] = field(default_factory=dict)


def content_of(resolution: Resolution) -> tuple[Injection, list[PrerequisiteProblem]]:
    """Return the content that resolved items add to a pod, and their conflicts."""
    merge = _Merge()
    for instance in resolution.instances:
        if merge.fits(instance):
            merge.add(instance)
    return merge.content(), merge.problems


@dataclass(slots=True)
class _Merge:
    """Collects the content for a pod; if two parts conflict, the first stays."""

    problems: list[PrerequisiteProblem] = field(default_factory=list)
    starts: list[Hook] = field(default_factory=list)
    ends: list[Hook] = field(default_factory=list)
    mounts: dict[str, Mount] = field(default_factory=dict)
    env: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    plugins: dict[str, Any] = field(default_factory=dict)
    commands: int = 0
    texts: int = 0

    @property
    def full(self) -> bool:
        """Whether the content is too large for a pod."""
        return self.commands > COMMANDS_LIMIT or self.texts > TEXTS_LIMIT

    def fits(self, instance: Instance) -> bool:
        """Count the size of an instance without inserting its values, which may take gigabytes."""
        for place, text in leaves(instance.item.spec):
            if self.full:
                return False
            size = rendered_size(text, instance.values)
            if place.startswith(("cmd.", "fetch.")):
                self.commands += size + 1
            else:
                self.texts += size
        return not self.full

    def add(self, instance: Instance) -> None:
        """Add the content of an instance."""
        variables = _rendered(instance, instance.item.spec.env or ())
        if (mount := _mount(instance)) is not None:
            self._mount(instance, mount)
            if (fetch := instance.item.spec.fetch) is not None:
                hook = _fetch_hook(instance, fetch, mount)
                self.starts.append(hook)
                variables = [{"name": fetch.path_variable, "value": f"{hook.folder}/{DATA}"}, *variables]
        for hook in _hooks(instance):
            (self.starts if hook.event == TaskEvent.TASK_STARTS.value else self.ends).append(hook)
        for variable in variables:
            if not isinstance(variable.get("name"), str):
                continue  # the item's own faults report it
            if self.env.setdefault(variable["name"], variable) != variable:
                detail = f"variable {variable['name']} has another value in an item before it"
                self._problem(ProblemReason.ENV_CONFLICT, instance, detail)
        if (use := instance.item.spec.plugin) is not None:
            arguments = _rendered(instance, use.arguments)
            if self.plugins.setdefault(use.name, arguments) != arguments:
                detail = f"plugin {use.name} has other arguments in an item before it"
                self._problem(ProblemReason.PLUGIN_CONFLICT, instance, detail)

    def _mount(self, instance: Instance, mount: Mount) -> None:
        if fault := _fault_of(mount):
            self._problem(ProblemReason.INVALID_VALUE, instance, fault)
        elif (first := self.mounts.setdefault(mount.path, mount)) != mount:
            detail = (
                f"{_description(mount)}, and {first.by.item.shown} {_description(first)}: give one of them another "
                "mountPath"
            )
            self._problem(ProblemReason.MOUNT_CONFLICT, instance, detail)

    def _problem(self, reason: ProblemReason, instance: Instance, detail: str) -> None:
        self.problems.append(PrerequisiteProblem(reason, instance.chain, detail, instance.place))

    def content(self) -> Injection:
        """Return the whole content."""
        hooks = (*self.starts, *reversed(self.ends))
        sizes = (("commands", self.commands, COMMANDS_LIMIT), ("other texts", self.texts, TEXTS_LIMIT))
        for name, size, limit in sizes:
            if size > limit:
                detail = f"the {name} of all items have more than {limit} bytes"
                self.problems.append(PrerequisiteProblem(ProblemReason.TOO_LARGE, (), detail))
        ordered = sorted(self.mounts.values(), key=lambda mount: mount.path.count("/"))
        return Injection(hooks, tuple(ordered), self.env, self.plugins)


def _hooks(instance: Instance) -> Iterator[Hook]:
    """Yield a hook for each event: the callbacks of an event are one script."""
    spec = instance.item.spec
    by_event: dict[TaskEvent, list[str]] = {}
    for callback in spec.cmd.callbacks if spec.cmd else ():
        lines = (substituted(command, instance.values) for command in callback.commands)
        by_event.setdefault(callback.event, []).extend(lines)
    for event, commands in by_event.items():
        yield Hook(
            cast("Any", event.value),
            tuple(commands),
            cast("Any", spec.failure_policy.value),
            instance.item.source,
            spec.interpreter,
        )


def _fetch_hook(instance: Instance, fetch: Fetch, mount: Mount) -> Hook:
    """Return the hook that fetches an item's data, into a folder for its generation and its commands with values."""
    item = instance.item
    commands = tuple(substituted(command, instance.values) for command in fetch.commands)
    version = f"{item.generation}-{hash_of([item.kind, item.spec.interpreter, *commands])}"
    return Hook(
        "taskStarts",
        commands,
        cast("Any", item.spec.failure_policy.value),
        item.source,
        item.spec.interpreter,
        folder=f"{mount.path}/{item.name}/{version}",
        timeout=fetch.timeout_seconds,
    )


def _mount(instance: Instance) -> Mount | None:
    storage = instance.item.spec.pvc_storage
    if storage is None:
        return None
    claim = substituted(storage.name, instance.values)
    path = substituted(storage.mount_path or f"/mnt/{claim}", instance.values)
    return Mount(
        claim=claim,
        path=path.rstrip("/") or path,
        sub_path=substituted(storage.sub_path or "", instance.values),
        read_only=storage.read_only,
        by=instance,
    )


def _fault_of(mount: Mount) -> str | None:
    if fault := dns_subdomain(mount.claim):
        return f"pvcStorage.name {mount.claim[:253]!r} {fault}"
    for name, path in (("mountPath", mount.path), ("subPath", mount.sub_path)):
        if ".." in path.split("/") or ":" in path:
            return f"pvcStorage.{name} {path[:253]!r} must not hold '..' or ':'"
    if not mount.path.startswith("/") or mount.path == "/":
        return f"pvcStorage.mountPath {mount.path[:253]!r} must be an absolute path other than /"
    return "pvcStorage.subPath must be a relative path" if mount.sub_path.startswith("/") else None


def _description(mount: Mount) -> str:
    folder = f", folder {mount.sub_path}" if mount.sub_path else ""
    return f"mounts claim {mount.claim}{folder} at {mount.path}{' read-only' if mount.read_only else ''}"


def _rendered(instance: Instance, value: Any) -> Any:
    """Return a JSON value with the placeholders in its texts replaced; keys stay as they are."""
    if isinstance(value, str):
        return substituted(value, instance.values)
    if isinstance(value, Mapping):
        return {key: _rendered(instance, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rendered(instance, inner) for inner in value]
    return value
