"""A pod while it is wired. The variables of all plugins are collected, and written once, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jobgate.plugins.crew import Member, Variable
from webhook import Draft

#: The API server sets this scheduler in pods that name none, before any webhook sees the pod.
DEFAULT_SCHEDULER = "default-scheduler"


class Pod:
    """One pod of a job. Only containers of the job's template are changed, and only absent fields are added."""

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
        """Yield the containers and init containers of the template, except those that set the variable `but`."""
        for field, init in (("containers", False), ("initContainers", True)):
            names = {
                container.name
                for container in self.member.part.containers
                if container.init is init and but not in container.variables
            }
            yield from (container for container in self.spec.each(field) if container.get("name") in names)

    def variable(self, name: str, value: str) -> None:
        """Set a variable in all containers that do not have it."""
        self._variables.setdefault(name, {"name": name, "value": value})

    def variable_from(self, name: str, source: Mapping[str, Any]) -> None:
        """Set a variable from a source, such as `{"configMapKeyRef": …}`, in all containers that do not have it."""
        self._variables.setdefault(name, {"name": name, "valueFrom": dict(source)})

    def variables_from(self, source: Mapping[str, Any], prefix: str = "") -> None:
        """Set all variables of a source, such as `{"configMapRef": …}`, in all containers that do not have them.

        Of several sources with the same variable, Kubernetes takes the last. So this one is before all others.
        """
        entry = {**({"prefix": prefix} if prefix else {}), **source}
        for container in self.containers():
            if not any(present.value == entry for present in container.each("envFrom")):
                container.insert("envFrom", [entry])

    def promise(self, variable: Variable) -> None:
        """Set a variable of the kind's contract; an incorrect value from the operator is replaced."""
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
        if not any(gate.get("name") == name for gate in self.spec.each("schedulingGates")):
            self.spec.append("schedulingGates", {"name": name})

    def schedule_by(self, scheduler: str) -> None:
        """Set the scheduler of a pod, unless its template sets one. The API server's default is replaced."""
        if not scheduler or self.member.part.scheduler:
            return
        if "schedulerName" not in self.spec:
            self.spec["schedulerName"] = scheduler
        elif self.spec["schedulerName"] == DEFAULT_SCHEDULER and scheduler != DEFAULT_SCHEDULER:
            self.spec.correct("schedulerName", scheduler)

    def volume(self, volume: Mapping[str, Any]) -> None:
        """Add a volume, unless the pod has a volume with this name."""
        if not any(present.get("name") == volume["name"] for present in self.spec.each("volumes")):
            self.spec.append("volumes", dict(volume))

    def mount(self, mount: Mapping[str, Any]) -> None:
        """Mount a volume into every container that has no mount at this path."""
        for container in self.containers():
            if not any(present.get("mountPath") == mount["mountPath"] for present in container.each("volumeMounts")):
                container.append("volumeMounts", dict(mount))

    def write(self) -> None:
        """Write the variables before the user's own, which may refer to them."""
        for container in self.containers():
            present = {variable.get("name") for variable in container.each("env")}
            container.insert("env", [value for name, value in self._variables.items() if name not in present])

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
            for variable in container.each("env"):
                present = variable.get("value")
                if variable.get("name") == name and isinstance(present, str) and wrong(present):
                    variable.correct("value", value)
