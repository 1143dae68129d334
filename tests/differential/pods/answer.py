"""Verdicts on a Pod: the API server's, from a dry-run create by an administrator, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from controlplane.client import ClusterApi
from crdgen.evaluate import Evaluator
from crdgen.podtemplate import load
from jobgate import podchecks as rules
from tests.differential.pods.case import Pod, written
from webhook.cause import Cause
from webhook.path import Path

#: The reasons for which a Pod is rejected. `decode`: the decoder. `validation`: a rule on Pods. `admission`: an
#: admission plugin, because of the Pod. `cluster`: an admission plugin, because of a missing object in the cluster. `schema`: the CRD's schema.
#: `rules`: our rules.
STAGES = ("decode", "validation", "admission", "cluster", "schema", "rules")


@dataclass(frozen=True)
class PodFault:
    """A fault of a Pod: path, message, and the stage that rejects it."""

    path: str
    message: str
    stage: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Answer:
    """The faults of a Pod; none means that it is accepted."""

    findings: tuple[PodFault, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the Pod is accepted."""
        return not self.findings

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the faults."""
        return frozenset(finding.path for finding in self.findings)

    @property
    def stages(self) -> frozenset[str]:
        """The stages that reject the Pod."""
        return frozenset(finding.stage for finding in self.findings)

    def __str__(self) -> str:
        return "accepted" if self.accepted else "; ".join(map(str, self.findings))


_PODS = "/api/v1/namespaces/default/pods"
_CLASS = "judged-class"


def prepare(api: ClusterApi) -> None:
    """Create the objects that the base Pods name: a priority class and a runtime class."""
    for path, body in (
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "value": 10},
        ),
        (
            "/apis/node.k8s.io/v1/runtimeclasses",
            {"kind": "RuntimeClass", "apiVersion": "node.k8s.io/v1", "handler": "runc"},
        ),
    ):
        status, answer = api.post(path, {**body, "metadata": {"name": _CLASS}})
        # 409: another run on the same cluster has created it.
        assert status in (201, 409), answer


def ask(api: ClusterApi, pod: Pod) -> Answer:
    """Return the API server's verdict on the Pod."""
    status, body = api.post(_PODS, {"apiVersion": "v1", "kind": "Pod", **pod}, {"dryRun": "All"})
    if status == 201:
        return Answer()
    return Answer(_findings(pod, status, body))


def _findings(pod: Pod, status: int, body: dict[str, Any]) -> tuple[PodFault, ...]:
    message = str(body.get("message", body))
    causes = (body.get("details") or {}).get("causes") or []
    if status == 422:
        result = tuple(PodFault(cause.get("field", ""), cause.get("message", ""), "validation") for cause in causes)
        return result or (PodFault("", message, "validation"),)
    if status == 403:
        return (PodFault("", message, "cluster" if _depends_on_the_cluster(pod, message) else "admission"),)
    if status == 500 and "resource name" in message:
        # A plugin looks up a runtime class, and its client rejects a name that cannot be in a path.
        return (PodFault("", message, "admission"),)
    if status == 400:
        return (PodFault("", message, "decode"),)
    raise AssertionError(f"an answer that tells nothing of the Pod: {status} {message}")


def _depends_on_the_cluster(pod: Pod, message: str) -> bool:
    """Whether another cluster, with other classes, may accept the Pod."""
    if "not found" in message or "was found" in message:
        return True
    spec = pod.get("spec") or {}
    by_priority = "must not be provided in pod spec" in message and bool(spec.get("priorityClassName"))
    by_runtime = "Pod Overhead" in message and bool(spec.get("runtimeClassName"))
    return by_priority or by_runtime


# The template is in an object without metadata, so that the schema prunes the template's metadata.
_EVALUATOR = Evaluator({"type": "object", "properties": {"template": load()["PodTemplateSpec"]}})


def judge(pod: Pod) -> Answer:
    """Return our verdict: faults of the schema, and faults of the rules in the pruned Pod."""
    template, refused = _by_schema(pod)
    results = [PodFault(*finding, "schema") for finding in refused]
    causes = (notice for notice in rules.check(template, Path()) if isinstance(notice, Cause))
    results.extend(PodFault(str(cause.path), cause.message, "rules") for cause in causes)
    return Answer(tuple(results))


def _by_schema(pod: Pod) -> tuple[Any, list[tuple[str, str]]]:
    """Return the Pod as the API server would send its template to the webhook, and the faults of the schema."""
    held = _EVALUATOR.default(_EVALUATOR.prune({"template": pod}))
    violations = _EVALUATOR.validate(held)
    return held["template"], [(written(violation.path[1:]), violation.message) for violation in violations]
