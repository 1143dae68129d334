"""The claims of a Volcano Job's volumes, if jobgate runs the job: creates, names and mounts them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.kinds.vcjob.models import JobSpec, VolumeSpec
from webhook.values import metadata_of, objects, spec_of, text

#: Length of the random suffix in Volcano's names of claims. Here it is a hash of the job's uid, so it never changes.
_SUFFIX: Final = 12


def claims(job: Job[JobSpec]) -> Mapping[str, Mapping[str, Any] | None]:
    """Return the claims of the job's volumes by name: the spec of a new claim, None for an existing one."""
    return {name: volume.volume_claim for name, volume in _volumes(job).items()}


def adopts(job: Job[JobSpec]) -> Mapping[str, Any]:
    """Return the volumes with the names of new claims, which Volcano also writes into the job."""
    volumes = [volume for _, volume in objects(spec_of(job.document).get("volumes"))]
    named = [
        volume
        if volume.get("volumeClaim") is None or volume.get("volumeClaimName")
        else {**volume, "volumeClaimName": _new_name(job, place)}
        for place, volume in enumerate(volumes)
    ]
    return {"volumes": named} if named != volumes else {}


def mounted(job: Job[JobSpec], spec: dict[str, Any]) -> dict[str, Any]:
    """Return a pod spec with the job's volumes in every container; only the first volume of each claim."""
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
    """Return the mounted volumes, by the names of their claims."""
    volumes: dict[str, VolumeSpec] = {}
    for place, volume in enumerate(job.spec.volumes or ()):
        volumes.setdefault(volume.volume_claim_name or _new_name(job, place), volume)
    return volumes


def _new_name(job: Job[JobSpec], place: int) -> str:
    """Return the name of a new claim, which is different for different jobs with the same name.

    A job in a file has no uid yet: its claims are `<job>-pvc-xxxxxxxxxxx0` and so on.
    """
    metadata = metadata_of(job.document)
    suffix = _digest(job, place) if metadata.get("uid") else f"{place:x>{_SUFFIX}}"
    return f"{text(metadata.get('name'))}-pvc-{suffix}"


def _digest(job: Job[JobSpec], key: object) -> str:
    content = f"{text(metadata_of(job.document).get('uid'))}\0{key}"
    return hashlib.sha256(content.encode()).hexdigest()[:_SUFFIX]
