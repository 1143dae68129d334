"""Crews and pods for tests: small makers, so that a case shows only what matters."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.crew import crew_of
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.plugins import Crew, CrewContainer, Member, Part, Pod, wire
from webhook import Cause, Draft, Notice
from webhook.review import defaulted
from webhook.view import view

MAIN = CrewContainer("main")


def part(name: str = "worker", replicas: int = 1, **fields: Any) -> Part:
    """Return a part with one container, main."""
    return Part(name, **{"replicas": replicas, "containers": (MAIN,), **fields})


def crew(*parts: Part, **fields: Any) -> Crew:
    """Return the crew of a job `train`, whose operator calls pods as most do and makes no Service."""
    known = {
        "api_version": "example.com/v1",
        "kind": "SweepJob",
        "plural": "sweepjobs.example.com",
        "namespace": "team",
        "name": "train",
        "uid": "1-2-3",
        "parts": parts or (part(),),
        "labels": {"example.com/job": "train"},
    }
    result = known | fields
    return Crew(**{"pod": f"{result['name']}-{{task}}-{{index}}", "service": result["name"], **result})


def pod(*containers: Any, **spec: Any) -> dict[str, Any]:
    """Return a pod with these containers, or one called main, and these fields in its spec."""
    named = [{"name": container} if isinstance(container, str) else container for container in containers or ("main",)]
    return {"metadata": {"name": "pod"}, "spec": {"containers": named, **spec}}


def drafted(document: dict[str, Any], of: Crew, task: str = "worker", index: int = 0) -> Draft:
    """Return the draft of a pod that has been wired as its job asks."""
    result = of.part(task)
    assert result is not None
    draft = Draft(deepcopy(document))
    wire(Pod(draft, Member(of, result, index)))
    return draft


def wired(document: dict[str, Any], of: Crew, task: str = "worker", index: int = 0) -> dict[str, Any]:
    """Return a pod as it is when it has been wired."""
    return drafted(document, of, task, index).value


def variables(document: dict[str, Any], container: str = "main") -> dict[str, Any]:
    """Return the variables of a container or init container, by name; what is not a value as its source."""
    spec = document["spec"]
    (one,) = [entry for entry in spec["containers"] + spec.get("initContainers", []) if entry["name"] == container]
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in one.get("env", [])}


def reported(findings: Iterable[Cause | Notice]) -> list[str]:
    """Return the texts of findings, each notice with a word before it."""
    return [str(finding) if isinstance(finding, Cause) else f"notice: {finding}" for finding in findings]


def of_job(kind: JobKind, document: dict[str, Any]) -> Crew:
    """Return the crew of a job in the namespace team, with the defaults of its kind."""
    whole = defaulted(kind, kind.schema.default(document), Context(namespace="team")).value
    spec, _ = view(kind.spec, whole["spec"])
    return crew_of(Job(kind, whole, spec), "team", whole["metadata"]["name"], "1-2-3")


def promised(of: Crew, task: str, index: int = 0) -> dict[str, str]:
    """Return the variables that a kind promises to a pod."""
    result = of.part(task)
    assert result is not None
    return {each.name: each.value for each in of.contract(Member(of, result, index))}
