"""Answers the pods of jobs, by the paths of di-server: `/<version>/job/<namespace>.<name>/replicas` and `/profilings`.

A caller proves by a token that it is a pod, which belongs to the job by a label. Admission guards the label where a
runner serves the namespace, so the runner must have taken the job over. Nothing is remembered between requests: every
replica of the runner answers, and what is asked for is in the status of the job.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from jobgate.cluster import Resource
from jobgate.cluster.access import user_of
from jobgate.cluster.objects import ObjectClient
from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import STATE, is_run
from jobgate.plugins.crew import RUN_LABEL, TASK_LABEL
from jobgate.pods.budget import Budget
from jobgate.runner.jobserver.access import AUDIENCE, ServerAccess
from jobgate.runner.loop import difference
from jobgate.runner.seen import PODS
from jobgate.runner.subject import read, uid_of
from webhook.server.answer import JSON
from webhook.server.body import BadRequest, BufferedBytes, Rejection, decode
from webhook.server.certificates import Certificates
from webhook.server.connection import Connection
from webhook.server.connections import Connections
from webhook.server.files import Files, Poller
from webhook.server.limits import KIB, Limits
from webhook.server.listener import Listener, listening
from webhook.server.metrics import Metrics
from webhook.server.reader import RequestHead
from webhook.text import bearer
from webhook.values import items, labels_of, mapping, metadata_of, text, whole

LIMITS: Final = Limits(body=16 * KIB, connections=500, connections_per_address=50, header_time=5.0)
#: Seconds for each request.
TIMEOUT: Final = 10.0
#: Requests per second, and burst: of an address before its token is reviewed, of all, and of a job.
OF_ADDRESS, OF_ALL, OF_JOB = (10.0, 20.0), (50.0, 100.0), (1.0, 10.0)
_PATH: Final = re.compile(r"/(v[0-9a-z]+)/job/([-a-z0-9]{1,63})[./]([-.a-z0-9]{1,253})/(replicas|profilings)")

_logger = logging.getLogger("jobgate")


def refused(code: int, message: str) -> BadRequest:
    """Return the refusal of a request, with an HTTP status."""
    return BadRequest(code, Rejection.ENVELOPE, message)


@dataclass(slots=True)
class _Call:
    """One request: an `Exchange`."""

    connection: Connection[_Call]
    head: RequestHead
    wanted: float
    left: bool = False


class JobServer:
    """The server for the jobs of one kind, while `run` runs."""

    draining = False
    _objects: ObjectClient

    def __init__(self, kind: JobKind, domain: str, bind: str, url: str, tls: Path, port: int) -> None:
        """Create a server that does not listen yet. `url` is for pods, and `tls` the folder of the certificate."""
        self._kind, self._domain, self._url = kind, domain, url
        self._bind, self._port, self._files = bind, port, Files(tls / "tls.crt", tls / "tls.key")
        self._resource = Resource(kind.plural, kind.version, kind.group)
        self._certificates = Certificates(Metrics())
        self._tasks: set[asyncio.Task[None]] = set()
        self._addresses, self._all, self._jobs = (
            Budget(time.monotonic, *rate) for rate in (OF_ADDRESS, OF_ALL, OF_JOB)
        )

    def access(self) -> ServerAccess | None:
        """Return how pods reach the server; None while it has no certificate."""
        accepted = self._certificates.accepted
        return ServerAccess(self._url, accepted.authority.decode()) if accepted else None

    async def run(self, objects: ObjectClient) -> None:
        """Serve until cancelled.

        Raises:
            OSError: the port cannot be listened on.
        """
        self._objects, choose, poller = objects, self._certificates.context, Poller(self._certificates, self._files)
        poller.look()
        connections, held = Connections(LIMITS), BufferedBytes(LIMITS)
        with closing(listening(self._bind, self._port)) as listens:
            listener = Listener(
                listens, connections, lambda peer: Connection(self, connections, held, peer, choose), lambda: None
            )
            try:
                await poller.run()
            finally:
                await listener.drain(0.0)

    def begin(self, connection: Connection[_Call], head: RequestHead) -> _Call:
        """Take the head of a request."""
        return _Call(connection, head, LIMITS.body_time if head.method in {"POST", "DELETE"} else 0.0)

    def complete(self, call: _Call, body: bytes) -> None:
        """Take the body, and answer later."""
        task = asyncio.get_running_loop().create_task(self._respond(call, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def reject(self, call: _Call, error: BadRequest) -> None:
        """Answer a request whose body cannot be read."""
        self._send(call, error.code, str(error), None)

    def count_failure(self, why: object) -> None:
        """Count nothing."""

    async def _respond(self, call: _Call, body: bytes) -> None:
        try:
            async with asyncio.timeout(TIMEOUT):
                answer = 200, *await self._answer(call, body)
        except BadRequest as error:
            answer = error.code, str(error), None
        except Exception as error:  # noqa: BLE001  # one request fails, not the server
            fields = {"path": call.head.path, "reason": type(error).__qualname__}
            _logger.warning("a request of a pod failed", extra={"fields": fields})
            answer = 503, "the API server did not answer, or the job has changed meanwhile: try again", None
        self._send(call, *answer)

    def _send(self, call: _Call, code: int, message: str, result: Any) -> None:
        body = {"success": code == 200, "code": int(code != 200), "message": message, "data": result}
        call.connection.answer(code, orjson.dumps(body), JSON, {"Retry-After": "1"} if code in {429, 503} else None)

    async def _answer(self, call: _Call, body: bytes) -> tuple[str, Any]:
        """Return message and data of the answer to a request that is not refused."""
        method, match = call.head.method, _PATH.fullmatch(call.head.path)
        methods = ("GET", "POST", "DELETE") if match and match[4] == "replicas" else ("POST",)
        if match is None or match[1] != self._kind.version or method not in methods:
            what = f"/{self._kind.version}/job/<namespace>.<name>/replicas, and POST of …/profilings"
            raise refused(404, f"there are GET, POST and DELETE of {what}")
        if not self._addresses.take(call.connection.address) or not self._all.take(""):
            raise refused(429, "too many requests: try again in a second")
        pod = await self._caller(call.head.headers.get("Authorization", ""))
        if pod is None:
            raise refused(401, "the token of a pod that runs is required, as Authorization: Bearer <…_TOKEN_FILE>")
        _, namespace, name, what = match.groups()
        own, uid = metadata_of(pod), text(labels_of(pod).get(RUN_LABEL))
        job = await self._objects.get(self._resource, name, namespace) if own["namespace"] == namespace else None
        if job is None or uid_of(job) != uid:
            whose = f"{self._kind.kind} {namespace}/{name}"
            raise refused(403, f"pod {own['namespace']}/{own['name']} does not belong to {whose}")
        if not is_run(job):
            raise refused(409, f"the runner of jobgate has not taken over {self._kind.kind} {namespace}/{name}")
        if not self._jobs.take(uid):
            raise refused(429, "too many requests of this job: try again in a second")
        if what == "replicas":
            return await self._replicas(job, text(labels_of(pod).get(TASK_LABEL)), method, body)
        profilings = decode(body)
        if not isinstance(profilings, dict):
            raise refused(400, "the body must be an object")
        # Without its version: what the runner writes at the same time does not matter.
        identity = {"metadata": {key: job["metadata"][key] for key in ("name", "namespace", "uid")}}
        changes = difference(profilings, mapping(mapping(job.get("status")).get("profilings")))
        await self._objects.set_status(self._resource, identity, {"profilings": changes})
        return "successfully report profilings", None

    async def _caller(self, header: str) -> Mapping[str, Any] | None:
        """Return the pod that a token was issued to, if it runs."""
        if not (token := bearer(header)):
            return None
        user = await user_of(self._objects, token, AUDIENCE)
        extra, account = mapping(user.get("extra")), text(user.get("username")).split(":")
        claims = (items(extra.get(f"authentication.kubernetes.io/pod-{claim}")) for claim in ("name", "uid"))
        name, uid = (text(next(iter(claim), "")) for claim in claims)
        if not (name and uid):
            return None
        pod = await self._objects.get(PODS, name, account[2])
        ended = mapping((pod or {}).get("status")).get("phase") in {"Succeeded", "Failed"}
        return pod if pod is not None and uid_of(pod) == uid and not ended else None

    async def _replicas(self, job: Mapping[str, Any], task: str, method: str, body: bytes) -> tuple[str, Any]:
        """Return the addresses of the pods of a job, or store for how many pods of an elastic task it asks."""
        subject = read(self._kind, job, self._domain)
        if subject is None:
            raise refused(409, "the job does not fit its schema")
        if method == "GET":
            crew = subject.crew
            hosts = [host for part in crew.parts for host in crew.hosts(part)]
            return "successfully get replicas", [f"{host}.{crew.namespace}.{crew.domain}:22270" for host in hosts]
        count, state, bounds = whole(mapping(decode(body)).get("replicas")), subject.state, subject.bounds
        if count is None or not 0 < count <= 10_000:
            raise refused(400, 'the body must be {"replicas": n} with a number of pods from 1')
        if not bounds or not state.sizes:
            raise refused(409, "the job is not elastic: it needs minReplicas, maxReplicas and elastic scaling")
        task = task if task in bounds else next(iter(bounds))  # as a learner asks for collectors
        own, has = bounds[task], state.sizes.get(task, bounds[task].low)
        asked = own.clamp(state.wishes.get(task, has))
        wanted = asked + count if method == "POST" else asked - count
        if not own.low <= wanted <= own.high:
            bound = f"task {task} may have {own.low} to {own.high} pods"
            raise refused(400, f"{bound}, not {wanted}: it asks for {asked} now")
        await self._objects.set_status(self._resource, job, {STATE: {"wishes": {task: wanted}}})
        result = {"task": task, "asked": wanted, "replicas": has, "minReplicas": own.low, "maxReplicas": own.high}
        return f"asked for {wanted} pods of task {task}", result
