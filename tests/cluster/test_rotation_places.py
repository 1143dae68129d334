"""Secret, targets, endpoints and clock of the rotation, and what keeps it running.

Level: fake API in memory; handshakes on loopback.
"""

import asyncio
import base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from certs import (
    Blocked,
    Conflict,
    Reading,
    Refusal,
    Rotation,
    RotationSettings,
    Served,
    Unavailable,
    issue_generation,
    service_names,
)
from certs.bundle import read_certificates
from certs.generation import number_of
from certs.places import Changes, Places
from jobgate.cluster import ApiError, Resource
from jobgate.cluster.bundles import CRDS, MUTATING, VALIDATING, Bundles, RotationScope
from jobgate.cluster.client import Client, rejection
from jobgate.cluster.clock import date
from jobgate.cluster.endpoints import Endpoints, addresses_of
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.secret import SECRETS
from jobgate.cluster.tls_secret import TlsSecret
from jobgate.serving.rotation import Keeper
from tests.certs.handshake import server_context
from tests.certs.moments import TODAY
from tests.controller.cluster import MemoryCluster

NAMES = service_names("jobgate-webhook", "system")
OURS = {"service": {"namespace": "system", "name": "jobgate-webhook", "port": 443}}
SCOPE = RotationScope("system", "jobgate-webhook", "jobgate", "tls", crds=("jobs.test.dev",))


def configuration(cluster: MemoryCluster, resource: Resource, **clients: dict[str, Any]) -> None:
    entries = [{"name": name, "clientConfig": client, "kept": name} for name, client in clients.items()]
    cluster.put(resource, {"metadata": {"name": "jobgate", "namespace": ""}, "webhooks": entries})


def conversion(cluster: MemoryCluster, name: str = "jobs.test.dev", **config: Any) -> None:
    metadata = {"name": name, "namespace": "", "labels": {"app": "jobgate"}}
    cluster.put(CRDS, {"metadata": metadata, "spec": {"conversion": config}})


def to_webhook(**client: Any) -> dict[str, Any]:
    return {"strategy": "Webhook", "webhook": {"clientConfig": {**OURS, **client}, "conversionReviewVersions": ["v1"]}}


def encoded(text: bytes) -> str:
    return base64.b64encode(text).decode()


def denied(*verbs: str, code: int = 403, resource: str = "") -> Callable[[str, Resource, str], None]:
    def fault(verb: str, asked: Resource, _: str) -> None:
        if verb in verbs and resource in {"", asked.plural}:
            raise ApiError(code, "Forbidden")

    return fault


# The Secret.


async def test_a_secret_is_made_if_it_is_missing_and_read_back() -> None:
    cluster = MemoryCluster()
    store = TlsSecret(cluster, "system", "tls")
    missing = await store.read()
    assert not missing.exists
    await store.write(missing, Changes({"tls.crt": b"", "tls.key": b"", "next.tls.crt": b"x"}, {"trusted": None}))
    made = await store.read()
    assert made.exists
    assert made.contents == {"tls.crt": b"", "tls.key": b"", "next.tls.crt": b"x"}
    assert (cluster.find(SECRETS, "system", "tls") or {})["type"] == "kubernetes.io/tls"


async def test_a_secret_is_changed_in_part_and_only_as_it_was_seen() -> None:
    cluster = MemoryCluster()
    metadata = {"name": "tls", "namespace": "system", "annotations": {"other": "kept", "jobgate.dev/trusted": "a"}}
    cluster.put(SECRETS, {"metadata": metadata, "data": {"tls.crt": encoded(b"a"), "next.tls.crt": encoded(b"b")}})
    store = TlsSecret(cluster, "system", "tls")
    seen = await store.read()
    assert seen.stamps == {"trusted": "a"}
    await store.write(seen, Changes({"tls.crt": b"b", "next.tls.crt": None}, {"trusted": None, "verified": "c"}))
    after = await store.read()
    assert after.contents == {"tls.crt": b"b"}
    assert after.stamps == {"verified": "c"}
    result = cluster.find(SECRETS, "system", "tls") or {}
    assert result["metadata"]["annotations"] == {"other": "kept", "jobgate.dev/verified": "c"}
    with pytest.raises(Conflict):
        await store.write(seen, Changes({"tls.crt": b"c"}))


async def test_a_secret_that_another_made_meanwhile_is_a_conflict() -> None:
    cluster = MemoryCluster()
    store = TlsSecret(cluster, "system", "tls")
    missing = await store.read()
    await store.write(missing, Changes({"tls.crt": b""}))
    with pytest.raises(Conflict):
        await store.write(missing, Changes({"tls.crt": b""}))


async def test_a_secret_of_cert_manager_is_left_alone() -> None:
    cluster = MemoryCluster()
    annotations = {"cert-manager.io/certificate-name": "webhook"}
    cluster.put(SECRETS, {"metadata": {"name": "tls", "namespace": "system", "annotations": annotations}})
    assert (await TlsSecret(cluster, "system", "tls").read()).keeper == "cert-manager"


@pytest.mark.parametrize("verb", ["create", "patch", "get"])
async def test_a_missing_right_to_the_secret_is_named(verb: str) -> None:
    cluster = MemoryCluster()
    store = TlsSecret(cluster, "system", "tls")
    if verb == "patch":
        cluster.put(SECRETS, {"metadata": {"name": "tls", "namespace": "system"}})
    seen = await store.read()
    cluster.faults.append(denied(verb))
    with pytest.raises(Refusal, match=rf"cannot {verb} secrets system/tls: forbidden"):
        await (store.read() if verb == "get" else store.write(seen, Changes({"tls.crt": b""})))


# Targets.


async def test_targets_are_the_entries_that_call_our_service_or_a_url() -> None:
    cluster = MemoryCluster()
    elsewhere = {"service": {"namespace": "system", "name": "other"}}
    clients: dict[str, dict[str, Any]] = {
        "a": OURS,
        "b": elsewhere,
        "c": {"url": "https://10.0.0.1:9443/x", "caBundle": encoded(b"kept")},
    }
    configuration(cluster, MUTATING, **clients)
    conversion(cluster, **to_webhook(caBundle="%"))
    result = await Bundles(cluster, SCOPE).read()
    assert [(str(each), [(entry.name, entry.bundle) for entry in each.entries], each.exists) for each in result] == [
        ("mutatingwebhookconfigurations/jobgate", [("a", b""), ("c", b"kept")], True),
        ("validatingwebhookconfigurations/jobgate", [], False),
        ("customresourcedefinitions/jobs.test.dev", [("conversion", b"")], True),
    ]


async def test_only_bundles_of_ours_are_written_and_everything_else_stays() -> None:
    cluster = MemoryCluster()
    elsewhere = {"service": {"namespace": "system", "name": "other"}, "caBundle": "eA=="}
    configuration(cluster, MUTATING, a=OURS, b=elsewhere, c=OURS)
    conversion(cluster, **to_webhook())
    bundles = Bundles(cluster, SCOPE)
    first, _, third = await bundles.read()
    await bundles.write(first, [b"1", b"2"])
    await bundles.write(third, [b"3"])
    entries = (cluster.find(MUTATING, "", "jobgate") or {})["webhooks"]
    assert entries == [
        {"name": "a", "clientConfig": {**OURS, "caBundle": encoded(b"1")}, "kept": "a"},
        {"name": "b", "clientConfig": elsewhere, "kept": "b"},
        {"name": "c", "clientConfig": {**OURS, "caBundle": encoded(b"2")}, "kept": "c"},
    ]
    stored = (cluster.find(CRDS, "", "jobs.test.dev") or {})["spec"]["conversion"]
    assert stored == to_webhook(caBundle=encoded(b"3"))
    with pytest.raises(Conflict):
        await bundles.write(first, [b"1", b"2"])


async def test_a_crd_without_conversion_by_webhook_is_no_target() -> None:
    cluster = MemoryCluster()
    conversion(cluster, strategy="None")
    conversion(cluster, "other.test.dev", **to_webhook())
    by_label = RotationScope("system", "jobgate-webhook", "jobgate", "tls", crd_selector="app=jobgate")
    result = await Bundles(cluster, by_label).read()
    assert [str(each) for each in result if each.entries] == ["customresourcedefinitions/other.test.dev"]


async def test_a_target_that_may_not_be_read_is_shown_with_its_fault() -> None:
    cluster = MemoryCluster()
    configuration(cluster, MUTATING, a=OURS)
    cluster.faults.append(denied("get", resource="validatingwebhookconfigurations"))
    first, second, _ = await Bundles(cluster, SCOPE).read()
    assert not first.fault
    assert second.fault.startswith(
        "cannot get validatingwebhookconfigurations.admissionregistration.k8s.io jobgate: forbidden"
    )


@pytest.mark.parametrize(
    "error, expected",
    [
        (ApiError(409, "Conflict"), Conflict),
        (ApiError(409, "AlreadyExists"), Conflict),
        (ApiError(403, "Forbidden"), Refusal),
        (ApiError(422, "Invalid", "caBundle: cannot be parsed"), Refusal),
        (ApiError(401), Refusal),
        (ApiError(429), Unavailable),
        (ApiError(500), Unavailable),
        (ApiError(503), Unavailable),
        (TimeoutError(), Unavailable),
        (ConnectionResetError(), Unavailable),
    ],
    ids=str,
)
def test_what_an_answer_means(error: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected), translated_errors("patch", CRDS, "jobs.test.dev"):
        raise error


def test_how_long_the_api_server_asks_to_be_left_alone_is_kept() -> None:
    status = {"reason": "TooManyRequests", "details": {"retryAfterSeconds": 7}}
    with pytest.raises(Unavailable) as caught, translated_errors("patch", CRDS):
        raise rejection(CRDS, 429, status)
    assert caught.value.after == 7


# The servers.


def endpoint(address: str, **conditions: bool | None) -> dict[str, Any]:
    return {"addresses": [address], "conditions": conditions}


def test_everyone_whom_an_api_server_may_connect_to_is_looked_at() -> None:
    endpoints = [
        endpoint("10.0.0.1", ready=True),
        endpoint("10.0.0.2", ready=False, serving=True, terminating=True),
        endpoint("10.0.0.3", ready=False, serving=False, terminating=False),
        endpoint("fd00::4"),
        {"addresses": ["10.0.0.5"], "conditions": {"ready": None}},
    ]
    ports = [{"name": "metrics", "port": 8080}, {"name": "webhook", "port": 9443}]
    addresses = list(addresses_of({"endpoints": endpoints, "ports": ports}))
    assert addresses == [("10.0.0.1", 9443), ("10.0.0.2", 9443), ("fd00::4", 9443), ("10.0.0.5", 9443)]
    assert list(addresses_of({"endpoints": endpoints[:1], "ports": [{"name": "", "port": 1}]})) == [("10.0.0.1", 1)]
    assert list(addresses_of({"endpoints": None, "ports": None})) == []


async def test_what_each_address_serves_is_seen_whatever_it_is_worth(tmp_path: Path) -> None:
    generation = issue_generation(NAMES, TODAY - timedelta(days=300))
    asked: list[str | None] = []
    context = server_context(generation, tmp_path)
    context.sni_callback = lambda _, name, __: asked.append(name)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    plain = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    ports = [each.sockets[0].getsockname()[1] for each in (server, plain)]
    async with server, plain:
        probe = Endpoints(Client(None), "system", "jobgate-webhook", [("127.0.0.1", port) for port in ports])
        good, bad = await probe.look()
    assert good.chain == read_certificates(generation.certificate)
    assert asked == ["jobgate-webhook.system.svc"]
    assert bad.leaf is None
    assert "TLS handshake failed" in bad.fault
    gone = await probe.look()
    assert [entry.leaf for entry in gone] == [None, None]


@pytest.mark.parametrize(
    "header, expected",
    [
        ("Sun, 01 Mar 2026 12:00:00 GMT", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("Sun, 01 Mar 2026 13:00:00 +0100", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("", None),
        ("yesterday", None),
    ],
)
def test_the_date_of_an_answer(header: str, expected: datetime | None) -> None:
    assert date(header) == expected


# Servers and their certificates.


class Servers:
    """Everyone serves what the Secret holds."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self._store = TlsSecret(cluster, "system", "tls")

    async def look(self) -> Sequence[Served]:
        return [Served("10.0.0.1:9443", read_certificates((await self._store.read()).contents.get("tls.crt", b"")))]


class Now:
    """A clock that is right."""

    async def read(self) -> Reading:
        return Reading(datetime.now(UTC), timedelta())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


def keeper_of(cluster: MemoryCluster) -> Keeper:
    places = Places(TlsSecret(cluster, "system", "tls"), Bundles(cluster, SCOPE), Servers(cluster), Now())
    rotation = Rotation(places, RotationSettings(NAMES, soak=timedelta()))
    return Keeper(rotation, [(each, cluster) for each in (SECRETS, MUTATING, VALIDATING)])


def trusted(cluster: MemoryCluster, resource: Resource) -> list[int | None]:
    entry = (cluster.find(resource, "", "jobgate") or {})["webhooks"][0]
    return [
        number_of(certificate)
        for certificate in read_certificates(base64.b64decode(entry["clientConfig"].get("caBundle", "")))
    ]


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_is_wiped_or_deleted_is_back_without_a_wait_for_the_clock() -> None:
    cluster = MemoryCluster()
    for resource in (MUTATING, VALIDATING):
        configuration(cluster, resource, a=OURS)
    keeper = keeper_of(cluster)
    task = asyncio.create_task(keeper.work())
    try:
        await until(lambda: keeper.settled and trusted(cluster, MUTATING) == [1])
        assert trusted(cluster, VALIDATING) == [1]
        configuration(cluster, MUTATING, a=OURS)
        await until(lambda: trusted(cluster, MUTATING) == [1])
        cluster.drop(SECRETS, "system", "tls")
        await until(lambda: 2 in trusted(cluster, VALIDATING))
        assert keeper.problem == ""
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_what_is_wrong_is_reported_and_tried_again() -> None:
    cluster = MemoryCluster()
    for resource in (MUTATING, VALIDATING):
        configuration(cluster, resource, a=OURS)
    fault = denied("patch", resource="mutatingwebhookconfigurations")
    cluster.faults.append(fault)
    keeper = keeper_of(cluster)
    task = asyncio.create_task(keeper.work())
    try:
        await until(lambda: isinstance(keeper.outcome, Blocked))
        assert "cannot patch mutatingwebhookconfigurations" in keeper.problem
        cluster.faults.clear()
        configuration(cluster, VALIDATING, a=OURS)  # anything that wakes it
        await until(lambda: trusted(cluster, MUTATING) == [1])
        await until(lambda: keeper.problem == "")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
