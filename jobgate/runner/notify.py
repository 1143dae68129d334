"""Notifications: when a job ends, an HTTP request to an address of the administrator, repeated until it is received.

`status.jobgate.notify` says that a message is still to be sent. It is stored together with the end of the job, and
removed when the message was received or given up: a restart of the runner loses none, and may send one again.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

import orjson
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from jobgate.cluster import Backoff
from jobgate.controller.metrics import ControllerMetrics
from jobgate.pods.budget import AnswerCache
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.progress import tasks_of
from jobgate.runner.seen import JobKey
from jobgate.runner.subject import Observed, Subject, look, moment
from jobgate.serving.reload import FileReloader
from webhook.values import mapping, objects, text

#: Seconds without a byte of the receiver, and time after the end of a job in which its message is sent again.
TIMEOUT, GIVE_UP = 10.0, timedelta(hours=24)
#: Delays between attempts.
RETRY = Backoff(first=1.0, most=300.0)
#: Most messages for one address that wait, and for one host that are sent at once; seconds until more are taken.
WAITING, AT_ONCE, LATER = 500, 4, 30.0

_logger = logging.getLogger("jobgate")


def message(subject: Subject, observed: Observed, queue: str) -> bytes:
    """Return the message about a job that has ended: a CloudEvent as JSON."""
    crew, status = subject.crew, mapping(subject.job.document.get("status"))
    conditions = [entry for _, entry in objects(status.get("conditions"))]
    # The reason is in the state of a Volcano Job, whose conditions have a phase as their status.
    why = mapping(status.get("state")) or next(
        (condition for condition in conditions[::-1] if condition.get("status") == "True"), {}
    )
    ran = next(
        (condition for condition in conditions if "Running" in (condition.get("type"), condition.get("status"))), {}
    )
    pods = Counter[str]()
    for task in tasks_of(subject, look(subject, observed)).values():
        # Pods that have succeeded are counted even if they are gone.
        pods.update({**task.phases, "Succeeded": task.succeeded})
    details = {
        "apiVersion": crew.api_version,
        **{field: getattr(crew, field) for field in ("kind", "namespace", "name", "uid")},
        "queue": queue,
        "phase": subject.runner.end_phase(status),
        "reason": text(why.get("reason")),
        "message": text(why.get("message")),
        "started": text(ran.get("lastTransitionTime")) or text(status.get("startTime")),
        "ended": subject.runner.end_time(status),
        "pods": {phase: count for phase, count in sorted(pods.items()) if count},
    }
    event = {
        "specversion": "1.0",
        "id": crew.uid,
        "source": f"/apis/{crew.api_version}/namespaces/{crew.namespace}/{subject.job.kind.plural}",
        "type": "dev.jobgate.job.ended",
        "subject": crew.name,
        "datacontenttype": "application/json",
        "data": details,
    }
    return orjson.dumps(event)


def signed(secrets: Iterable[bytes], number: str, seconds: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message with this id at this time, with a signature for each secret."""
    content = b"%b.%d.%b" % (number.encode(), seconds, body)
    signatures = [f"v1,{b64encode(hmac.digest(secret, content, 'sha256')).decode()}" for secret in secrets]
    names = {"webhook-id": number, "webhook-timestamp": str(seconds), "webhook-signature": " ".join(signatures)}
    return {**names, "Content-Type": "application/cloudevents+json"}


def read_secrets(content: bytes) -> tuple[bytes, ...]:
    """Return the secrets in a file, one a line.

    Raises:
        ValueError: there is none, or one is invalid. The message does not contain it.
    """
    try:
        secrets = [b64decode(line.removeprefix("whsec_"), validate=True) for line in content.decode().split()]
    except ValueError:
        secrets = []
    if min(map(len, secrets), default=0) < 24:
        raise ValueError("each line must be whsec_ and at least 24 bytes in base64")
    return tuple(secrets)


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """The file of secrets, and the address of jobs whose queue has none; empty for none."""

    secret: Path
    address: str


class _Message(NamedTuple):
    """A message that waits, and until when it is sent again."""

    key: JobKey
    uid: str
    address: str
    body: bytes
    until: datetime


class Notifier:
    """Sends messages while `run` runs."""

    def __init__(
        self,
        settings: NotifySettings,
        dispatcher: Dispatcher | None,
        metrics: ControllerMetrics,
        clock: Callable[[], datetime],
        later: Callable[[JobKey, float], None],
    ) -> None:
        """Create a notifier. `later` reconciles a job after a number of seconds."""
        self._settings, self._dispatcher, self._clock, self._later = settings, dispatcher, clock, later
        self._secrets: tuple[bytes, ...] = ()
        self._reloader = FileReloader(settings.secret, read_secrets, partial(setattr, self, "_secrets"), "secrets")
        self._outcomes = metrics.notifications
        self._new: asyncio.Queue[_Message] = asyncio.Queue()
        self._uids: set[str] = set()
        #: Jobs whose status still says that their message is to be sent, although it was.
        self._done = AnswerCache[bool](time.monotonic)
        self._waiting = Counter[str]()
        metrics.waiting.set_function(self._waiting.total)

    def wants(self, key: JobKey, subject: Subject, observed: Observed) -> bool:
        """Return whether the end of a job is to be reported. If it has ended, its message is sent meanwhile."""
        queue, uid = subject.state.queue or subject.crew.queue, subject.crew.uid
        address = (self._dispatcher.address(queue) if self._dispatcher else "") or self._settings.address
        if not subject.state.notify or not address or uid in self._uids:
            return bool(address)
        if self._done.get(uid):
            return False
        if self._waiting[address] >= WAITING:
            self._later(key, LATER)
            return True
        ended = moment(subject.runner.end_time(mapping(subject.job.document.get("status")))) or self._clock()
        self._uids.add(uid)
        self._waiting[address] += 1
        self._new.put_nowait(_Message(key, uid, address, message(subject, observed, queue), ended + GIVE_UP))
        return True

    async def run(self) -> None:
        """Send messages until cancelled."""
        connector, wait = TCPConnector(limit=0, limit_per_host=AT_ONCE), ClientTimeout(None, None, TIMEOUT, TIMEOUT)
        session = ClientSession(connector=connector, timeout=wait, cookie_jar=DummyCookieJar())
        async with session, asyncio.TaskGroup() as group:
            group.create_task(self._reloader.run())
            while not self._secrets:  # noqa: ASYNC110  # until the first check, or until the file has some
                await asyncio.sleep(0.1)
            while True:
                group.create_task(self._deliver(session, await self._new.get()))

    async def _deliver(self, session: ClientSession, sent: _Message) -> None:
        """Send a message until it is received or given up."""
        failures, outcome, host = 0, "failed", re.split("[/?]", sent.address)[2]
        while outcome == "failed":
            now = self._clock()
            headers = signed(self._secrets, sent.uid, int(now.timestamp()), sent.body)
            try:
                # The body of the answer is not read: it may be of any length.
                async with session.post(sent.address, data=sent.body, headers=headers, allow_redirects=False) as answer:
                    code, fault = answer.status, f"answered {answer.status}"
            except Exception as error:  # noqa: BLE001  # of many kinds; their texts may quote the address
                code, fault = 0, f"no answer: {type(error).__qualname__}"
            if 200 <= code < 300:
                outcome, fault = "sent", ""
            elif code == HTTPStatus.GONE or now > sent.until:
                outcome = "given_up"
            self._outcomes.labels(outcome).inc()
            # Of the address only the host: the rest may be secret.
            fields = {"job": "/".join(sent.key[1:]), "host": host, "reason": fault}
            level = logging.WARNING if fault else logging.INFO
            _logger.log(level, "notification %s", outcome, extra={"fields": fields})
            failures += 1
            await asyncio.sleep(RETRY.seconds(failures) if outcome == "failed" else 0.0)
        self._done.keep(sent.uid, True, 3600.0)
        self._uids.discard(sent.uid)
        self._waiting[sent.address] -= 1
        self._later(sent.key, 0.0)
