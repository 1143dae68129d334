"""The claims of the volumes of a Volcano Job that jobgate runs: created, named in the job, and mounted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.kinds.vcjob.models import JobSpec, VolumeSpec
from webhook.values import metadata_of, objects, spec_of, text

#: Random characters in the names that Volcano makes up; here they come from the job's uid, and are the same each time.
_SUFFIX: Final = 12


def claims_of(job: Job[JobSpec]) -> Mapping[str, Mapping[str, Any] | None]:
    """Return the claims of the job's volumes: the spec of a new one, None for one that must exist."""
    return {name: volume.volume_claim for name, volume in _volumes(job).items()}


def with_claim_names(job: Job[JobSpec]) -> Mapping[str, Any]:
    """Return the field `volumes` with the names of new claims, as Volcano writes them; empty if none is missing."""
    volumes = [one for _, one in objects(spec_of(job.document).get("volumes"))]
    named = [
        one
        if one.get("volumeClaim") is None or one.get("volumeClaimName")
        else {**one, "volumeClaimName": _made_up(job, place)}
        for place, one in enumerate(volumes)
    ]
    return {"volumes": named} if named != volumes else {}


def mounted(job: Job[JobSpec], spec: dict[str, Any]) -> dict[str, Any]:
    """Return a pod spec with the job's volumes in every container; of several of one claim, the first."""
    name = text(metadata_of(job.document).get("name"))
    volumes = {f"{name}-{_digest(job, claim)}": (claim, one.mount_path) for claim, one in _volumes(job).items()}
    if not volumes:
        return spec
    added = [{"name": key, "persistentVolumeClaim": {"claimName": claim}} for key, (claim, _) in volumes.items()]
    mounts = [{"name": key, "mountPath": path} for key, (_, path) in volumes.items()]
    containers = [
        {**one, "volumeMounts": [*(one.get("volumeMounts") or ()), *mounts]}
        for _, one in objects(spec.get("containers"))
    ]
    return {**spec, "volumes": [*(spec.get("volumes") or ()), *added], "containers": containers}


def _volumes(job: Job[JobSpec]) -> dict[str, VolumeSpec]:
    """Return the volumes that are mounted, by the names of their claims."""
    found: dict[str, VolumeSpec] = {}
    for place, volume in enumerate(job.spec.volumes or ()):
        found.setdefault(volume.volume_claim_name or _made_up(job, place), volume)
    return found


def _made_up(job: Job[JobSpec], place: int) -> str:
    """Return the name of a new claim. Different jobs of one name have different ones.

    A job in a file has no uid yet: its claims are `<job>-pvc-xxxxxxxxxxx0` and so on.
    """
    metadata = metadata_of(job.document)
    suffix = _digest(job, place) if metadata.get("uid") else f"{place:x>{_SUFFIX}}"
    return f"{text(metadata.get('name'))}-pvc-{suffix}"


def _digest(job: Job[JobSpec], what: object) -> str:
    about = f"{text(metadata_of(job.document).get('uid'))}\0{what}"
    return hashlib.sha256(about.encode()).hexdigest()[:_SUFFIX]
