"""A pod while it is wired. Variables of all plugins are collected and written once, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobgate.plugins.crew import Member, Variable
from webhook import Draft

#: The scheduler of a pod whose template names none; the API server fills it in before any webhook sees the pod.
DEFAULT_SCHEDULER = "default-scheduler"


class Pod:
    """One pod of a job. Only containers of the job's template are changed, and only what is absent is added."""

    def __init__(self, draft: Draft, member: Member) -> None:
        """Wire a pod, which must have a spec."""
        spec = draft.at("spec")
        if spec is None:
            raise ValueError("the pod has no spec")
        self.draft = draft
        self.spec = spec
        self.member = member
        self._variables: dict[str, dict[str, Any]] = {}

    def containers(self, but: str = "") -> Iterator[Draft]:
        """Yield the containers and init containers that the job's template names, `but` those that set a variable."""
        for field, init in (("containers", False), ("initContainers", True)):
            ours = (one for one in self.member.part.containers if one.init is init and but not in one.variables)
            named = {one.name for one in ours}
            for container in self.spec.each(field):
                if container.get("name") in named:
                    yield container

    def variable(self, name: str, value: str) -> None:
        """Set a variable where a container has none of its name."""
        self._variables.setdefault(name, {"name": name, "value": value})

    def variable_from(self, name: str, source: Mapping[str, Any]) -> None:
        """Set a variable from somewhere else, as `{"configMapKeyRef": …}` says, where a container has none so named."""
        self._variables.setdefault(name, {"name": name, "valueFrom": dict(source)})

    def promise(self, variable: Variable) -> None:
        """Set a variable of the kind's contract; a wrong value that its operator has put there is replaced."""
        if variable.wrong is not None:
            self._correct(variable.name, variable.value, variable.wrong)
        self.variable(variable.name, variable.value)

    def label(self, key: str, value: str) -> None:
        """Add a label."""
        self._mark("labels", key, value)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation."""
        self._mark("annotations", key, value)

    def gate(self, name: str) -> None:
        """Add a scheduling gate, unless the pod already has a node."""
        if self.spec.get("nodeName"):
            return
        if not any(one.get("name") == name for one in self.spec.each("schedulingGates")):
            self.spec.append("schedulingGates", {"name": name})

    def schedule_by(self, scheduler: str) -> None:
        """Set the scheduler of a pod whose template sets none. The API server's default is replaced."""
        if not scheduler or self.member.part.scheduler:
            return
        if "schedulerName" not in self.spec:
            self.spec["schedulerName"] = scheduler
        elif self.spec["schedulerName"] == DEFAULT_SCHEDULER and scheduler != DEFAULT_SCHEDULER:
            self.spec.correct("schedulerName", scheduler)

    def volume(self, volume: Mapping[str, Any]) -> None:
        """Add a volume, unless the pod has one of its name."""
        if not any(one.get("name") == volume["name"] for one in self.spec.each("volumes")):
            self.spec.append("volumes", dict(volume))

    def mount(self, mount: Mapping[str, Any]) -> None:
        """Mount a volume into every container that has nothing at that place."""
        for container in self.containers():
            if not any(one.get("mountPath") == mount["mountPath"] for one in container.each("volumeMounts")):
                container.append("volumeMounts", dict(mount))

    def write(self) -> None:
        """Write the variables: before the user's own, so that these may be made of them and win over them."""
        for container in self.containers():
            present = {one.get("name") for one in container.each("env")}
            container.insert("env", [one for name, one in self._variables.items() if name not in present])

    def _mark(self, field: str, key: str, value: str) -> None:
        metadata = self.draft.at("metadata")
        if metadata is None:
            self.draft["metadata"] = {field: {key: value}}
        elif (marks := metadata.at(field)) is None:
            metadata[field] = {key: value}
        else:
            marks.setdefault(key, value)

    def _correct(self, name: str, value: str, wrong: Callable[[str], bool]) -> None:
        for container in self.containers(but=name):
            for one in container.each("env"):
                if one.get("name") == name and isinstance(one.get("value"), str) and wrong(one["value"]):
                    one.correct("value", value)
