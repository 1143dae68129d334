"""The settings of an installation, read from its objects, so that no setting is reported as a fault.

The arguments of the server's Deployment have most of them; the others follow from which objects exist. Settings that
the user gives are not read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import container_of
from jobgate.doctor.observed import ACCOUNTS, BINDINGS, CONFIGURATIONS, CRON_JOBS, DEPLOYMENTS, ClusterSnapshot
from jobgate.installation import Installation, certificates, controller, runner
from jobgate.installation.configurations import NAMESPACES, WITH_POLICIES
from jobgate.installation.installation import RotationMode
from jobgate.installation.tree import resolve
from jobgate.installation.workload import ACCOUNT
from jobgate.jobs.kind import CustomKind
from webhook.values import labels_of

T = TypeVar("T")

_INJECTED = "cert-manager.io/inject-ca-from"
#: Flags of the server with one value, and the settings that they set.
_FLAGS = {
    "queueing": "queueing",
    "cluster-domain": "cluster_domain",
    "mode": "mode",
    "job-pods": "job_pods",
    "keep-reviews": "keep_reviews",
    "port": "target_port",
    "health-port": "health_port",
}


def namespace_of(observed: ClusterSnapshot, given: Mapping[str, Any]) -> str:
    """Return the namespace of the installation: the given one, or the one that most webhooks call."""
    if "namespace" in given:
        return str(given["namespace"])
    default = Installation().namespace.replace("jobgate", observed.name)
    return _most([str(service["namespace"]) for service in _services(observed)], default)


def service_of(observed: ClusterSnapshot, namespace: str, given: Mapping[str, Any]) -> str:
    """Return the name of the Service: the given name, that in the server's flags, or the one that most webhooks call.

    The Deployment of the server must have been read.
    """
    if "service" in given:
        return str(given["service"])
    name = flags_of(observed, ACCOUNT, namespace).get("tls-name", [""])[0].split(".")[0]
    return name or _most([str(client["name"]) for client in _services(observed)], Installation().service)


def read_back(
    observed: ClusterSnapshot, kinds: Iterable[CustomKind], namespace: str, given: Mapping[str, Any]
) -> Installation:
    """Return the settings of the installation in a namespace; those `given` by name of field take precedence."""
    usual = _most([entry.get("failurePolicy", "Fail") for _, entry in observed.webhooks()], "Fail")
    timeouts = [entry.get("timeoutSeconds", 10) for _, entry in observed.webhooks()]
    service = service_of(observed, namespace, given)
    deployment = observed.get(DEPLOYMENTS, ACCOUNT, namespace)
    server, runs = (flags_of(observed, name, namespace) for name in (ACCOUNT, runner.ACCOUNT))
    named = tuple(kind.qualified_plural for kind in kinds)
    own = [entry for _, entry in observed.webhooks() if entry["name"].startswith(named)]
    configurations = [observed.get(resource, observed.name) or {} for resource in CONFIGURATIONS]
    has_policies = any(WITH_POLICIES in labels_of(configuration) for configuration in configurations)
    read = {
        "name": observed.name,
        "namespace": namespace,
        "namespace_selector": _without_shipped(_usual(own, "namespaceSelector"), namespace),
        "object_selector": _usual(own, "objectSelector"),
        "service": service,
        "service_port": _most([client.get("port") or 443 for client in _services(observed)], 443),
        "failure_policy": usual,
        "failure_policies": {} if "failure_policy" in given else _failure_policies(observed, kinds, usual),
        "timeout_seconds": _most(timeouts, Installation().timeout_seconds),
        "rotation": _rotation(observed, namespace),
        "secrets_in": _secrets_in(observed),
        "external_name": _external_name(observed, service, namespace),
        "kinds": _kinds(observed, kinds, namespace),
        "plugins": dict.fromkeys(server.get("without-plugin", ()), False),
        "deny": tuple(server.get("deny", ())),
        "run": tuple(dict.fromkeys([*server.get("run", ()), *runs.get("run", ())])),
        # The arguments do not contain the queues; that there are any decides which permissions the runner has.
        "queues": "queues: []" if "queues" in runs else "",
        "di_server": "di-server-url" in runs,
        "policies": has_policies,
        # Webhooks leave defaults to policies only if the CRDs are installed, too.
        "crds": bool(observed.leaving_defaults) or not has_policies,
        **{
            field: server[flag][0]
            for flag, field in _FLAGS.items()
            # A port may be a variable, as `$(PORT)`.
            if flag in server and (server[flag][0].isdigit() or not flag.endswith("port"))
        },
    }
    if deployment is not None:
        read["replicas"] = max(deployment["spec"].get("replicas", 1), 1)
    if "tls-secret" in server:
        read["secret"] = server["tls-secret"][0].rpartition("/")[2]
    return Installation(**{**read, **given})


def _failure_policies(observed: ClusterSnapshot, kinds: Iterable[CustomKind], usual: str) -> dict[str, str]:
    """Return the unusual failure policy of each kind whose webhooks all have it; in one only, it is a change."""
    policies: dict[str, set[str]] = {kind.qualified_plural: set() for kind in kinds if kind.resource}
    for _, entry in observed.webhooks():
        about = f".{entry['name']}".removesuffix(".jobgate.dev").rpartition(".")[0]
        for name in (name for name in policies if about.endswith(f".{name}")):
            policies[name].add(entry.get("failurePolicy", "Fail"))
    return {name: min(found) for name, found in policies.items() if len(found) == 1 and usual not in found}


def _usual(entries: Sequence[Mapping[str, Any]], field: str) -> dict[str, Any]:
    """Return the selector that most webhooks of jobs have in a field."""
    selector: dict[str, Any] = json.loads(_most([json.dumps(entry.get(field) or {}) for entry in entries], "{}"))
    return selector


def _without_shipped(selector: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """Return a namespaceSelector without what every installation in this namespace has in it."""
    shipped = resolve(NAMESPACES, Installation(namespace=namespace))["matchExpressions"]
    added = [each for each in selector.get("matchExpressions") or () if each not in shipped]
    return {key: value for key, value in {**selector, "matchExpressions": added}.items() if value}


def _services(observed: ClusterSnapshot) -> Sequence[Mapping[str, Any]]:
    clients = [entry["clientConfig"] for _, entry in observed.webhooks()]
    return [client["service"] for client in clients if client.get("service")]


def _most(values: Sequence[T], default: T) -> T:
    """Return the most frequent value; the default one wins a tie."""
    counted = Counter(values)
    return max(counted, key=lambda value: (counted[value], value == default)) if counted else default


def flags_of(observed: ClusterSnapshot, name: str, namespace: str) -> dict[str, list[str]]:
    """Return the values of the flags of a Deployment's container; nothing without the Deployment."""
    deployment = observed.get(DEPLOYMENTS, name, namespace)
    return flags_in(deployment["spec"]["template"]["spec"]) if deployment is not None else {}


def flags_in(pod: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the values of the flags of our container of a pod's spec."""
    flags: dict[str, list[str]] = {}
    for argument in container_of(pod).get("args") or ():
        flag, equals, value = str(argument).removeprefix("--").partition("=")
        if equals:
            flags.setdefault(flag, []).append(value)
    return flags


def _kinds(observed: ClusterSnapshot, kinds: Iterable[CustomKind], namespace: str) -> dict[str, bool]:
    """Return which kinds are enabled: by the server's flags, or else by the webhooks."""
    names = list(dict.fromkeys(kind.qualified_plural for kind in kinds))
    if observed.get(DEPLOYMENTS, ACCOUNT, namespace) is not None:
        off = set(flags_of(observed, ACCOUNT, namespace).get("without-kind", ()))
        return {name: name not in off for name in names}
    entries = [entry["name"] for _, entry in observed.webhooks()]
    named = {name for name in names for entry in entries if entry.startswith(f"{name}.")}
    return {name: name in named for name in names} if named else {}


def _rotation(observed: ClusterSnapshot, namespace: str) -> RotationMode:
    configurations = (observed.get(resource, observed.name) or {} for resource in CONFIGURATIONS)
    if any(
        _INJECTED in (configuration.get("metadata", {}).get("annotations") or {}) for configuration in configurations
    ):
        return RotationMode.CERT_MANAGER
    # An account without a workload: the Deployment is missing.
    for resource, rotation in (
        (DEPLOYMENTS, RotationMode.WATCH), (CRON_JOBS, RotationMode.CRONJOB), (ACCOUNTS, RotationMode.WATCH)
    ):  # fmt: skip
        if observed.get(resource, certificates.ACCOUNT, namespace) is not None:
            return rotation
    return RotationMode.NONE


def _secrets_in(observed: ClusterSnapshot) -> tuple[str, ...]:
    name = f"{controller.ACCOUNT}-secrets".replace("jobgate", observed.name, 1)
    bindings = (binding["metadata"] for binding in observed.all(BINDINGS) or ())
    return tuple(sorted(binding["namespace"] for binding in bindings if binding["name"] == name))


def _external_name(observed: ClusterSnapshot, service: str, namespace: str) -> str:
    spec = (observed.get(SERVICES, service, namespace) or {}).get("spec") or {}
    return str(spec.get("externalName") or "") if spec.get("type") == "ExternalName" else ""
