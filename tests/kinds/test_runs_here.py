"""Warnings about the operator of a kind are not given if jobgate itself runs the jobs."""

from typing import Any

import pytest
from msgspec.structs import replace

from jobgate.jobs.binding import bind
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.kinds.dijob.models import RESOURCE
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from jobgate.kinds.dijob.runner import DIJobRunner
from jobgate.offline.judge import ReviewOptions, judge
from webhook import Operation

KINDS = installed()
RUNS = Settings(runs=frozenset(kind.qualified_plural for kind in KINDS))
ENV = [{"name": "DMLC_PS_ROOT_URI", "value": "here"}, {"name": "MASTER_ADDR", "value": "here"}]
TOPOLOGY = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
SIDECAR = {"name": "proxy", "image": "proxy", "restartPolicy": "Always"}

STORAGE = {"localStorage": {"path": "/a", "mountPath": "/model"}}
MODEL = {"spec": {"modelName": "resnet", "imageRepo": "registry/resnet", "storage": STORAGE}}
POLICY = {"numMinReplicas": 1, "numMaxReplicas": 2, "rendezvousBackend": "c10d", "rendezvousEndpoint": "a:1"}
ELASTIC = {"enableTorchElastic": True, "torchElasticPolicy": POLICY}


def template(container: str, *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod template with a container of this name."""
    fields: dict[str, Any] = {key: spec.pop(key) for key in ("env", "command") if key in spec}
    containers = [{"name": container, "image": "image"} | fields]
    metadata = {"metadata": {"labels": labels}} if labels else {}
    return {**metadata, "spec": {"containers": containers, **spec}}


def job(kind: str, api_version: str, **spec: Any) -> dict[str, Any]:
    """A job."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "train"}, "spec": spec}


def dijob(*, labels: dict[str, str] | None = None, old: bool = False, **spec: Any) -> dict[str, Any]:
    """A DIJob of one task."""
    one = {"name": "work", "type": "none", "replicas": 1}
    pods = template("di-container", labels=labels, **({} if old else spec))
    fields = spec if old else {}
    return job("DIJob", "diengine.opendilab.org/v2alpha1", tasks=[{**one, "template": pods}], **fields)


def torchjob(worker: str = "", **fields: Any) -> dict[str, Any]:
    """A TorchJob of a master, and of a worker whose key is given."""
    master = {"template": template("torch", **fields.pop("pods", {})), **fields.pop("master", {})}
    once = {"template": template("torch"), "numTasks": 1, "restartPolicy": "Never"}
    workers = {worker: once} if worker else {}
    return job("TorchJob", "train.distributed.io/v1alpha1", torchTaskSpecs={"Master": master, **workers}, **fields)


def mxjob(**pods: Any) -> dict[str, Any]:
    """A distributed MxJob."""
    roles = [{"mxReplicaType": role, "replicas": 1} for role in ("SCHEDULER", "SERVER", "WORKER")]
    specs = [{**role, "template": template("mxnet", **pods)} for role in roles]
    specs[0]["psRootPort"] = 9091
    return job("MxJob", "mxnet.mlkube.io/v1beta1", jobMode="dist", replicaSpecs=specs)


@pytest.mark.parametrize(
    ("written", "of_the_operator", "of_the_runner"),
    [
        (torchjob(activeDeadlineSeconds=9), "torch-on-k8s reads only", ""),
        (torchjob(ttlSecondsAfterFinished=9), "torch-on-k8s reads only", ""),
        (torchjob(pods={"env": ENV}), "torch-on-k8s overwrites MASTER_ADDR", "kept as it is"),
        (torchjob(pods={"restartPolicy": "Always"}), "torch-on-k8s sets this field", "the runner sets this field"),
        (
            torchjob(modelVersion={**MODEL, "metadata": {"name": "a"}}),
            "ignores this field and generates",
            "the runner ignores",
        ),
        (torchjob(worker="worker", **ELASTIC), "torch-on-k8s scales only", ""),
        (
            torchjob(worker="Worker", pods={"command": ["torchrun", "train.py"]}, **ELASTIC),
            "torch-on-k8s adds the arguments of torchrun, such as --nnodes, after the whole command",
            "",
        ),
        (mxjob(env=ENV), "crashes if there are fewer", "kept as it is"),
        (mxjob(labels={"job_type": "mine"}), "mxnet-operator overwrites this value", ""),
        (dijob(labels={"team": "mine"}), "does not copy these fields to the pods", ""),
        (dijob(hostname="mine"), "DI-orchestrator overwrites", "the runner overwrites"),
        (dijob(initContainers=[SIDECAR]), "DI-orchestrator", ""),
        (dijob(topologySpreadConstraints=[TOPOLOGY]), "DI-orchestrator", ""),
        (dijob(preemptible=True, old=True), "crashes DI-orchestrator", "only on an elastic job"),
    ],
)
def test_a_job_is_judged_by_who_runs_it(written: dict[str, Any], of_the_operator: str, of_the_runner: str) -> None:
    before = judge(written, ReviewOptions(kinds=KINDS))
    assert of_the_operator in f"{before.status} {before.warnings}"
    verdict = judge(written, ReviewOptions(kinds=KINDS, settings=RUNS))
    warnings = " ".join(text for text in verdict.warnings if "plugin" not in text)
    assert verdict.status is None
    assert of_the_runner in warnings
    assert bool(warnings) == bool(of_the_runner)


@pytest.mark.parametrize(("settings", "who"), [(Settings(), "torch-on-k8s"), (RUNS, "the runner")])
def test_the_volume_of_a_model_is_of_who_runs_the_job(settings: Settings, who: str) -> None:
    written = torchjob(modelVersion=MODEL, pods={"volumes": [{"name": "modelvolume", "emptyDir": {}}]})
    status = judge(written, ReviewOptions(kinds=KINDS, settings=settings)).status
    assert status is not None
    assert f"reserved: {who} adds a volume" in status["details"]["causes"][0]["message"]


def test_labels_that_pods_get_are_judged() -> None:
    written = dijob(labels={"no key!": "mine"})
    assert judge(written, ReviewOptions(kinds=KINDS)).status is None
    status = judge(written, ReviewOptions(kinds=KINDS, settings=RUNS)).status
    assert status is not None
    (cause,) = status["details"]["causes"]
    assert cause["field"].startswith("spec.tasks[0].template.metadata.labels")


@pytest.mark.parametrize(
    ("settings", "labels", "reported"), [(RUNS, {"team": "new"}, True), (RUNS, None, False), (Settings(), None, False)]
)
def test_a_change_that_pods_do_not_get_is_reported(
    settings: Settings, labels: dict[str, str] | None, *, reported: bool
) -> None:
    before = {**dijob(), "status": {"phase": "Running"}}
    options = ReviewOptions(kinds=KINDS, operation=Operation.UPDATE, settings=settings, stored=(before,))
    warnings = judge(dijob(labels=labels), options).warnings
    assert any("former template" in warning for warning in warnings) == reported


def test_a_kind_with_a_runner_has_a_place_for_its_state() -> None:
    without = replace(RESOURCE, versions=(replace(RESOURCE.versions[0], status=None),))
    with pytest.raises(TypeError, match="the status of DIJob lacks jobgate: derive it from RunStatus"):
        bind(without, operator=DI_ORCHESTRATOR, runner=DIJobRunner())
