"""Jobs as users write them: about 1.1 kB a task, and no two alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The roles that a DIJob has at most one task of; its other tasks are plain.
_ROLES = ("learner", "collector", "evaluator")
_MXJOB_TYPES = ("SCHEDULER", "SERVER", "WORKER")
_TORCHJOB_TYPES = ("Master", "Worker", "AIMaster")


def job(kind: str, tasks: int, variant: int, plugins: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a job; each variant has names, images and values of its own."""
    api_version, spec = _SPECS[kind](tasks, variant)
    if plugins is not None:
        spec["plugins"] = plugins
    metadata = {
        "name": f"train-{variant:05d}",
        "namespace": "team",
        "labels": {"team": "games", "experiment": f"e{variant:05d}"},
        "annotations": {"example.com/owner": f"jane-{variant}@example.com"},
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _dijob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for index in range(tasks):
        who: dict[str, Any] = {"type": _ROLES[index]} if index < len(_ROLES) else {"name": f"task-{index}"}
        parts.append({**who, "template": template("di-container", variant, index)})
    bounds = {"minReplicas": 1, "maxReplicas": max(8, tasks)}
    return "diengine.opendilab.org/v2alpha1", {"backoffLimit": 1, **bounds, "tasks": parts}


def _vcjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts = [
        {"name": f"task-{index}", "replicas": 2, "template": template("main", variant, index)} for index in range(tasks)
    ]
    return "batch.volcano.sh/v1alpha1", {"schedulerName": "volcano", "maxRetry": 3, "tasks": parts}


def _mxjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts = [
        {"mxReplicaType": _MXJOB_TYPES[index], "replicas": 1, "template": template("mxnet", variant, index)}
        for index in range(tasks)
    ]
    return "mxnet.mlkube.io/v1beta1", {"jobMode": "dist", "replicaSpecs": parts}


def _torchjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts = {
        name: {"template": template("torch", variant, index)} for index, name in enumerate(_TORCHJOB_TYPES[:tasks])
    }
    return "train.distributed.io/v1alpha1", {"backoffLimit": 3, "torchTaskSpecs": parts}


_SPECS: dict[str, Callable[[int, int], tuple[str, dict[str, Any]]]] = {
    "DIJob": _dijob,
    "Job": _vcjob,
    "MxJob": _mxjob,
    "TorchJob": _torchjob,
}


def template(container: str, variant: int, index: int) -> dict[str, Any]:
    """Return a pod template."""
    mark = f"{variant:05d}-{index}"
    return {
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": container,
                    "image": f"registry.example.com/games/train:v{variant}.{index}",
                    "imagePullPolicy": "IfNotPresent",
                    "ports": [{"name": "metrics", "containerPort": 9100, "protocol": "TCP"}],
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                    "command": ["/bin/bash", "-c"],
                    "args": [f"python -m train --run run-{mark} --checkpoint /checkpoints/{mark}"],
                    "env": [
                        {"name": "NCCL_DEBUG", "value": "INFO"},
                        {"name": "RUN_NAME", "value": f"run-{mark}"},
                        {"name": "LEARNING_RATE", "value": f"0.{variant:05d}{index}"},
                        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    ],
                    "resources": {
                        "requests": {"cpu": "2", "memory": f"{4 + variant % 60}Gi"},
                        "limits": {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": 1},
                    },
                    "volumeMounts": [
                        {"name": "checkpoints", "mountPath": "/checkpoints"},
                        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108  # where pods have their shared memory
                    ],
                }
            ],
            "volumes": [
                {"name": "checkpoints", "persistentVolumeClaim": {"claimName": f"checkpoints-{mark}"}},
                {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
            ],
        },
    }
