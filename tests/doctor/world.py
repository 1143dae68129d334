"""A sound installation, object by object as an API server has it; and how it is changed.

Of it come what the doctor sees without a cluster (`World.observed`), and what is put on a real API server.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import orjson

from certs import CLUSTER_DOMAIN, Generation, Reading, Served, issue_generation, service_names
from certs.bundle import fingerprint, read_certificates
from certs.generation import marked_name
from crdgen.labels import selects
from jobgate.cluster import Resource
from jobgate.cluster.bundles import CRDS, MUTATING, VALIDATING
from jobgate.cluster.endpoints import SERVICES, SLICES
from jobgate.cluster.lease import LEASES
from jobgate.cluster.secret import SECRETS
from jobgate.doctor import Expected, FoundFault, diagnose, expected
from jobgate.doctor.certificates import of_this_server
from jobgate.doctor.choices import namespace_of, read_back
from jobgate.doctor.jobs import resource_of
from jobgate.doctor.kinds import configured_kinds
from jobgate.doctor.observed import (
    ACCOUNTS,
    BINDINGS,
    CRON_JOBS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    POLICIES,
    ClusterSnapshot,
    Handshake,
    NotChecked,
    Permission,
    Ref,
)
from jobgate.doctor.rights import dangerous, needed
from jobgate.installation import Installation
from jobgate.installation.definitions import definition
from jobgate.installation.installation import LABELS
from jobgate.installation.objects import base
from jobgate.installation.workload import SELECTOR
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed

KINDS = installed()
SYSTEM = "jobgate-system"
SERVICE = "jobgate-webhook"
TLS = "jobgate-webhook-tls"
SERVER = "jobgate-webhook"
CONTROLLER = "jobgate-controller"
ROTATOR = "jobgate-certificates"
RUNNER = "jobgate-runner"
DIJOBS = "dijobs.diengine.opendilab.org"
TEAM = "team-of-the-doctor"

_RBAC = "rbac.authorization.k8s.io"
RESOURCES = {
    "CustomResourceDefinition": CRDS,
    "Namespace": NAMESPACES,
    "ServiceAccount": ACCOUNTS,
    "Role": Resource("roles", "v1", _RBAC),
    "RoleBinding": BINDINGS,
    "ClusterRole": Resource("clusterroles", "v1", _RBAC),
    "ClusterRoleBinding": Resource("clusterrolebindings", "v1", _RBAC),
    "Service": SERVICES,
    "Deployment": DEPLOYMENTS,
    "CronJob": CRON_JOBS,
    "Job": Resource("jobs", "v1", "batch"),
    "PodDisruptionBudget": Resource("poddisruptionbudgets", "v1", "policy"),
    "Pod": PODS,
    "Lease": LEASES,
    "Secret": SECRETS,
    "EndpointSlice": SLICES,
    "ConfigMap": Resource("configmaps", "v1", ""),
    "Issuer": Resource("issuers", "v1", "cert-manager.io"),
    "Certificate": Resource("certificates", "v1", "cert-manager.io"),
    "MutatingWebhookConfiguration": MUTATING,
    "ValidatingWebhookConfiguration": VALIDATING,
    **POLICIES,
    "DIJob": Resource("dijobs", "v2alpha1", "diengine.opendilab.org"),
    "MxJob": Resource("mxjobs", "v1beta1", "mxnet.mlkube.io"),
    "TorchJob": Resource("torchjobs", "v1alpha1", "train.distributed.io"),
}
#: Of the others, all that a world has are seen.
_LABELLED = {BINDINGS: LABELS}


@cache
def shipped() -> tuple[dict[str, Any], ...]:
    return tuple(definition(kind) for kind in KINDS)


class _Everything(dict[Ref, Any]):
    """Objects by name, of which those that are not there were looked for, too."""

    def __missing__(self, key: Ref) -> None:
        return None


@dataclass
class World:
    """Everything that the doctor looks at, to be changed freely.

    Attributes:
        installation: as it was rendered.
        now: the API server's time.
        current: the generation that is served.
        objects: by what they are called.
        unseen: what may not be looked at, and why.
        kinds: the configured kinds that it was rendered with.
    """

    installation: Installation
    now: datetime
    current: Generation
    objects: dict[Ref, dict[str, Any]] = field(default_factory=dict)
    unseen: dict[Ref, str] = field(default_factory=dict)
    extra: set[Permission] = field(default_factory=set)
    denied: set[Permission] = field(default_factory=set)
    rights_unseen: str = ""
    skew: timedelta = timedelta()
    version: str = "v1.36.3"
    shown: list[Handshake] = field(default_factory=list)
    kinds: tuple[JobKind, ...] = ()

    def get(self, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        return self.objects[Ref(RESOURCES[kind], name, namespace)]

    def put(self, *manifests: dict[str, Any]) -> None:
        for one in manifests:
            metadata = one["metadata"]
            self.objects[Ref(RESOURCES[one["kind"]], metadata["name"], metadata.get("namespace", ""))] = one

    def remove(self, kind: str, name: str, namespace: str = "") -> None:
        del self.objects[Ref(RESOURCES[kind], name, namespace)]

    def entry(self, kind: str, name: str) -> dict[str, Any]:
        """An entry of a configuration, by the beginning of its name."""
        found = self.get(f"{kind}WebhookConfiguration", self.installation.name)["webhooks"]
        return next(one for one in found if one["name"].startswith(name))

    def entries(self) -> list[dict[str, Any]]:
        return [
            one
            for kind in ("Mutating", "Validating")
            for one in self.get(f"{kind}WebhookConfiguration", self.installation.name)["webhooks"]
        ]

    def serve(self, generation: Generation, bundle: bytes | None = None) -> None:
        """Have the Secret hold a generation, and all entries trust its CA, or a bundle."""
        self.current = generation
        data = self.get("Secret", TLS, SYSTEM)["data"]
        data |= {
            "tls.crt": text(generation.certificate),
            "tls.key": text(generation.key),
            "ca.crt": text(generation.ca_certificate),
        }
        leaf = read_certificates(generation.certificate)[0]
        self.get("Secret", TLS, SYSTEM)["metadata"]["annotations"]["jobgate.dev/verified"] = fingerprint(leaf).hex()
        for entry in self.entries():
            entry["clientConfig"]["caBundle"] = text(generation.ca_certificate if bundle is None else bundle)

    def show(self, generation: Generation | None, address: str = "10.0.0.1:9443", *, certain: bool = True) -> None:
        """Have a server show a generation in its handshake, or make none."""
        chain = read_certificates(generation.certificate) if generation else ()
        self.shown.append(Handshake(Served(address, chain, "" if chain else "no handshake: refused"), certain))

    def observed(self) -> ClusterSnapshot:
        """What the doctor sees of it before it asks for rights."""
        found: dict[Ref, Any] = _Everything(self.objects)
        found |= {ref: NotChecked(why) for ref, why in self.unseen.items() if ref.name}
        lists = {
            ref: self._list(ref)
            for resource in {*RESOURCES.values(), *map(resource_of, (*KINDS, *self.kinds))}
            for namespace in {"", *(ref.namespace for ref in self.objects), *self._namespaces()}
            for ref in [Ref(resource, "", namespace)]
        }
        return ClusterSnapshot(found, lists, {}, self.shown, Reading(self.now, self.skew), self.version)

    def looked(self, **given: Any) -> tuple[ClusterSnapshot, Expected]:
        """What the doctor sees of it, and what it takes for right; some choices may be given."""
        observed = self.observed()
        namespace = namespace_of(observed, given)
        kinds = KINDS.plus(configured_kinds(observed, namespace, given.get("kinds", {})))
        choices = read_back(observed, kinds, namespace, given)
        wanted = expected(kinds, choices, shipped())
        needs, dangers = needed(wanted), dangerous(wanted)
        access: dict[Permission, bool | NotChecked] = {
            **{one: one not in self.denied for one in needs},
            **{one: one in self.extra for one in dangers},
        }
        if self.rights_unseen:
            access = dict.fromkeys(access, NotChecked(self.rights_unseen))
        shown = [of_this_server(one, wanted) for one in self.shown]
        return replace(observed, permissions=access, served=shown), wanted

    def diagnosed(self, **given: Any) -> list[FoundFault]:
        return diagnose(*self.looked(**given))

    def copy(self) -> World:
        objects = {ref: copied(one) for ref, one in self.objects.items()}
        return replace(self, objects=objects, unseen={}, extra=set(), denied=set(), shown=list(self.shown))

    def _namespaces(self) -> set[str]:
        return {ref.name for ref in self.objects if ref.resource == NAMESPACES}

    def _list(self, wanted: Ref) -> Any:
        if wanted in self.unseen:
            return NotChecked(self.unseen[wanted])
        selector = {"matchLabels": _LABELLED.get(wanted.resource, {})}
        return [
            one
            for ref, one in self.objects.items()
            if ref.resource == wanted.resource
            and wanted.namespace in {"", ref.namespace}
            and selects(selector, one["metadata"].get("labels", {}))
        ]


def copied(one: Any) -> Any:
    """A copy of JSON; large ones are many times as long with `deepcopy`."""
    return orjson.loads(orjson.dumps(one))


def text(content: bytes) -> str:
    return b64encode(content).decode()


def generation(now: datetime, number: int = 1, *, days: float = 90, service: str = SERVICE) -> Generation:
    names = service_names(service, SYSTEM, cluster_domain=CLUSTER_DOMAIN)
    return issue_generation(names, now, lifetime=timedelta(days=days), authority_name=marked_name(number))


def sound(now: datetime, *, lease_seconds: int = 15, described: Sequence[JobKind] = (), **choices: Any) -> World:
    """A sound installation at a time, with all that runs in a cluster."""
    installation = Installation(**choices)
    world = World(installation, now, generation(now - timedelta(days=1)), kinds=tuple(described))
    rendered = copied([one for group in base(KINDS.plus(described), installation).values() for one in group])
    definitions = [copied(one) for one in shipped() if installation.on("kinds", one["metadata"]["name"])]
    for one in definitions:
        one["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    world.put(*definitions, *rendered)
    for name in ("default", "kube-system", TEAM):
        labels = {"kubernetes.io/metadata.name": name}
        world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    if not installation.external_name:
        _run(world)
    for name in (CONTROLLER, ROTATOR, *([RUNNER] if installation.run else [])):
        world.put(lease(name, now, lease_seconds))
    world.put(_secret(now))
    world.serve(world.current)
    return world


def lease(name: str, renewed: datetime, seconds: int = 15, holder: str = "pod-1_1_a") -> dict[str, Any]:
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": seconds,
        "renewTime": renewed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    metadata = {"name": name, "namespace": SYSTEM}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def pod(name: str, template: Mapping[str, Any]) -> dict[str, Any]:
    """A pod of a Deployment, which runs."""
    metadata = {"name": name, "namespace": SYSTEM, "labels": dict(template["metadata"]["labels"])}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"phase": "Running", "conditions": conditions}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": deepcopy(template["spec"])}
    return made | {"status": status}


def _run(world: World) -> None:
    """Do what controllers and kubelets do."""
    for deployment in [one for ref, one in world.objects.items() if ref.resource == DEPLOYMENTS]:
        name, replicas = deployment["metadata"]["name"], deployment["spec"]["replicas"]
        counts = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")
        deployment["status"] = dict.fromkeys(counts, replicas)
        world.put(*(pod(f"{name}-{index}", deployment["spec"]["template"]) for index in range(replicas)))
    servers = [
        one["metadata"]["name"]
        for ref, one in world.objects.items()
        if ref.resource == PODS and selects({"matchLabels": SELECTOR}, one["metadata"]["labels"])
    ]
    endpoints = [
        {"addresses": [f"10.1.0.{index + 1}"], "conditions": {"ready": True}} for index, _ in enumerate(servers)
    ]
    labels = {"kubernetes.io/service-name": SERVICE}
    world.put(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": f"{SERVICE}-abcde", "namespace": SYSTEM, "labels": labels},
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": [{"name": "webhook", "port": world.installation.target_port, "protocol": "TCP"}],
        }
    )


def _secret(now: datetime) -> dict[str, Any]:
    annotations = {"jobgate.dev/promoted-at": f"{now - timedelta(hours=20):%Y-%m-%dT%H:%M:%SZ}"}
    metadata = {"name": TLS, "namespace": SYSTEM, "annotations": annotations}
    data = {"generation": text(b"1")}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls", "data": data}


Plant = Callable[[World], None]
