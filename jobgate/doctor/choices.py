"""The choices of an installation, read back from what is stored of it: so that none of them is taken for a fault.

What the server is told is in the arguments of its Deployment; the rest shows in which objects there are. Whoever wants
to be sure tells the choices: what is told is not read back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from jobgate.doctor.expected import container_of, entries_of
from jobgate.doctor.observed import (
    ACCOUNTS,
    BINDINGS,
    CLUSTER_ROLES,
    CONFIGURATIONS,
    CRON_JOBS,
    DEPLOYMENTS,
    SERVICES,
    Observed,
)
from jobgate.installation import Installation, certificates, controller, runner
from jobgate.installation.configurations import NAME
from jobgate.installation.installation import Rotation
from jobgate.installation.workload import ACCOUNT
from webhook import Kind

T = TypeVar("T")

#: The ClusterRole that names all kinds that are on.
VIEW = "jobgate-jobs-view"
_INJECTED = "cert-manager.io/inject-ca-from"
#: What of the server's arguments is which choice.
_TEXTS = {"queueing": "queueing", "cluster-domain": "cluster_domain", "mode": "mode"}
_PORTS = {"port": "target_port", "health-port": "health_port"}


def namespace_of(configurations: Iterable[Mapping[str, Any] | None], told: Mapping[str, Any]) -> str:
    """Return where jobgate is installed: where it is told, or where most entries call."""
    if "namespace" in told:
        return str(told["namespace"])
    return _most([str(one["namespace"]) for one in _services(configurations)], Installation().namespace)


def service_of(configurations: Iterable[Mapping[str, Any] | None], deployment: Any, told: Mapping[str, Any]) -> str:
    """Return what the Service is called: as it is told, as the server expects, or as most entries call it."""
    if "service" in told:
        return str(told["service"])
    names = _flags(deployment).get("tls-name", [""])[0].split(".")
    if names[0]:
        return names[0]
    return _most([str(one["name"]) for one in _services(configurations)], Installation().service)


def read_back(observed: Observed, kinds: Iterable[Kind], namespace: str, told: Mapping[str, Any]) -> Installation:
    """Return the choices of the installation in a namespace.

    Args:
        observed: what was seen; the rights, the Secret and what is served are not needed.
        kinds: all that there are.
        namespace: of the installation.
        told: choices by name of field, which are as they are.

    Raises:
        pydantic.ValidationError: what is told does not go together with what was seen.
    """
    configurations = [observed.get(resource, NAME) for resource in CONFIGURATIONS]
    deployment = observed.get(DEPLOYMENTS, ACCOUNT, namespace)
    service = service_of(configurations, deployment, told)
    seen = {
        "namespace": namespace,
        "service": service,
        "service_port": _most([one.get("port") or 443 for one in _services(configurations)], 443),
        "failure_policy": _failure_policy(configurations),
        "rotation": _rotation(observed, configurations, namespace),
        "secrets_in": _secrets_in(observed),
        "external_name": _external_name(observed, service, namespace),
        "kinds": _kinds(observed, kinds, configurations, deployment),
        **_of_deployment(deployment),
        **_of_runner(deployment, observed.get(DEPLOYMENTS, runner.ACCOUNT, namespace)),
    }
    return Installation(**{**seen, **told})


def _services(configurations: Iterable[Mapping[str, Any] | None]) -> Sequence[Mapping[str, Any]]:
    clients = [entry["clientConfig"] for one in configurations for entry in entries_of(one)]
    return [client["service"] for client in clients if client.get("service")]


def _most(values: Sequence[T], otherwise: T) -> T:
    """Return the value that most have, the usual one where as many do."""
    counted = Counter(values)
    return max(counted, key=lambda one: (counted[one], one == otherwise)) if counted else otherwise


def _failure_policy(configurations: Iterable[Mapping[str, Any] | None]) -> str:
    return str(
        _most([entry.get("failurePolicy", "Fail") for one in configurations for entry in entries_of(one)], "Fail")
    )


def _flags(deployment: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Return the arguments of a Deployment's container, by flag."""
    found: dict[str, list[str]] = {}
    if deployment is not None:
        for argument in container_of(deployment["spec"]["template"]["spec"]).get("args") or ():
            name, equals, value = str(argument).removeprefix("--").partition("=")
            if equals:
                found.setdefault(name, []).append(value)
    return found


def _of_deployment(deployment: Mapping[str, Any] | None) -> dict[str, Any]:
    if deployment is None:
        return {}
    flags = _flags(deployment)
    found: dict[str, Any] = {"replicas": max(deployment["spec"].get("replicas", 1), 1)}
    found |= {field: flags[flag][0] for flag, field in _TEXTS.items() if flag in flags}
    found |= {field: int(flags[flag][0]) for flag, field in _PORTS.items() if flags.get(flag, [""])[0].isdigit()}
    if "tls-secret" in flags:
        found["secret"] = flags["tls-secret"][0].rpartition("/")[2]
    found["plugins"] = dict.fromkeys(flags.get("without-plugin", ()), False)
    return found


def _of_runner(server: Mapping[str, Any] | None, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is said of the kinds that jobgate runs, by the server or by the runner: both have `--run`."""
    flags = _flags(found)
    run = dict.fromkeys([*_flags(server).get("run", ()), *flags.get("run", ())])
    # What the queues are is not in the arguments; that there are any decides what the runner may.
    return {"run": tuple(run), **({"queues": "queues: []"} if "queues" in flags else {})}


def _kinds(
    observed: Observed,
    kinds: Iterable[Kind],
    configurations: Iterable[Mapping[str, Any] | None],
    deployment: Mapping[str, Any] | None,
) -> dict[str, bool]:
    """Return which kinds are on: as the server is told, or as anything of the installation speaks of them."""
    names = list(dict.fromkeys(kind.qualified_plural for kind in kinds))
    if deployment is not None:
        off = set(_flags(deployment).get("without-kind", ()))
        return {name: name not in off for name in names}
    role = observed.get(CLUSTER_ROLES, VIEW)
    spoken = {
        f"{plural}.{group}"
        for rule in (role or {}).get("rules") or ()
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }
    entries = {entry["name"] for one in configurations for entry in entries_of(one)}
    spoken |= {name for name in names for entry in entries if entry.startswith(f"{name}.")}
    return {name: name in spoken for name in names} if spoken & set(names) else {}


def _rotation(observed: Observed, configurations: Iterable[Mapping[str, Any] | None], namespace: str) -> Rotation:
    annotations = [(one or {}).get("metadata", {}).get("annotations") or {} for one in configurations]
    if any(_INJECTED in one for one in annotations):
        return Rotation.CERT_MANAGER
    if observed.get(DEPLOYMENTS, certificates.ACCOUNT, namespace) is not None:
        return Rotation.WATCH
    if observed.get(CRON_JOBS, certificates.ACCOUNT, namespace) is not None:
        return Rotation.CRONJOB
    # Its account without a workload: that is missing.
    return Rotation.WATCH if observed.get(ACCOUNTS, certificates.ACCOUNT, namespace) is not None else Rotation.NONE


def _secrets_in(observed: Observed) -> tuple[str, ...]:
    name = f"{controller.ACCOUNT}-secrets"
    found = (one["metadata"] for one in observed.all(BINDINGS) or ())
    return tuple(sorted(one["namespace"] for one in found if one["name"] == name))


def _external_name(observed: Observed, service: str, namespace: str) -> str:
    spec = (observed.get(SERVICES, service, namespace) or {}).get("spec") or {}
    if spec.get("type") != "ExternalName":
        return ""
    return str(spec.get("externalName") or "")
