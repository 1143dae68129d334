"""Jobs as users write them: 1.5 to 2 kB for each task, all different."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Task types of a DIJob, each for one task; its other tasks have no type.
_ROLES = ("learner", "collector", "evaluator")
#: The script of wrk puts the number of the request here, in hexadecimal.
REQUEST = "@" * 6
_MXJOB_TYPES = ("SCHEDULER", "SERVER", "WORKER")
#: Task types of a TorchJob, with the number of pods and the task type that each waits for.
_TORCHJOB_TASKS = {"Master": (1, "AIMaster"), "Worker": (8, "Master"), "AIMaster": (1, None)}
#: Fields that DI-orchestrator ignores.
_IGNORED = {"priorityClassName": "training", "ttlSecondsAfterFinished": 3600}


def job(kind: str, tasks: int, variant: int, *, warned: bool = False) -> dict[str, Any]:
    """Return a job; each variant has names, images and values of its own.

    Args:
        kind: of the job.
        tasks: number of its tasks.
        variant: number of the job.
        warned: whether a DIJob of the same size gets warnings: it has fields that its operator ignores, and in each
            task a sidecar, instead of an init container, and labels, which the operator drops.
    """
    api_version, spec = _SPECS[kind](tasks, variant)
    if warned and kind == "DIJob":
        _warn(spec, variant)
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
        pod_template = template("di-container", variant, index, restartPolicy="Never", initContainers=[_HELPER])
        parts.append({**who, "template": {"spec": pod_template["spec"]}})
    bounds = {"minReplicas": 1, "maxReplicas": max(8, tasks)}
    return "diengine.opendilab.org/v2alpha1", {"backoffLimit": 1, **bounds, "tasks": parts}


def _warn(spec: dict[str, Any], variant: int) -> None:
    spec |= _IGNORED
    for index, task in enumerate(spec["tasks"]):
        task["template"]["metadata"] = _labels(variant, index)
        pod = task["template"]["spec"]
        pod["containers"] += pod.pop("initContainers")


def _vcjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts = [
        {
            "name": f"task-{index}",
            "replicas": 2,
            "policies": [
                {"exitCode": 137, "action": "RestartTask"},
                {"event": "TaskCompleted", "action": "CompleteJob"},
            ],
            "template": template("main", variant, index, restartPolicy="OnFailure"),
        }
        for index in range(tasks)
    ]
    return "batch.volcano.sh/v1alpha1", {
        "schedulerName": "volcano",
        "queue": "research",
        "priorityClassName": "training",
        "minAvailable": 2 * tasks,
        "maxRetry": 3,
        "ttlSecondsAfterFinished": 3600,
        "policies": [
            {"event": "PodEvicted", "action": "RestartJob"},
            {"events": ["PodFailed", "Unknown"], "action": "AbortJob", "timeout": "5m"},
        ],
        "plugins": {"env": [], "svc": ["--publish-not-ready-addresses=true"], "ssh": []},
        "volumes": [
            {"mountPath": "/corpus", "volumeClaimName": f"corpus-{variant:05d}"},
            {
                "mountPath": "/scratch",
                "volumeClaim": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "100Gi"}}},
            },
        ],
        "tasks": parts,
    }


def _mxjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts = [
        {"mxReplicaType": _MXJOB_TYPES[index], "replicas": 1, "template": template("mxnet", variant, index)}
        for index in range(tasks)
    ]
    return "mxnet.mlkube.io/v1beta1", {"jobMode": "dist", "replicaSpecs": parts}


def _torchjob(tasks: int, variant: int) -> tuple[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    pods: dict[str, int] = {}
    for index, (name, (count, dependency)) in enumerate([*_TORCHJOB_TASKS.items()][:tasks]):
        parts[name] = {"numTasks": count, "template": template("torch", variant, index)}
        if dependency:
            parts[name]["dependsOn"] = [{"dependsOn": dependency, "onPhase": "Running"}]
            pods[name] = count
    scheduling = {"queue": "research", "priority": 10}
    spec = {"backoffLimit": 3, "schedulingPolicy": scheduling, "minMembers": pods, "torchTaskSpecs": parts}
    return "train.distributed.io/v1alpha1", spec


_SPECS: dict[str, Callable[[int, int], tuple[str, dict[str, Any]]]] = {
    "DIJob": _dijob,
    "Job": _vcjob,
    "MxJob": _mxjob,
    "TorchJob": _torchjob,
}
#: The kinds, and the kinds with any number of tasks.
KINDS, ANY_SIZE = tuple(_SPECS), ("DIJob", "Job")


def template(container: str, variant: int, index: int, **pod: Any) -> dict[str, Any]:
    """Return a pod template, with these fields of the pod as well."""
    mark = f"{variant:05d}-{index}"
    return {
        "metadata": _labels(variant, index),
        "spec": {
            "nodeSelector": {"accelerator": "gpu"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
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
                        {"name": "RUN_NAME", "value": f"run-{mark}-{REQUEST}"},
                        {"name": "LEARNING_RATE", "value": f"0.{variant:05d}{index}"},
                        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    ],
                    "resources": {
                        "requests": {"cpu": "2", "memory": f"{4 + variant % 60}Gi"},
                        "limits": {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": 1},
                    },
                    "readinessProbe": {"tcpSocket": {"port": "metrics"}, "periodSeconds": 5},
                    "livenessProbe": {
                        "httpGet": {"path": "/healthz", "port": 9100},
                        "initialDelaySeconds": 30,
                        "periodSeconds": 10,
                        "failureThreshold": 6,
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
            **pod,
        },
    }


def _labels(variant: int, index: int) -> dict[str, Any]:
    return {"labels": {"app": "train", "experiment": f"e{variant:05d}", "role": f"role-{index}"}}


#: Ships logs as a sidecar, or fetches data as an init container.
_HELPER = {
    "name": "helper",
    "image": "registry.example.com/tools/files:v3",
    "args": ["--directory", "/checkpoints"],
    "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "100m", "memory": "128Mi"}},
    "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints", "readOnly": True}],
}
