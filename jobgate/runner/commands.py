"""Volcano's objects of kind Command: `vcctl job suspend` and `resume` ask by them for an action on a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from jobgate.cluster import Informer
from jobgate.controller.owned import JobIndex
from jobgate.kinds.common.pod.reading import mapping, text
from jobgate.runner.seen import COMMANDS, JobKey
from webhook import Kind

_METADATA = ("name", "namespace", "uid", "creationTimestamp")


def keep_command(found: dict[str, Any]) -> dict[str, Any]:
    """Return what is remembered of a Command."""
    metadata = {key: found["metadata"].get(key) for key in _METADATA}
    said = {key: found.get(key) for key in ("action", "target")}
    return {"apiVersion": f"{COMMANDS.group}/{COMMANDS.version}", "kind": "Command", "metadata": metadata, **said}


class Commands:
    """The Commands for jobs of a kind. Where their CRD is not installed, there are none."""

    def __init__(self, kind: Kind, changed: Callable[[JobKey], None]) -> None:
        """Know of none yet; `changed` is called with the job of each that comes or goes."""
        self._kind = kind
        self._index = JobIndex(changed)
        self.informer = Informer(COMMANDS, keep=keep_command, changed=self._take)

    def of(self, uid: str, namespace: str) -> list[Mapping[str, Any]]:
        """Return those for a job, in its namespace, the oldest first."""
        found = []
        for _, inside, name in self._index.places(uid):
            with suppress(LookupError):
                if inside == namespace and (one := self.informer.get(name, inside)):
                    found.append(one)
        return sorted(found, key=lambda one: text(one["metadata"]["creationTimestamp"]))

    def _take(self, key: tuple[str, str]) -> None:
        namespace, name = key
        target = mapping((self.informer.get(name, namespace) or {}).get("target"))
        job = (self._kind.qualified_plural, namespace, text(target.get("name")))
        jobs = {text(target.get("uid")): job} if target.get("kind") == self._kind.kind else {}
        self._index.put((COMMANDS, namespace, name), jobs)
