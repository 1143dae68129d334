"""Rules for a job's own volumes: claims that are mounted in every container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.names import dns_subdomain
from jobgate.podchecks.volumes import CLAIM_SPEC
from webhook import Cause, Duplicate, Forbidden, Invalid, Notice, Operation, Path, Required, rule
from webhook.values import objects, spec_of


def mount_paths(job: Job[JobSpec]) -> set[str]:
    """Return the mount paths of all containers of a job that fits its schema."""
    if mount_paths not in job.shared:
        job.shared[mount_paths] = {
            mount["mountPath"]
            for task in job.tasks
            for containers in ("containers", "initContainers")
            for container in task.template["spec"].get(containers) or ()
            if "volumeMounts" in container
            for mount in container["volumeMounts"] or ()
        }
    paths: set[str] = job.shared[mount_paths]
    return paths


@rule("volumes")
def mount_paths_have_no_colon(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """The API server accepts a colon, but some container runtimes treat it as the end of the path."""
    for path, volume in job.each("volumes"):
        if ":" in volume.mount_path:
            detail = "must not contain ':', which some container runtimes treat as the end of the path"
            yield Notice(path / "mountPath", detail)


@rule("volumes")
def volumes_are_mounted_at_places_of_their_own(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Two volumes cannot be mounted at the same path."""
    seen: dict[str, Path] = {}
    for path, volume in job.each("volumes"):
        if (first := seen.setdefault(volume.mount_path, path)) is not path:
            yield Duplicate(path / "mountPath", volume.mount_path, f"already used by {first}")


@rule("volumes")
def volumes_leave_the_mounts_of_templates_alone(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano mounts the job's volumes into every container, and the API server rejects two mounts at the same path.

    Volcano mounts only the first of several volumes with the same claim, and none into init containers.
    """
    claims: set[str] = set()
    paths: dict[str, Path] = {}
    for path, volume in job.each("volumes"):
        if not volume.volume_claim_name or volume.volume_claim_name not in claims:
            paths.setdefault(volume.mount_path, path)
        claims.add(volume.volume_claim_name or "")
    if job.fits and mount_paths(job).isdisjoint(paths):
        return
    for task in job.tasks:
        for place, container in objects(spec_of(task.template).get("containers")):
            for index, mount in objects(container.get("volumeMounts")):
                mount_path = mount.get("mountPath")
                if isinstance(mount_path, str) and mount_path in paths:
                    detail = f"already used by {paths[mount_path]}, which is mounted in every container"
                    path = task.template_path / "spec" / "containers" / place / "volumeMounts" / index / "mountPath"
                    yield Duplicate(path, mount_path, f"{detail}: change one of the paths")


@rule("volumes")
def volumes_have_one_claim(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A volume is an existing claim, or a new one: Volcano writes its name into the stored job."""
    for path, volume in job.each("volumes"):
        if volume.volume_claim is None and not volume.volume_claim_name:
            yield Required(path, "must set volumeClaimName for an existing claim, or volumeClaim for a new one")
        elif volume.volume_claim is not None and volume.volume_claim_name and context.operation is Operation.CREATE:
            detail = "may not be set together with volumeClaim, whose claim is named automatically: remove one of them"
            yield Forbidden(path / "volumeClaimName", detail)


@rule("volumes")
def claims_have_legal_names(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """The name of a claim is a DNS subdomain."""
    for path, volume in job.each("volumes"):
        if volume.volume_claim_name and (fault := dns_subdomain(volume.volume_claim_name)):
            yield Invalid(path / "volumeClaimName", volume.volume_claim_name, fault)


@rule("volumes")
def claims_can_be_made(job: Job[JobSpec], _: Context) -> Iterator[Cause | Notice]:
    """A job stays Pending if the API server rejects the claim that Volcano makes for it."""
    for path, volume in job.each("volumes"):
        if volume.volume_claim is not None:
            yield from CLAIM_SPEC.check(volume.volume_claim, path / "volumeClaim")


@rule("volumes")
def claims_are_mounted_once(job: Job[JobSpec], _: Context) -> Iterator[Notice]:
    """Volcano mounts only the first of several volumes with the same claim."""
    seen: dict[str, Path] = {}
    for path, volume in job.each("volumes"):
        name = volume.volume_claim_name
        if name and (first := seen.setdefault(name, path)) is not path:
            yield Notice(path / "volumeClaimName", f"not mounted: a claim is mounted once, and {first} comes first")


@rule("volumes", updates=True)
def existing_claims_stay(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """Running pods keep using the first claim. Volcano sets only the names of claims that it creates."""
    before: dict[str | int, Mapping[str, Any]] = dict(objects(spec_of(context.old or {}).get("volumes")))
    for path, volume in job.each("volumes"):
        stored = before.get(path.steps[-1])
        if volume.volume_claim is None and stored and stored.get("volumeClaim") is None:
            name, now = stored.get("volumeClaimName") or "", volume.volume_claim_name or ""
            if now != name:
                detail = f'may not change after the job is created: must stay "{name}"'
                cause = Forbidden(path / "volumeClaimName", detail)
                cause.value = now
                yield cause


volume_rules = (
    mount_paths_have_no_colon,
    volumes_are_mounted_at_places_of_their_own,
    volumes_leave_the_mounts_of_templates_alone,
    volumes_have_one_claim,
    claims_have_legal_names,
    claims_can_be_made,
    claims_are_mounted_once,
)
