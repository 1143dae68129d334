"""Jobs as they are read: a spec once, however often the rest of the job changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobgate.kinds.common.pod.reading import metadata_of
from jobgate.runner.seen import Whose
from jobgate.runner.subject import Subject, read
from webhook import Job, Kind

#: What of the metadata counts for how a spec is read.
_COUNTS = ("uid", "generation", "labels", "annotations")


class Reader:
    """Reads jobs, and remembers what is made of their specs: checks and defaults cost more than the rest of a look."""

    def __init__(self, domain: str, groups: str = "") -> None:
        """Remember nothing yet.

        Args:
            domain: of the cluster's Services.
            groups: the apiVersion of Kubernetes' own PodGroup, where jobs are gangs; empty where they are none.
        """
        self._domain = domain
        self._groups = groups
        self._known: dict[Whose, tuple[list[Any], Subject | None]] = {}

    def __len__(self) -> int:
        """How many jobs are remembered."""
        return len(self._known)

    def read(self, key: Whose, kind: Kind, document: Mapping[str, Any]) -> Subject | None:
        """Read a job; None where it does not fit its schema."""
        counts = [metadata_of(document).get(word) for word in _COUNTS]
        known, subject = self._known.get(key, (None, None))
        if known != counts:
            subject = read(kind, document, self._domain, self._groups)
            self._known[key] = counts, subject
            return subject
        if subject is None:
            return None
        job = subject.job
        metadata = {**document["metadata"], **{word: job.document["metadata"].get(word) for word in _COUNTS}}
        whole = {**job.document, "metadata": metadata, "status": document.get("status")}
        return replace(subject, job=Job(kind, whole, job.spec))

    def forget(self, key: Whose) -> None:
        """Forget a job that is gone, or is looked at seldom."""
        self._known.pop(key, None)
