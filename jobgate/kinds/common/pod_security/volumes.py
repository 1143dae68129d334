"""Which volumes a pod may have: none of its host's, and where it is restricted none that reach out by themselves.

From the checks hostPathVolumes and restrictedVolumes of Pod Security admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, defstruct

from jobgate.kinds.common.fitting import Never
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import objects, spec_of
from jobgate.kinds.common.pod_security.violation import Level, Violation
from webhook.path import Path

#: What a restricted pod may not have: an administrator makes them PersistentVolumes.
_OUTSIDE: Final = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
)


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    """Yield the volumes that a pod may not have."""
    for index, volume in objects(spec_of(pod).get("volumes")):
        here = path / "spec" / "volumes" / index
        if volume.get("hostPath") is not None:
            right = "hostPath volumes are not allowed: use another volume type"
            yield Violation(here / "hostPath", "hostPath", right, Level.BASELINE, written=volume["hostPath"])
        for source in _OUTSIDE:
            if volume.get(source) is not None:
                right = "volume type not allowed: use another type, such as persistentVolumeClaim"
                yield Violation(here / source, source, right, Level.RESTRICTED, written=volume[source])


def _volumes_without(*sources: str) -> Any:
    return list[defstruct("Volume", [(source, Never, UNSET) for source in sources])]  # type: ignore[misc]  # made just now


BASELINE = Family(check=check, spec={"volumes": _volumes_without("hostPath")})
RESTRICTED = Family(check=check, spec={"volumes": _volumes_without("hostPath", *_OUTSIDE)})
