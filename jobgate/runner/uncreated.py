"""Why pods are not created. The Job controller reports it only in Events.

Events are seldom needed, so they are not watched but listed: once for all jobs of a namespace, at most every `PERIOD`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from jobgate.cluster import Api
from jobgate.cluster.events import EVENTS
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.seen import controllers_of
from jobgate.runner.subject import LONG_AGO, Observed, condition, later, moment
from webhook.values import labels_of, mapping, metadata_of, text, whole

#: Selects the Events of the Job controller about pods that it cannot create.
SELECTOR: Final = "involvedObject.kind=Job,reason=FailedCreate"
#: Seconds that a batch Job may lack pods before Events are read, and seconds between two reads: together less than 15.
GRACE: Final = 4.0
PERIOD: Final = 10.0
#: Most characters of a reason. A status has one per task.
LIMIT: Final = 500

#: The start of a message, which differs from pod to pod: without it, a reason is reported once for all pods.
_POD: Final = re.compile(r'^.*?Error creating: (?:pods? "[^"]*" is )?', re.IGNORECASE)
_INTERVAL: Final = re.compile(r"(\d{1,10})(?:-(\d{1,10}))?")
_ENDS: Final = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")

#: Seconds in which the Events of a namespace must be read, and most batch Jobs whose reasons are kept.
TIMEOUT: Final = 10.0
MOST: Final = 1_000
#: Most characters of a uid; they are UUIDs.
_UID: Final = 64
#: Most namespaces whose reasons are kept: those read last.
_NAMESPACES: Final = 64
#: Number of periods after which the reasons of a namespace are dropped.
_KEPT: Final = 4

#: By the uid of a batch Job: when it was last reported that it lacks pods, and why.
Reasons: TypeAlias = Mapping[str, tuple[datetime, str]]

_logger = logging.getLogger("jobgate")


class UncreatedPods:
    """Finds out why jobs have too few pods."""

    def __init__(self, events: Callable[[str], Api]) -> None:
        """`events` returns a client for the Events of a namespace that `SELECTOR` selects."""
        self._events = events
        #: By namespace: when its Events were read, and the reasons in them.
        self._known: dict[str, tuple[datetime, Reasons]] = {}
        self._reading: set[str] = set()

    async def why(self, namespace: str, observed: Observed) -> tuple[str, float | None]:
        """Return why pods of a job are not created, and the seconds until to ask again; None for never."""
        short = [(batch, since) for batch in observed.jobs if (since := _short_since(batch))]
        left = [GRACE - (observed.now - since).total_seconds() for _, since in short]
        if all(seconds > 0 for seconds in left):
            return "", min(left, default=None)
        reasons = await self._read(namespace, observed.now)
        return ("", 1.0) if reasons is None else ("; ".join(why_uncreated(observed, reasons)), PERIOD)

    async def _read(self, namespace: str, now: datetime) -> Reasons | None:
        """Return the last reason of each batch Job in a namespace; None while it is read for the first time.

        Calls during a read return at once, so that a namespace with many Events delays no other.
        """
        periods = {name: (now - read).total_seconds() / PERIOD for name, (read, _) in self._known.items()}
        if namespace not in self._reading and periods.get(namespace, 1.0) >= 1.0:
            recent = [(name, known) for name, known in self._known.items() if periods[name] < _KEPT]
            self._known = dict(recent[-_NAMESPACES:])
            self._reading.add(namespace)
            try:
                self._known[namespace] = now, await self._listed(namespace)
            finally:
                self._reading.discard(namespace)
        return self._known[namespace][1] if namespace in self._known else None

    async def _listed(self, namespace: str) -> Reasons:
        reasons: dict[str, tuple[datetime, str]] = {}
        try:
            async with asyncio.timeout(TIMEOUT):
                async for page in self._events(namespace).pages(EVENTS):
                    add_reasons(reasons, page.items)
        except Exception as error:  # noqa: BLE001  # the reason is optional
            fields = {"namespace": namespace, "reason": f"{type(error).__qualname__}: {error}"}
            _logger.warning("cannot read why pods are not created, will be retried", extra={"fields": fields})
            return self._known.get(namespace, (None, {}))[1]
        return reasons


def add_reasons(reasons: dict[str, tuple[datetime, str]], events: Iterable[Mapping[str, Any]]) -> None:
    """Add the last reason of each object to reasons by uid."""
    for event in events:
        uid = text(mapping(event.get("involvedObject")).get("uid"))[:_UID]
        if uid in reasons or len(reasons) < MOST:
            # Compares the text, too: of two in the same second, always the same wins.
            reason = last_time(event), _POD.sub("", text(event.get("message")))[:LIMIT]
            reasons[uid] = max(reasons.get(uid, (LONG_AGO, "")), reason)


def why_uncreated(observed: Observed, reasons: Reasons) -> list[str]:
    """Return why batch Jobs that have lacked pods for a while get none."""
    tasks: dict[str, list[str]] = {}
    for batch in observed.jobs:
        since = _short_since(batch)
        last, why = reasons.get(text(metadata_of(batch).get("uid")), (LONG_AGO, ""))
        # Events are kept for an hour: one that is older than a pod, or than the last resume, is outdated.
        if since and later(since, GRACE) <= observed.now and why and last >= _newest(batch, observed):
            tasks.setdefault(why, []).append(text(labels_of(batch).get(TASK_LABEL)))
    return [f"pods of {', '.join(sorted(names))} cannot be created: {why}" for why, names in sorted(tasks.items())]


def _short_since(batch: Mapping[str, Any]) -> datetime | None:
    """Return since when a batch Job lacks pods: its start; None if it has enough, or should have none."""
    spec, status = mapping(batch.get("spec")), mapping(batch.get("status"))
    if spec.get("suspend") is True or metadata_of(batch).get("deletionTimestamp"):
        return None
    if any(condition(status, kind) for kind in _ENDS):
        return None
    pods = sum(whole(status.get(field)) or 0 for field in ("active", "succeeded", "terminating"))
    enough = pods + indices(text(status.get("failedIndexes"))) >= (whole(spec.get("completions")) or 0)
    return None if enough else moment(status.get("startTime"))


def indices(intervals: str, least: int = 0) -> int:
    """Return the number of indices in a list such as `1,3-5`, from a least one on."""
    return sum(max(0, int(last or first) + 1 - max(int(first), least)) for first, last in _INTERVAL.findall(intervals))


def _newest(batch: Mapping[str, Any], observed: Observed) -> datetime:
    """Return when a batch Job was started, or its newest pod created."""
    uid = text(metadata_of(batch).get("uid"))
    created = (moment(metadata_of(pod).get("creationTimestamp")) for pod in observed.pods if uid in controllers_of(pod))
    started = moment(mapping(batch.get("status")).get("startTime"))
    return max(filter(None, (started, *created)), default=LONG_AGO)


def last_time(event: Mapping[str, Any]) -> datetime:
    """Return when an Event was last reported."""
    times = (event.get("lastTimestamp"), mapping(event.get("series")).get("lastObservedTime"), event.get("eventTime"))
    return max(filter(None, map(moment, times)), default=LONG_AGO)
