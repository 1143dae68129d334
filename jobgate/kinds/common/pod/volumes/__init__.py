"""Volumes: what `core/v1` takes as the volumes of a pod, source by source.

`check` judges those of a pod, `check_volumes` a list of them that stands elsewhere. The sources live in files by
family: `local`, `network`, `cloud`, `cluster` (what other objects of the cluster give), `projected`, `claims` and
`drivers`.
"""

from jobgate.kinds.common.pod.volumes.volumes import FAMILY, SOURCES, check, check_volumes

__all__ = ["FAMILY", "SOURCES", "check", "check_volumes"]
