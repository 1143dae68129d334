"""The claims of the volumes of a Volcano Job that jobgate runs: created, named in the job, and mounted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.kinds.vcjob.models import JobSpec, VolumeSpec
from webhook.values import metadata_of, objects, spec_of, text

#: Random characters in the names that Volcano generates. Here they derive from the job's uid, and never change.
_SUFFIX: Final = 12


def claims_of(job: Job[JobSpec]) -> Mapping[str, Mapping[str, Any] | None]:
    """Return the claims of the job's volumes by name: the spec to create, None for one that must exist."""
    return {name: volume.volume_claim for name, volume in _volumes(job).items()}


def with_claim_names(job: Job[JobSpec]) -> Mapping[str, Any]:
    """Return the field `volumes` with the names of new claims, as Volcano writes them; empty if none is missing."""
    volumes = [volume for _, volume in objects(spec_of(job.document).get("volumes"))]
    named = [
        volume
        if volume.get("volumeClaim") is None or volume.get("volumeClaimName")
        else {**volume, "volumeClaimName": _generated_name(job, index)}
        for index, volume in enumerate(volumes)
    ]
    return {"volumes": named} if named != volumes else {}


def mounted(job: Job[JobSpec], spec: dict[str, Any]) -> dict[str, Any]:
    """Return a pod spec with the job's volumes in every container; of several for one claim, only the first."""
    name = text(metadata_of(job.document).get("name"))
    volumes = {f"{name}-{_digest(job, claim)}": (claim, volume.mount_path) for claim, volume in _volumes(job).items()}
    if not volumes:
        return spec
    added = [{"name": key, "persistentVolumeClaim": {"claimName": claim}} for key, (claim, _) in volumes.items()]
    mounts = [{"name": key, "mountPath": path} for key, (_, path) in volumes.items()]
    containers = [
        {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), *mounts]}
        for _, container in objects(spec.get("containers"))
    ]
    return {**spec, "volumes": [*(spec.get("volumes") or ()), *added], "containers": containers}


def _volumes(job: Job[JobSpec]) -> dict[str, VolumeSpec]:
    """Return the volumes that are mounted, by the names of their claims."""
    volumes: dict[str, VolumeSpec] = {}
    for index, volume in enumerate(job.spec.volumes or ()):
        volumes.setdefault(volume.volume_claim_name or _generated_name(job, index), volume)
    return volumes


def _generated_name(job: Job[JobSpec], index: int) -> str:
    """Return the name of a new claim. It differs between jobs that had the same name.

    A job in a file has no uid: its claims are `<job>-pvc-xxxxxxxxxxx0` and so on.
    """
    metadata = metadata_of(job.document)
    suffix = _digest(job, index) if metadata.get("uid") else f"{index:x>{_SUFFIX}}"
    return f"{text(metadata.get('name'))}-pvc-{suffix}"


def _digest(job: Job[JobSpec], key: object) -> str:
    content = f"{text(metadata_of(job.document).get('uid'))}\0{key}"
    return hashlib.sha256(content.encode()).hexdigest()[:_SUFFIX]
