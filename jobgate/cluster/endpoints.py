"""The servers behind a Service, and the certificate that each of them shows."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cryptography import x509

from certs import Refusal, Served
from jobgate.cluster.client import Client
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.resource import Resource

SLICES = Resource("endpointslices", "v1", "discovery.k8s.io")
SERVICES = Resource("services", "v1", "")

#: Timeout of a handshake, in seconds, and the number of concurrent handshakes.
HANDSHAKE, AT_ONCE = 5.0, 32
#: Name of our port in a Service with several ports.
PORT_NAME = "webhook"
#: Port of an ExternalName Service without ports.
HTTPS = 443

Address = tuple[str, int]


class Endpoints:
    """A `certs.places.Probe` of the servers behind a Service; of an ExternalName Service, its host."""

    def __init__(self, client: Client, namespace: str, service: str, addresses: Sequence[Address] = ()) -> None:
        """Create a probe; `addresses` are used instead of the endpoints of the Service."""
        self._client = client
        self._namespace = namespace
        self._service = service
        self._given = addresses

    async def look(self) -> Sequence[Served]:
        """Make a handshake with each address, and ask for the server name as API servers do."""
        slots = asyncio.Semaphore(AT_ONCE)

        async def probe(address: Address) -> Served:
            async with slots:
                return await shown(address, f"{self._service}.{self._namespace}.svc")

        return await asyncio.gather(*map(probe, self._given or await self.addresses()))

    async def addresses(self) -> Sequence[Address]:
        """Return host and port of all endpoints that are ready or terminating: API servers may connect to both."""
        ours = self._client.labelled(f"kubernetes.io/service-name={self._service}", self._namespace)
        with translated_errors("list", SLICES, namespace=self._namespace):
            slices, _ = await ours.list(SLICES)
        ready = tuple(dict.fromkeys(address for endpoint_slice in slices for address in addresses_of(endpoint_slice)))
        return ready or await self._external()

    async def _external(self) -> Sequence[Address]:
        try:
            with translated_errors("get", SERVICES, self._service, self._namespace):
                service = await self._client.get(SERVICES, self._service, self._namespace)
        except Refusal:
            return ()  # permission to read the Service is needed only for servers outside the cluster
        spec = (service or {}).get("spec") or {}
        if spec.get("type") != "ExternalName":
            return ()
        ports = [port["port"] for port in ours_of(spec.get("ports") or ())]
        return [(spec["externalName"], port) for port in ports or [HTTPS]]


def addresses_of(endpoint_slice: Mapping[str, Any]) -> Iterator[Address]:
    """Yield the addresses of an EndpointSlice that API servers may connect to."""
    ports = [port["port"] for port in ours_of(endpoint_slice.get("ports") or ()) if port.get("port")]
    for endpoint in endpoint_slice.get("endpoints") or ():
        conditions = endpoint.get("conditions") or {}
        # An endpoint without the condition counts as ready (discovery.k8s.io/v1).
        if conditions.get("ready") is False and not conditions.get("terminating"):
            continue
        for address in endpoint.get("addresses") or ():
            for port in ports:
                yield address, port


def ours_of(ports: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return our port; all ports if the Service or slice does not name ours."""
    return [port for port in ports if port.get("name") == PORT_NAME] or ports


async def shown(address: Address, server_name: str, timeout: float = HANDSHAKE) -> Served:  # noqa: ASYNC109
    """Return the certificate that a server shows in a handshake, valid or not; the timeout is in seconds."""
    host, port = address
    written = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=server_name)
            leaf = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        return Served(written, (x509.load_der_x509_certificate(leaf),))
    except TimeoutError:
        return Served(written, fault=f"TLS handshake timed out after {timeout:g}s")
    except (OSError, ValueError, TypeError) as error:
        return Served(written, fault=f"TLS handshake failed: {error or type(error).__qualname__}")
