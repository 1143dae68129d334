"""The webhook configurations: one mutating, one validating; an entry for each kind in both, and one for its pods.

An object selector is one LabelSelector, and cannot say "the operator's labels, or ours". So the pods with our own
labels, of all kinds, have an entry of their own. It comes before those of operators' pods: what such a pod gets of our
labels then does not send it a second time.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.kinds.common.wiring import PATHS, marked_selector, members_of, wired
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
    kinds = tuple(kinds)
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": _NAMES[phase],
        "metadata": {"name": "jobgate", "labels": dict(LABELS)},
        "webhooks": [
            *(_jobs(phase, kind, installation) for kind in kinds),
            *_pods(phase, wired(kinds), installation),
        ],
    }


def _jobs(phase: Phase, kind: Kind, installation: Installation) -> dict[str, Any]:
    conditions = [{"name": "spec-changes", "expression": SPEC_CHANGES}]
    if phase is Phase.MUTATE:
        conditions.append({"name": "not-deleting", "expression": NOT_DELETING})
    rule = {
        "apiGroups": [kind.group],
        "apiVersions": [kind.version],
        "operations": ["CREATE", "UPDATE"],
        "resources": [kind.plural],
        "scope": "Namespaced",
    }
    name = f"{kind.qualified_plural}.{phase}"
    return _entry(name, phase, kind.path(phase), rule, {"matchConditions": conditions}, installation)


def _pods(phase: Phase, kinds: Iterable[Kind], installation: Installation) -> Iterator[dict[str, Any]]:
    """Yield the entries for the pods of kinds, of which no other pod is ever sent."""
    kinds = tuple(kinds)
    selectors: dict[str, Mapping[str, Any]] = {f"pods.{phase}": marked_selector(kinds)} if kinds else {}
    for kind in kinds:
        if members := members_of(kind):
            selectors[f"pods.{kind.qualified_plural}.{phase}"] = members.selector
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
        "scope": "Namespaced",
    }
    for name, selector in selectors.items():
        yield _entry(name, phase, PATHS[phase], rule, {"objectSelector": dict(selector)}, installation)


def _entry(
    name: str,
    phase: Phase,
    path: str,
    rule: Mapping[str, Any],
    narrowed: Mapping[str, Any],
    installation: Installation,
) -> dict[str, Any]:
    """Return the entry that sends to a path what a rule matches; `narrowed` says which of it only."""
    entry = {
        "name": f"{name}.jobgate.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path, installation),
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        **narrowed,
        "namespaceSelector": _namespaces(installation),
        "rules": [dict(rule)],
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
