"""The rules of a job's own volumes: claims that every container has."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.vcjob.models import JobSpec, VolumeSpec
from jobgate.names import dns_subdomain
from jobgate.podchecks.reading import containers
from jobgate.podchecks.volumes import CLAIM_SPEC
from webhook import (
    Cause,
    Context,
    Duplicate,
    Forbidden,
    Invalid,
    Job,
    Notice,
    Operation,
    Path,
    Required,
    readable,
    rule,
)
from webhook.values import mapping, objects

_PLACE = Path("spec") / "volumes"


@rule("volumes")
def mount_paths_have_no_colon(job: Job[JobSpec], __: Context) -> Iterator[Notice]:
    """The API server accepts a colon, but some container runtimes treat it as the end of the path."""
    for path, volume in _volumes(job, "mount_path"):
        if ":" in volume.mount_path:
            detail = "must not contain ':', which some container runtimes treat as the end of the path"
            yield Notice(path / "mountPath", detail)


@rule("volumes")
def volumes_are_mounted_at_places_of_their_own(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """Two volumes cannot be mounted at the same path."""
    seen: dict[str, Path] = {}
    for path, volume in _volumes(job, "mount_path"):
        if (first := seen.setdefault(volume.mount_path, path)) is not path:
            yield Duplicate(path / "mountPath", volume.mount_path, f"already used by {first}")


@rule("volumes", reads=("tasks.template",))
def volumes_leave_the_mounts_of_templates_alone(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """Volcano mounts the job's volumes into every container, and the API server rejects two mounts at one path.

    Of several volumes of one claim it mounts the first, and none into init containers.
    """
    claims: set[str] = set()
    places: dict[str, Path] = {}
    for path, volume in _volumes(job, "mount_path", "volume_claim_name"):
        if not volume.volume_claim_name or volume.volume_claim_name not in claims:
            places.setdefault(volume.mount_path, path)
        claims.add(volume.volume_claim_name or "")
    for task in job.tasks if places else ():
        for container in containers(task.template, task.template_path, ("containers",)):
            for index, mount in objects(container.json.get("volumeMounts")):
                mounted = mount.get("mountPath")
                if isinstance(mounted, str) and mounted in places:
                    detail = f"already used by {places[mounted]}, which is mounted in every container"
                    path = container.path / "volumeMounts" / index / "mountPath"
                    yield Duplicate(path, mounted, f"{detail}: change one of the paths")


@rule("volumes")
def volumes_have_one_claim(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A volume is an existing claim, or a new one whose name Volcano writes into the stored job."""
    for path, volume in _volumes(job, "volume_claim", "volume_claim_name"):
        if volume.volume_claim is None and not volume.volume_claim_name:
            yield Required(path, "must set volumeClaimName for an existing claim, or volumeClaim for a new one")
        elif volume.volume_claim is not None and volume.volume_claim_name and context.operation is Operation.CREATE:
            detail = "may not be set together with volumeClaim, whose claim is named automatically: remove one of them"
            yield Forbidden(path / "volumeClaimName", detail)


@rule("volumes")
def claims_have_legal_names(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """The name of a claim is a DNS subdomain."""
    for path, volume in _volumes(job, "volume_claim_name"):
        if volume.volume_claim_name and (fault := dns_subdomain(volume.volume_claim_name)):
            yield Invalid(path / "volumeClaimName", volume.volume_claim_name, fault)


@rule("volumes")
def claims_can_be_made(job: Job[JobSpec], __: Context) -> Iterator[Cause | Notice]:
    """A job stays Pending if the API server rejects the claim that Volcano makes for it."""
    for path, volume in _volumes(job, "volume_claim"):
        if volume.volume_claim is not None:
            yield from CLAIM_SPEC.check(volume.volume_claim, path / "volumeClaim")


@rule("volumes")
def claims_are_mounted_once(job: Job[JobSpec], __: Context) -> Iterator[Notice]:
    """Volcano mounts only the first of several volumes with the same claim."""
    seen: dict[str, Path] = {}
    for path, volume in _volumes(job, "volume_claim_name"):
        name = volume.volume_claim_name
        if name and (first := seen.setdefault(name, path)) is not path:
            yield Notice(path / "volumeClaimName", f"not mounted: a claim is mounted once, and {first} comes first")


@rule(reads=("volumes",), updates=True)
def existing_claims_stay(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """Running pods use the claim that was named first. Volcano sets only the names of claims that it creates."""
    before = dict(objects(mapping(mapping(context.old).get("spec")).get("volumes")))
    for index, volume in readable(job.spec.volumes or (), "volume_claim", "volume_claim_name"):
        stored = before.get(index)
        if volume.volume_claim is None and stored and stored.get("volumeClaim") is None:
            name, now = stored.get("volumeClaimName") or "", volume.volume_claim_name or ""
            if now != name:
                cause = Forbidden(
                    _PLACE / index / "volumeClaimName", f'may not change after the job is created: must stay "{name}"'
                )
                cause.value = now
                yield cause


def _volumes(job: Job[JobSpec], *words: str) -> Iterator[tuple[Path, VolumeSpec]]:
    """Yield the volumes of which these attributes can be read, each with its place."""
    return ((_PLACE / index, volume) for index, volume in readable(job.spec.volumes or (), *words))


volume_rules = (
    mount_paths_have_no_colon,
    volumes_are_mounted_at_places_of_their_own,
    volumes_leave_the_mounts_of_templates_alone,
    volumes_have_one_claim,
    claims_have_legal_names,
    claims_can_be_made,
    claims_are_mounted_once,
)
