"""The rules of a job's own volumes: claims that every container has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jobgate.kinds.common.pod.reading import items, mapping, text
from jobgate.kinds.common.pod.volumes import CLAIM_SPEC
from jobgate.kinds.vcjob.models import JobSpec, VolumeSpec
from jobgate.names import dns_subdomain
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
    Rule,
    readable,
    rule,
)

_PLACE = Path("spec") / "volumes"


@rule("volumes")
def mount_paths_have_no_colon(job: Job[JobSpec], __: Context) -> Iterator[Notice]:
    """The API server accepts a colon, but some container runtimes treat it as the end of the path."""
    for index, volume in readable(job.spec.volumes or (), "mount_path"):
        if ":" in volume.mount_path:
            yield Notice(
                _PLACE / index / "mountPath",
                "must not contain ':', which some container runtimes treat as the end of the path",
            )


@rule("volumes")
def volumes_are_mounted_at_places_of_their_own(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """Two volumes cannot be mounted at the same path."""
    seen: dict[str, int] = {}
    for index, volume in readable(job.spec.volumes or (), "mount_path"):
        first = seen.setdefault(volume.mount_path, index)
        if first != index:
            yield Duplicate(_PLACE / index / "mountPath", volume.mount_path, f"already used by {_PLACE / first}")


@rule("volumes", reads=("tasks.template",))
def volumes_leave_the_mounts_of_templates_alone(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """Volcano mounts the job's volumes into every container, and the API server rejects two mounts at one path."""
    places = {volume.mount_path: index for index, volume in reversed(tuple(_mounted(job)))}
    if not places:
        return
    for task in job.tasks:
        for path, mounted in _mounts(task.template, task.template_path):
            if mounted in places:
                detail = (
                    f"already used by {_PLACE / places[mounted]}, which is mounted in every container: "
                    "change one of the paths"
                )
                yield Duplicate(path / "mountPath", mounted, detail)


def _mounted(job: Job[JobSpec]) -> Iterator[tuple[int, VolumeSpec]]:
    """Yield the volumes that Volcano mounts: of several of one claim, the first."""
    seen: set[str] = set()
    for index, volume in readable(job.spec.volumes or (), "mount_path", "volume_claim_name"):
        if not volume.volume_claim_name or volume.volume_claim_name not in seen:
            yield index, volume
        seen.add(volume.volume_claim_name or "")


def _mounts(template: Mapping[str, object], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield where the containers of a template mount its own volumes; Volcano leaves init containers alone."""
    for place, container in enumerate(items(mapping(template.get("spec")).get("containers"))):
        for index, mount in enumerate(items(mapping(container).get("volumeMounts"))):
            yield path / "spec" / "containers" / place / "volumeMounts" / index, text(mapping(mount).get("mountPath"))


@rule("volumes")
def volumes_have_one_claim(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A volume is an existing claim, or a new one whose name Volcano writes into the stored job."""
    for index, volume in readable(job.spec.volumes or (), "volume_claim", "volume_claim_name"):
        path = _PLACE / index
        if volume.volume_claim is None and not volume.volume_claim_name:
            yield Required(path, "must set volumeClaimName for an existing claim, or volumeClaim for a new one")
        elif volume.volume_claim is not None and volume.volume_claim_name and context.operation is Operation.CREATE:
            detail = "may not be set together with volumeClaim, whose claim is named automatically: remove one of them"
            yield Forbidden(path / "volumeClaimName", detail)


@rule("volumes")
def claims_have_legal_names(job: Job[JobSpec], __: Context) -> Iterator[Cause]:
    """The name of a claim is a DNS subdomain."""
    for index, volume in readable(job.spec.volumes or (), "volume_claim_name"):
        if volume.volume_claim_name and (fault := dns_subdomain(volume.volume_claim_name)):
            yield Invalid(_PLACE / index / "volumeClaimName", volume.volume_claim_name, fault)


@rule("volumes")
def claims_can_be_made(job: Job[JobSpec], __: Context) -> Iterator[Cause | Notice]:
    """A job stays Pending if the API server rejects the claim that Volcano makes for it."""
    for index, volume in readable(job.spec.volumes or (), "volume_claim"):
        if volume.volume_claim is not None:
            yield from CLAIM_SPEC.check(volume.volume_claim, _PLACE / index / "volumeClaim")


@rule("volumes")
def claims_are_mounted_once(job: Job[JobSpec], __: Context) -> Iterator[Notice]:
    """Volcano mounts only the first of several volumes with the same claim."""
    seen: dict[str, int] = {}
    for index, volume in readable(job.spec.volumes or (), "volume_claim_name"):
        if volume.volume_claim_name and (first := seen.setdefault(volume.volume_claim_name, index)) != index:
            detail = f"not mounted: a claim is mounted once, and {_PLACE / first} comes first"
            yield Notice(_PLACE / index / "volumeClaimName", detail)


volume_rules: tuple[Rule, ...] = (
    mount_paths_have_no_colon,
    volumes_are_mounted_at_places_of_their_own,
    volumes_leave_the_mounts_of_templates_alone,
    volumes_have_one_claim,
    claims_have_legal_names,
    claims_can_be_made,
    claims_are_mounted_once,
)
