"""The webhook configurations: one mutating, one validating, an entry for each kind in both."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from jobgate.render.installation import LABELS, OPT_OUT_LABEL, SYSTEM_NAMESPACES, Installation
from webhook import Kind, Phase

#: Seconds that the API server waits for an answer.
TIMEOUT = 5

#: Nothing but a change of spec concerns us: an operator's or a user's other writes never wait for a webhook.
SPEC_CHANGES = 'request.operation == "CREATE" || object.spec != oldObject.spec'
#: A job that is being deleted is not defaulted any more; its spec is still validated.
NOT_DELETING = "!has(object.metadata.deletionTimestamp)"

_NAMES = {Phase.MUTATE: "MutatingWebhookConfiguration", Phase.VALIDATE: "ValidatingWebhookConfiguration"}


def configuration(phase: Phase, kinds: Iterable[Kind], installation: Installation) -> dict[str, Any]:
    """Return the configuration of one phase."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": _NAMES[phase],
        "metadata": {"name": "jobgate", "labels": dict(LABELS)},
        "webhooks": [_entry(phase, kind, installation) for kind in kinds],
    }


def _entry(phase: Phase, kind: Kind, installation: Installation) -> dict[str, Any]:
    conditions = [{"name": "spec-changes", "expression": SPEC_CHANGES}]
    if phase is Phase.MUTATE:
        conditions.append({"name": "not-deleting", "expression": NOT_DELETING})
    entry = {
        "name": f"{kind.qualified_plural}.{phase}.jobgate.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(kind.path(phase), installation),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "matchConditions": conditions,
        "namespaceSelector": _namespaces(installation),
        "rules": [
            {
                "apiGroups": [kind.group],
                "apiVersions": [kind.version],
                "operations": ["CREATE", "UPDATE"],
                "resources": [kind.plural],
                "scope": "Namespaced",
            }
        ],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT,
    }
    if phase is Phase.MUTATE:
        entry["reinvocationPolicy"] = "IfNeeded"
    return entry


def _client(path: str, installation: Installation) -> dict[str, Any]:
    client: dict[str, Any] = {
        "service": {
            "namespace": installation.namespace,
            "name": installation.service,
            "port": installation.service_port,
            "path": path,
        }
    }
    if installation.ca_bundle:
        client["caBundle"] = base64.b64encode(installation.ca_bundle).decode()
    return client


def _namespaces(installation: Installation) -> dict[str, Any]:
    ours = (*SYSTEM_NAMESPACES, installation.namespace)
    return {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(ours)},
            {"key": OPT_OUT_LABEL, "operator": "NotIn", "values": ["disabled"]},
        ]
    }
