"""What resolved items put into a pod together: hooks in the order in which they run, mounts, variables, plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from jobgate.names import dns_subdomain
from jobgate.prerequisites.item import leaves
from jobgate.prerequisites.models import TaskEvent
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.resolve import Instance, Resolution
from jobgate.prerequisites.script import Hook, rendered_size, substituted

#: Most bytes of all commands of one pod. Linux takes an argument of 131,071 bytes; quoting makes commands longer.
COMMANDS_LIMIT: Final = 32 * 1024
#: Most bytes of all else that one pod gets, with values filled in: a text may have a placeholder many times.
TEXTS_LIMIT: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class Mount:
    """A claim that is mounted at a path, as the instance `by` asks for."""

    claim: str
    path: str
    sub_path: str
    read_only: bool
    by: Instance = field(compare=False)


@dataclass(frozen=True, slots=True)
class Injection:
    """What goes into a pod.

    Attributes:
        hooks: in the order in which they run: at the start as resolved, at the end reversed.
        mounts: parents before what is below them.
        env: variables, by name.
        plugins: arguments of plugins, by name.
    """

    hooks: tuple[Hook, ...] = ()
    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    plugins: Mapping[str, Any] = field(default_factory=dict)


def content_of(resolution: Resolution) -> tuple[Injection, list[PrerequisiteProblem]]:
    """Return what resolved items put into a pod, and their conflicts."""
    merge = _Merge()
    for one in resolution.instances:
        if merge.fits(one):
            merge.add(one)
    return merge.content(), merge.problems


@dataclass(slots=True)
class _Merge:
    """What goes into a pod, while it is collected; of two parts that conflict, the first stays."""

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
        """Whether there is more than a pod may get."""
        return self.commands > COMMANDS_LIMIT or self.texts > TEXTS_LIMIT

    def fits(self, one: Instance) -> bool:
        """Count the size of an instance without filling in its values, which may take gigabytes."""
        for place, text in leaves(one.item.spec):
            if self.full:
                return False
            size = rendered_size(text, one.values)
            if place.startswith("cmd."):
                self.commands += size + 1
            else:
                self.texts += size
        return not self.full

    def add(self, one: Instance) -> None:
        """Add what an instance brings."""
        for hook in _hooks(one):
            (self.starts if hook.event == TaskEvent.TASK_STARTS.value else self.ends).append(hook)
        if (mount := _mount(one)) is not None:
            self._mount(one, mount)
        for variable in _rendered(one, one.item.spec.env or ()):
            if not isinstance(variable.get("name"), str):
                continue  # which the item's own faults report
            if self.env.setdefault(variable["name"], variable) != variable:
                detail = f"variable {variable['name']} has another value in an item before it"
                self._problem(ProblemReason.ENV_CONFLICT, one, detail)
        if (use := one.item.spec.plugin) is not None:
            arguments = _rendered(one, use.arguments)
            if self.plugins.setdefault(use.name, arguments) != arguments:
                detail = f"plugin {use.name} has other arguments in an item before it"
                self._problem(ProblemReason.PLUGIN_CONFLICT, one, detail)

    def _mount(self, one: Instance, mount: Mount) -> None:
        if fault := _fault_of(mount):
            self._problem(ProblemReason.INVALID_VALUE, one, fault)
        elif (first := self.mounts.setdefault(mount.path, mount)) != mount:
            detail = f"{_said(mount)}, and {first.by.item.shown} {_said(first)}: give one of them another mountPath"
            self._problem(ProblemReason.MOUNT_CONFLICT, one, detail)

    def _problem(self, reason: ProblemReason, one: Instance, detail: str) -> None:
        self.problems.append(PrerequisiteProblem(reason, one.chain, detail, one.place))

    def content(self) -> Injection:
        """Return all of it."""
        hooks = (*self.starts, *reversed(self.ends))
        for what, size, most in (("commands", self.commands, COMMANDS_LIMIT), ("other texts", self.texts, TEXTS_LIMIT)):
            if size > most:
                detail = f"the {what} of all items have more than {most} bytes"
                self.problems.append(PrerequisiteProblem(ProblemReason.TOO_LARGE, (), detail))
        ordered = sorted(self.mounts.values(), key=lambda mount: mount.path.count("/"))
        return Injection(hooks, tuple(ordered), self.env, self.plugins)


def _hooks(one: Instance) -> Iterator[Hook]:
    """Yield one hook for each event: the callbacks of an event are one script."""
    spec = one.item.spec
    by_event: dict[TaskEvent, list[str]] = {}
    for callback in spec.cmd.callbacks if spec.cmd else ():
        lines = (substituted(command, one.values) for command in callback.commands)
        by_event.setdefault(callback.event, []).extend(lines)
    for event, commands in by_event.items():
        yield Hook(
            cast("Any", event.value),
            tuple(commands),
            cast("Any", spec.failure_policy.value),
            one.item.source,
            spec.interpreter,
        )


def _mount(one: Instance) -> Mount | None:
    storage = one.item.spec.pvc_storage
    if storage is None:
        return None
    claim = substituted(storage.name, one.values)
    path = substituted(storage.mount_path or f"/mnt/{claim}", one.values)
    return Mount(
        claim=claim,
        path=path.rstrip("/") or path,
        sub_path=substituted(storage.sub_path or "", one.values),
        read_only=storage.read_only,
        by=one,
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


def _said(mount: Mount) -> str:
    folder = f", folder {mount.sub_path}" if mount.sub_path else ""
    return f"mounts claim {mount.claim}{folder} at {mount.path}{' read-only' if mount.read_only else ''}"


def _rendered(one: Instance, value: Any) -> Any:
    """Return a JSON value with the placeholders in its texts replaced; keys stay as they are."""
    if isinstance(value, str):
        return substituted(value, one.values)
    if isinstance(value, Mapping):
        return {key: _rendered(one, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rendered(one, inner) for inner in value]
    return value
