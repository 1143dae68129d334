"""The certificate of the server in a Secret, which is watched. For files, see `webhook.server.files`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobgate.cluster import Backoff, Informer
from jobgate.cluster.secret import SECRETS, decoded
from jobgate.names import dns_label, dns_subdomain
from jobgate.serving.metrics import ServingMetrics
from webhook.server.candidate import BadCertificate, Candidate
from webhook.server.certificates import Certificates

if TYPE_CHECKING:
    from jobgate.cluster.client import Client

#: Namespace of an installation, outside of its pods.
NAMESPACE = "jobgate-system"
#: Keys of the Secret, in the order of a candidate's attributes. The staged generation is not read.
KEYS = ("tls.crt", "tls.key", "ca.crt", "generation")
#: Service that the API server calls.
SERVICE = "jobgate-webhook"
#: The server cannot serve without a certificate, so the watch is retried soon.
BACKOFF = Backoff(first=1.0, most=15.0)
#: Seconds between two attempts to connect.
RETRY_PERIOD = 5.0
#: Seconds after which a rejected certificate is checked again: it may have become valid.
RESYNC = 30.0

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class SecretName:
    """Name and namespace of a Secret."""

    name: str
    namespace: str

    @classmethod
    def parse(cls, text: str, own: str = NAMESPACE) -> SecretName:
        """Parse `[NAMESPACE/]NAME`; the namespace defaults to `own`."""
        namespace, _, name = text.rpartition("/")
        namespace = namespace or own
        if fault := dns_label(namespace) or dns_subdomain(name):
            raise ValueError(f"{text!r} must be [NAMESPACE/]NAME: {fault}")
        return cls(name, namespace)

    @property
    def server(self) -> str:
        """The default server name that the API server uses to call the server."""
        return f"{SERVICE}.{self.namespace}.svc"


class SecretSource:
    """Offers the certificate in a Secret to the server whenever the Secret changes."""

    def __init__(
        self, certificates: Certificates, secret: SecretName, kubeconfig: Path | None, metrics: ServingMetrics
    ) -> None:
        """Create a source that is not running."""
        self._certificates = certificates
        self._secret = secret
        self._kubeconfig = kubeconfig
        self._event = asyncio.Event()
        self.known: Informer[Candidate] = Informer(
            SECRETS, BACKOFF, keep=_candidate, changed=lambda _: self._event.set()
        )
        metrics.watch_age(str(SECRETS), self.known)

    async def run(self) -> None:
        """Offer the current content and every change, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch())
            group.create_task(self._offer())

    async def _watch(self) -> None:
        async with await connected(self._kubeconfig) as client:
            await self.known.run(client.named(self._secret.name, self._secret.namespace))

    async def _offer(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(RESYNC):
                    await self._event.wait()
            changed = self._event.is_set()
            self._event.clear()
            # In a thread: a trial handshake is made, which must not delay requests.
            with suppress(BadCertificate):
                await asyncio.to_thread(self._take if changed else self._certificates.look_again)

    def _take(self) -> None:
        try:
            candidate = self.known.get(self._secret.name, self._secret.namespace)
        except LookupError:
            return  # the API server is not available, so the state of the Secret is unknown
        if candidate is None:
            self._certificates.withdraw()
        else:
            self._certificates.offer(candidate)


def _candidate(secret: Mapping[str, Any]) -> Candidate:
    data = secret.get("data") or {}
    return Candidate(*(decoded(data.get(key)) for key in KEYS))


async def connected(kubeconfig: Path | None) -> Client:
    """Return a client of the API server, as soon as there are credentials.

    It is imported in a thread: that takes seconds, in which the server must answer.
    """
    while True:
        try:
            module = await asyncio.to_thread(import_module, "jobgate.cluster.client")
            client: Client = await module.Client.connect(kubeconfig)
        except Exception as error:  # noqa: BLE001  # of many packages; none may end the server
            fields = {"reason": f"{type(error).__qualname__}: {error}"}
            _logger.error("failed to connect to the cluster", extra={"fields": fields})  # noqa: TRY400
            await asyncio.sleep(RETRY_PERIOD)
        else:
            return client
