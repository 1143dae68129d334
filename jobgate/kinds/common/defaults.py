"""Defaults that every kind with pod templates can share."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.amounts import may_overcommit
from webhook import Context, Draft


def limit_what_is_not_shared(job: Draft, _: Context) -> None:
    """Devices and huge pages that are only requested are limited to as much.

    The API server refuses a pod that requests them without a limit, and takes no other limit than the request: there is
    one value that can be meant. Without it the job would be stored and its pods would never be made.
    """
    for container in _containers(job):
        resources = container.at("resources")
        requests = resources.get("requests") if resources is not None else None
        if resources is None or not isinstance(requests, dict):
            continue
        missing = {name: amount for name, amount in requests.items() if amount is not None and not may_overcommit(name)}
        limits = resources.at("limits")
        if limits is not None:
            for name, amount in missing.items():
                limits.setdefault(name, amount)
        elif missing:
            resources.setdefault("limits", missing)


def _containers(job: Draft) -> Iterator[Draft]:
    for task in job.each("spec", "tasks"):
        yield from task.each("template", "spec", "initContainers")
        yield from task.each("template", "spec", "containers")
