"""Operators that run beside: two that run one job would fight for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, text, whole
from jobgate.kinds.common.runner import runner_of
from jobgate.runner.subject import later, moment
from webhook import Kind


def rivals(
    kind: Kind, deployments: Iterable[Mapping[str, Any]], leases: Iterable[Mapping[str, Any]], now: datetime
) -> Iterator[str]:
    """Yield the operators of a kind that are alive, in words."""
    runner = runner_of(kind)
    words = runner.rivals if runner else ()
    for one in deployments:
        names = [text(metadata_of(one).get("name")), *_images(one)]
        if whole(mapping(one.get("status")).get("readyReplicas")) and _known(names, words):
            yield f"Deployment {_place(one)}"
    for one in leases:
        if _known([text(metadata_of(one).get("name"))], words) and _is_held(one, now):
            yield f"Lease {_place(one)}"


def _known(names: Iterable[str], words: Iterable[str]) -> bool:
    return any(word in name for name in names for word in words)


def _images(deployment: Mapping[str, Any]) -> Iterator[str]:
    spec = mapping(mapping(mapping(deployment.get("spec")).get("template")).get("spec"))
    return (text(one.get("image")).partition("@")[0] for _, one in objects(spec.get("containers")))


def _is_held(lease: Mapping[str, Any], now: datetime) -> bool:
    spec = mapping(lease.get("spec"))
    renewed = moment(spec.get("renewTime"))
    seconds = whole(spec.get("leaseDurationSeconds")) or 0
    return bool(spec.get("holderIdentity")) and renewed is not None and later(renewed, seconds) > now


def _place(found: Mapping[str, Any]) -> str:
    metadata = metadata_of(found)
    return f"{metadata.get('namespace')}/{metadata.get('name')}"


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)
