"""The renewal of the server's certificate: by our rotation, as a Deployment or a CronJob, or by cert-manager.

No Secret is rendered: one of type kubernetes.io/tls must have its keys, so the next apply would empty them. A deleted
Secret must be created again at once, so the rotation may create Secrets in its namespace. RBAC cannot limit their
names; an admission policy does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jobgate.installation.choices import (
    CERT_MANAGER,
    INSTALLED,
    NAME,
    NAMESPACE,
    ROTATES,
    SCHEDULES,
    WATCHES,
    kind_on,
    named,
    namespaced,
)
from jobgate.installation.configurations import CERTIFICATE
from jobgate.installation.pods import component, container, deployment, pod, pod_metadata
from jobgate.installation.policies import GROUP as _ADMISSION
from jobgate.installation.policies import policy, rules, validation
from jobgate.installation.rbac import READ, account, bound, lease, rule
from jobgate.installation.tree import ITEM, ForEach, If, any_of, joined, setting
from jobgate.installation.workload import DOMAIN_FLAG
from jobgate.jobs.kind import CustomKind

ACCOUNT = "jobgate-certificates"
#: The Lease of the rotation; the default of `jobgate certs`.
LEASE = "jobgate-certificates"
SELECTOR = component("certificates")
_LABELS = {**INSTALLED, **SELECTOR}

#: A pass makes the steps that are due; the next pass continues. So it is at the first installation, too.
_SCHEDULE = "*/5 * * * *"
#: Timeout of a pass, in seconds. The next one continues.
_DEADLINE = 240
_SECRET = setting("secret")


def certificates(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the objects that renew the certificate, by the setting `rotation`."""
    converted = [kind for kind in kinds if kind.versions]
    return [If(ROTATES, _rotation(converted)), If(CERT_MANAGER, _cert_manager())]


def _rotation(converted: Sequence[CustomKind]) -> list[Any]:
    return [
        account(ACCOUNT),
        *bound(ACCOUNT, _rules(converted)),
        *bound(ACCOUNT, _RULES_AT_HOME, NAMESPACE),
        *_policy(),
        # One replica is enough: servers can do without it for weeks.
        If(WATCHES, deployment(ACCOUNT, SELECTOR, _pod("watch", converted, serving=True), 1)),
        If(SCHEDULES, [_cron_job(converted), _install_job(converted)]),
    ]


#: CRDs that the user names, in addition to those of kinds with several versions.
_CONVERSIONS = setting("conversion_crds")


def _rules(converted: Sequence[CustomKind]) -> list[Any]:
    """Return the rights in the whole cluster: to patch the bundles of configurations and of some CRDs, and no more."""
    names: tuple[If | ForEach, ...] = (
        *(If(kind_on(kind), kind.qualified_plural) for kind in converted),
        ForEach(_CONVERSIONS, ITEM),
    )
    definitions = rule("apiextensions.k8s.io", "customresourcedefinitions", verbs=("get", "patch"), names=names)
    return [
        rule(
            _ADMISSION,
            "mutatingwebhookconfigurations",
            "validatingwebhookconfigurations",
            verbs=(*READ, "patch"),
            names=(NAME,),
        ),
        If(any_of((_CONVERSIONS, *map(kind_on, converted))), definitions),
    ]


_RULES_AT_HOME = [
    rule("", "secrets", verbs=(*READ, "patch"), names=(_SECRET,)),
    # RBAC cannot limit the names of created objects: `_policy` does.
    rule("", "secrets", verbs=("create",)),
    *lease(named(LEASE)),
    rule("", "events", verbs=("create",)),
    # Before an old CA is removed, every server must serve the new certificate.
    rule("discovery.k8s.io", "endpointslices", verbs=("list",)),
]


def _policy() -> list[dict[str, Any]]:
    """Return the policy that lets the rotation create only its own Secret, and no token of another account."""
    constraints = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}},
        "resourceRules": [rules("", "secrets", versions="v1", operations=["CREATE"])],
    }
    expression = joined("object.metadata.name == '", _SECRET, "' && object.type == 'kubernetes.io/tls'")
    message = joined("this account may create only the Secret ", _SECRET, " of type kubernetes.io/tls")
    return policy(ACCOUNT, constraints, [validation(expression, message)])


def _cron_job(converted: Sequence[CustomKind]) -> dict[str, Any]:
    spec = {
        "schedule": _SCHEDULE,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _DEADLINE,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": _passing(converted)},
    }
    return namespaced("batch/v1", "CronJob", ACCOUNT, {"spec": spec}, _LABELS)


def _install_job(converted: Sequence[CustomKind]) -> dict[str, Any]:
    """Return the first pass, so that an installation does not wait for the schedule.

    A Job cannot be changed. It is deleted a minute after its end, so that a later apply creates another.
    """
    spec = {**_passing(converted), "ttlSecondsAfterFinished": 60}
    return namespaced("batch/v1", "Job", f"{ACCOUNT}-install", {"spec": spec}, _LABELS)


def _passing(converted: Sequence[CustomKind]) -> dict[str, Any]:
    return {
        "backoffLimit": 2,
        "activeDeadlineSeconds": _DEADLINE,
        "template": {
            "metadata": pod_metadata(_LABELS),
            "spec": {**_pod("rotate", converted), "restartPolicy": "Never"},
        },
    }


def _pod(command: str, converted: Sequence[CustomKind], *, serving: bool = False) -> dict[str, Any]:
    """Return the pod of a command; with `serving`, it has probes and metrics."""
    args = [
        "certs",
        command,
        joined("--namespace=", NAMESPACE),
        joined("--secret-name=", _SECRET),
        joined("--service=", setting("service")),
        joined("--configuration=", NAME),
        DOMAIN_FLAG,
        *(If(kind_on(kind), f"--crd={kind.qualified_plural}") for kind in converted),
        ForEach(_CONVERSIONS, joined("--crd=", ITEM)),
        *([joined("--health-port=", setting("health_port")), joined("--lease-name=", named(LEASE))] if serving else []),
    ]
    return pod(ACCOUNT, container("certificates", args, serving=serving), critical=True)


def _cert_manager() -> list[dict[str, Any]]:
    """Return a CA for years, and a leaf for months: a self-signed leaf would be a new CA at each renewal."""
    key = {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}

    def resource(kind: str, name: str, spec: dict[str, Any], issuer: str = "") -> dict[str, Any]:
        reference = {"group": "cert-manager.io", "kind": "Issuer", "name": issuer}
        signed = {"privateKey": key, "issuerRef": reference} if issuer else {}
        return namespaced("cert-manager.io/v1", kind, name, {"spec": {**spec, **signed}})

    authority = {"isCA": True, "commonName": "jobgate-ca", "secretName": "jobgate-ca", "duration": "43800h"}
    leaf = {
        "secretName": _SECRET,
        "dnsNames": [
            joined(setting("service"), ".", NAMESPACE, ".svc"),
            joined(setting("service"), ".", NAMESPACE, ".", setting("cluster_domain")),
        ],
        "duration": "2160h",
        "renewBefore": "720h",
        "usages": ["digital signature", "server auth"],
    }
    return [
        resource("Issuer", "jobgate-selfsigned", {"selfSigned": {}}),
        resource("Certificate", "jobgate-ca", authority, "jobgate-selfsigned"),
        resource("Issuer", "jobgate-ca", {"ca": {"secretName": "jobgate-ca"}}),
        resource("Certificate", CERTIFICATE, leaf, "jobgate-ca"),
    ]
