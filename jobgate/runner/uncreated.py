"""Why pods are not created: the Job controller reports it in Events only.

They are listed, and not watched, as seldom anything is wrong: once for all jobs of a namespace, and no more often than
every `PERIOD`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from jobgate.cluster import Api
from jobgate.cluster.events import EVENTS
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.seen import controllers_of
from jobgate.runner.subject import LONG_AGO, Observed, condition, moment
from webhook.values import labels_of, mapping, metadata_of, text, whole

#: The Events of the Job controller about pods that it cannot create.
SELECTOR: Final = "involvedObject.kind=Job,reason=FailedCreate"
#: Seconds that a batch Job may have too few pods before its Events are read, and between two reads.
GRACE: Final = 5.0
PERIOD: Final = 15.0
#: Most characters of a reason; a status has one of each task.
LIMIT: Final = 500

#: What differs from pod to pod, before the reason: one reason of all pods is reported once.
_POD: Final = re.compile(r'^.*?Error creating: (?:pods? "[^"]*" is )?', re.IGNORECASE)
_INTERVAL: Final = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?")
_ENDS: Final = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")

#: Seconds that reading the Events of a namespace may take, and the batch Jobs of which reasons are remembered.
TIMEOUT: Final = 10.0
MOST: Final = 1_000
#: Most characters of a uid; they are UUIDs.
_UID: Final = 64
#: Namespaces of which reasons are remembered, the last ones that were read.
_NAMESPACES: Final = 64
#: Periods after which a namespace is forgotten.
_KEPT: Final = 4

#: Why a batch Job has too few pods, by its uid, and when that was reported.
_Reasons: TypeAlias = Mapping[str, tuple[datetime, str]]

_logger = logging.getLogger("jobgate")


class UncreatedPods:
    """Finds out why jobs have too few pods."""

    def __init__(self, events: Callable[[str], Api]) -> None:
        """Know nothing yet. `events` gives a client for the Events of a namespace that `SELECTOR` selects."""
        self._events = events
        #: By namespace: when its Events were read, and what they say.
        self._known: dict[str, tuple[datetime, _Reasons]] = {}
        self._reading: set[str] = set()

    async def why(self, namespace: str, observed: Observed) -> tuple[str, float | None]:
        """Return why pods of a job are not created, and in how many seconds to ask again; None for not at all."""
        short = [(batch, since) for batch in observed.jobs if (since := _short_since(batch))]
        late = [batch for batch, since in short if (observed.now - since).total_seconds() >= GRACE]
        if not late:
            return "", GRACE if short else None
        events, tasks = await self._read(namespace, observed.now), dict[str, list[str]]()
        if events is None:
            return "", 1.0
        for batch in late:
            last, why = events.get(text(metadata_of(batch).get("uid")), (LONG_AGO, ""))
            # Events stay for an hour: one that is older than a pod, or than the last resume, says nothing of now.
            if why and last >= _newest(batch, observed):
                tasks.setdefault(why, []).append(text(labels_of(batch).get(TASK_LABEL)))
        said = (f"pods of {', '.join(sorted(names))} cannot be created: {why}" for why, names in sorted(tasks.items()))
        return "; ".join(said), PERIOD

    async def _read(self, namespace: str, now: datetime) -> _Reasons | None:
        """Return the last reason of each batch Job of a namespace; None where it is being read for the first time.

        Who asks while they are read does not wait: a namespace of many Events holds up no other.
        """
        periods = {name: (now - read).total_seconds() / PERIOD for name, (read, _) in self._known.items()}
        if namespace not in self._reading and periods.get(namespace, 1.0) >= 1.0:
            recent = [(name, one) for name, one in self._known.items() if periods[name] < _KEPT]
            self._known = dict(recent[-_NAMESPACES:])
            self._reading.add(namespace)
            try:
                self._known[namespace] = now, await self._listed(namespace)
            finally:
                self._reading.discard(namespace)
        return self._known[namespace][1] if namespace in self._known else None

    async def _listed(self, namespace: str) -> _Reasons:
        found: dict[str, tuple[datetime, str]] = {}
        try:
            async with asyncio.timeout(TIMEOUT):
                async for page in self._events(namespace).pages(EVENTS):
                    for event in page.items:
                        uid = text(mapping(event.get("involvedObject")).get("uid"))[:_UID]
                        if uid in found or len(found) < MOST:
                            # Of two in the same second the same one counts each time.
                            reason = _last(event), _POD.sub("", text(event.get("message")))[:LIMIT]
                            found[uid] = max(found.get(uid, (LONG_AGO, "")), reason)
        except Exception as error:  # noqa: BLE001  # the job is looked at in any case
            fields = {"namespace": namespace, "reason": f"{type(error).__qualname__}: {error}"}
            _logger.warning("cannot read why pods are not created, will be retried", extra={"fields": fields})
            return self._known.get(namespace, (None, {}))[1]
        return found


def _short_since(batch: Mapping[str, Any]) -> datetime | None:
    """Return when a batch Job was started that has too few pods; None where it has enough, or is to have none."""
    spec, status = mapping(batch.get("spec")), mapping(batch.get("status"))
    if spec.get("suspend") is True or metadata_of(batch).get("deletionTimestamp"):
        return None
    if any(condition(status, kind) for kind in _ENDS):
        return None
    there = sum(whole(status.get(word)) or 0 for word in ("active", "succeeded", "terminating"))
    enough = there + _indices(text(status.get("failedIndexes"))) >= (whole(spec.get("completions")) or 0)
    return None if enough else moment(status.get("startTime"))


def _indices(intervals: str) -> int:
    """Return how many indices are in a list as a batch Job has it, as `1,3-5`."""
    return sum(int(last or first) - int(first) + 1 for first, last in _INTERVAL.findall(intervals))


def _newest(batch: Mapping[str, Any], observed: Observed) -> datetime:
    """Return when a batch Job was started, or got its newest pod."""
    uid = text(metadata_of(batch).get("uid"))
    born = (moment(metadata_of(pod).get("creationTimestamp")) for pod in observed.pods if uid in controllers_of(pod))
    started = moment(mapping(batch.get("status")).get("startTime"))
    return max(filter(None, (started, *born)), default=LONG_AGO)


def _last(event: Mapping[str, Any]) -> datetime:
    """Return when an Event was reported the last time."""
    times = (event.get("lastTimestamp"), mapping(event.get("series")).get("lastObservedTime"), event.get("eventTime"))
    return max(filter(None, map(moment, times)), default=LONG_AGO)
