"""Where the server's certificate comes from: a Secret that is watched, or files that are polled."""

from __future__ import annotations

import asyncio
import importlib
import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from jobgate.cli.extras import NotInstalled
from jobgate.cli.gauges import watch_age
from jobgate.cli.pod import own_namespace
from jobgate.cluster import Backoff, Informer, Key
from jobgate.cluster.secret import SECRETS, Content
from jobgate.names import dns_label, dns_subdomain
from webhook.server.candidate import Candidate, Fault, Unfit
from webhook.server.certificates import Certificates
from webhook.server.files import Files, Poller
from webhook.server.metrics import Metrics

#: Where an installation is, outside a pod of it.
NAMESPACE = "jobgate-system"
#: What is read of it, in the order of a candidate's attributes. What is staged there is nobody's to serve yet.
KEYS = ("tls.crt", "tls.key", "ca.crt", "generation")
#: The Service that the API server calls.
SERVICE = "jobgate-webhook"
#: The server cannot serve without it: it is asked for again soon.
SOON = Backoff(first=1.0, most=15.0)
#: Between two attempts to get at the cluster, in seconds.
AGAIN = 5.0
#: How often what was refused is judged again, in seconds: its time may have come.
EVERY = 30.0

_logger = logging.getLogger("jobgate")


@dataclass(frozen=True, slots=True)
class SecretName:
    """A Secret."""

    name: str
    namespace: str

    @classmethod
    def parse(cls, text: str) -> SecretName:
        """Read `[NAMESPACE/]NAME`.

        Raises:
            click.UsageError: it is not of that form.
        """
        namespace, _, name = text.rpartition("/")
        namespace = namespace or own_namespace() or NAMESPACE
        if fault := dns_label(namespace) or dns_subdomain(name):
            raise click.UsageError(f"--tls-secret must be [NAMESPACE/]NAME, and is {text!r}: {fault}")
        return cls(name, namespace)

    @property
    def server(self) -> str:
        """By what name the API server calls the server whose certificate this is, where nobody says otherwise."""
        return f"{SERVICE}.{self.namespace}.svc"


class SecretSource:
    """Offers what a Secret holds, as soon as the API server tells of it."""

    def __init__(self, certificates: Certificates, secret: SecretName, kubeconfig: Path | None) -> None:
        """Offer nothing yet.

        Args:
            certificates: that it is offered to.
            secret: that is watched.
            kubeconfig: the credentials, or None for those of a pod.
        """
        self._certificates = certificates
        self._secret = secret
        self._kubeconfig = kubeconfig
        self._news = asyncio.Event()
        self.known: Informer[Content] = Informer(
            SECRETS, SOON, keep=partial(Content.of, keys=KEYS), changed=self._changed
        )

    async def run(self) -> None:
        """Offer what there is, and whatever comes after it, for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch())
            group.create_task(self._offer())

    async def _watch(self) -> None:
        while True:
            try:
                module = await asyncio.to_thread(importlib.import_module, "jobgate.cluster.named")
                client = await module.Client.connect(self._kubeconfig)
            except Exception as error:  # noqa: BLE001  # of many packages; none may end the server
                reason = f"{type(error).__qualname__}: {error}"
                _logger.error("certificate not watched", extra={"fields": {"reason": reason}})  # noqa: TRY400
                await asyncio.sleep(AGAIN)
                continue
            async with client:
                await self.known.run(module.Named(client, self._secret.name, self._secret.namespace))

    async def _offer(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._news.wait()
            news = self._news.is_set()
            self._news.clear()
            # In a thread: a handshake is tried, and nobody who is being answered should wait for that.
            with suppress(Unfit):
                await asyncio.to_thread(self._take if news else self._certificates.look_again)

    def _take(self) -> None:
        try:
            content = self.known.get(self._secret.name, self._secret.namespace)
        except LookupError:
            return  # the API server cannot be asked: that says nothing of the Secret
        if content is None:
            self._certificates.withdraw()
            return
        if content.garbled:
            error = Unfit(Fault.UNREADABLE, f"no base64: {', '.join(sorted(content.garbled))}"[:200])
            self._certificates.refuse(error)
            raise error
        self._certificates.offer(Candidate(*(content.data[key] for key in KEYS)))

    def _changed(self, _: Key) -> None:
        self._news.set()


def origin(secret: str | None, certificate: Path | None, key: Path | None) -> SecretName | Files:
    """Return where the certificate comes from.

    Raises:
        click.UsageError: nobody says where, or two places are named.
    """
    if secret is not None and certificate is None and key is None:
        return SecretName.parse(secret)
    if secret is None and certificate is not None and key is not None:
        return Files(certificate, key)
    raise click.UsageError("the certificate comes either from --tls-secret, or from --tls-cert and --tls-key together")


def opened(
    origin: SecretName | Files, metrics: Metrics, name: str | None, kubeconfig: Path | None
) -> tuple[Certificates, SecretSource | Poller]:
    """Return what is served, and what keeps it up to date. Files have been read once then.

    Raises:
        click.ClickException: files are no certificate and its key, and no time will make them so; or there is no
            client to watch a Secret with.
    """
    if isinstance(origin, SecretName):
        if find_spec("kubernetes") is None:
            raise NotInstalled("kubernetes", "cluster")
        certificates = Certificates(metrics, name or origin.server)
        source = SecretSource(certificates, origin, kubeconfig)
        watch_age(metrics, str(SECRETS), source.known)
        return certificates, source
    certificates = Certificates(metrics, name or "")
    poller = Poller(certificates, origin)
    try:
        poller.take()
    except Unfit as error:
        if error.fault not in {Fault.EXPIRED, Fault.EARLY}:
            raise click.ClickException(f"{origin.certificate} and {origin.key} cannot be served: {error}") from None
    return certificates, poller
