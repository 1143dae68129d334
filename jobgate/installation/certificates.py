"""Who renews the server's certificate: our own rotation, as a Deployment or a CronJob, or cert-manager.

No Secret is rendered. One of type kubernetes.io/tls must have its keys, and whoever states them at the next apply
sets them to empty values: the certificate would be gone. And a deleted Secret must be created again at once. So the
rotation may create Secrets in its namespace; RBAC cannot say of which name, an admission policy can.
"""

from __future__ import annotations

from typing import Any

from jobgate.installation.choices import CERT_MANAGER, NAMESPACE, ROTATES, SCHEDULES, WATCHES, namespaced
from jobgate.installation.configurations import CERTIFICATE, NAME
from jobgate.installation.installation import LABELS
from jobgate.installation.pods import component, container, deployment, pod
from jobgate.installation.policies import GROUP as _ADMISSION
from jobgate.installation.policies import holds, policy, rules
from jobgate.installation.rbac import READ, account, bound, lease, rule
from jobgate.installation.tree import Each, Given, Item, When, joined
from jobgate.installation.workload import DOMAIN_FLAG

ACCOUNT = "jobgate-certificates"
#: The Lease that one rotation holds; what `jobgate certs` calls it by itself.
LEASE = "jobgate-certificates"
SELECTOR = component("certificates")
_LABELS = {**LABELS, **SELECTOR}

#: A pass does what is due and ends. What waits for time goes on with the next pass: at the first installation too.
_SCHEDULE = "*/5 * * * *"
#: Seconds after which a pass is given up. The next one goes on from what is stored.
_DEADLINE = 240
_SECRET = Given("secret")


def certificates() -> list[Any]:
    """Return what keeps the certificate, by the installation's choice; nothing where another component does."""
    return [When(ROTATES, _rotation()), When(CERT_MANAGER, _cert_manager())]


def _rotation() -> list[Any]:
    return [
        account(ACCOUNT),
        *bound(ACCOUNT, _RULES),
        *bound(ACCOUNT, _RULES_AT_HOME, NAMESPACE),
        *_policy(),
        When(WATCHES, _deployment()),
        When(SCHEDULES, [_cron_job(), _install_job()]),
    ]


#: Of CRDs only those that are named: no version of ours is converted by a webhook.
_CONVERSIONS = Given("conversion_crds")
_RULES = [
    rule(
        _ADMISSION,
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        verbs=(*READ, "patch"),
        names=(NAME,),
    ),
    When(
        _CONVERSIONS,
        rule(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            verbs=("get", "patch"),
            names=(Each(_CONVERSIONS, Item()),),
        ),
    ),
]
_RULES_AT_HOME = [
    rule("", "secrets", verbs=(*READ, "patch"), names=(_SECRET,)),
    # No name can be given for what is created: `_policy` gives it.
    rule("", "secrets", verbs=("create",)),
    *lease(LEASE),
    rule("", "events", verbs=("create",)),
    # Each server is asked what it serves, before an old CA goes.
    rule("discovery.k8s.io", "endpointslices", verbs=("list",)),
]


def _policy() -> list[dict[str, Any]]:
    """Return the policy by which the rotation creates no Secret but its own: above all no token of another account."""
    constraints = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}},
        "resourceRules": [rules("", "secrets", versions="v1", operations=["CREATE"])],
    }
    expression = joined("object.metadata.name == '", _SECRET, "' && object.type == 'kubernetes.io/tls'")
    message = joined("this account may create only the Secret ", _SECRET, " of type kubernetes.io/tls")
    return policy(ACCOUNT, constraints, [holds(expression, message)])


def _deployment() -> dict[str, Any]:
    """Return the loop. One replica: servers go on without it for weeks, and a Lease keeps two from working at once."""
    return deployment(ACCOUNT, SELECTOR, _pod("watch", serving=True), 1)


def _cron_job() -> dict[str, Any]:
    spec = {
        "schedule": _SCHEDULE,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": _DEADLINE,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": _passing()},
    }
    return namespaced("batch/v1", "CronJob", ACCOUNT, {"spec": spec}, _LABELS)


def _install_job() -> dict[str, Any]:
    """Return the first pass, so that an installation does not wait for the schedule.

    A Job cannot be changed: it goes a minute after its end, so that a later apply makes another.
    """
    spec = {**_passing(), "ttlSecondsAfterFinished": 60}
    return namespaced("batch/v1", "Job", f"{ACCOUNT}-install", {"spec": spec}, _LABELS)


def _passing() -> dict[str, Any]:
    return {
        "backoffLimit": 2,
        "activeDeadlineSeconds": _DEADLINE,
        "template": {"metadata": {"labels": _LABELS}, "spec": {**_pod("rotate"), "restartPolicy": "Never"}},
    }


def _pod(command: str, *, serving: bool = False) -> dict[str, Any]:
    """Return the pod of a command; `serving` says that it answers probes, and has metrics."""
    args = [
        "certs",
        command,
        joined("--namespace=", NAMESPACE),
        joined("--secret-name=", _SECRET),
        joined("--service=", Given("service")),
        f"--configuration={NAME}",
        DOMAIN_FLAG,
        Each(_CONVERSIONS, joined("--crd=", Item())),
        *([joined("--health-port=", Given("health_port"))] if serving else []),
    ]
    return pod(ACCOUNT, container("certificates", args, "20m", "256Mi", serving=serving), critical=True)


def _cert_manager() -> list[dict[str, Any]]:
    """Return a CA of years and a leaf of months that it signs: a leaf that signs itself is a new CA at each renewal."""
    key = {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}

    def made(kind: str, name: str, spec: dict[str, Any], issuer: str = "") -> dict[str, Any]:
        reference = {"group": "cert-manager.io", "kind": "Issuer", "name": issuer}
        signed = {"privateKey": key, "issuerRef": reference} if issuer else {}
        return namespaced("cert-manager.io/v1", kind, name, {"spec": {**spec, **signed}})

    authority = {"isCA": True, "commonName": "jobgate-ca", "secretName": "jobgate-ca", "duration": "43800h"}
    leaf = {
        "secretName": _SECRET,
        "dnsNames": [
            joined(Given("service"), ".", NAMESPACE, ".svc"),
            joined(Given("service"), ".", NAMESPACE, ".", Given("cluster_domain")),
        ],
        "duration": "2160h",
        "renewBefore": "720h",
        "usages": ["digital signature", "server auth"],
    }
    return [
        made("Issuer", "jobgate-selfsigned", {"selfSigned": {}}),
        made("Certificate", "jobgate-ca", authority, "jobgate-selfsigned"),
        made("Issuer", "jobgate-ca", {"ca": {"secretName": "jobgate-ca"}}),
        made("Certificate", CERTIFICATE, leaf, "jobgate-ca"),
    ]
