"""The webhook configurations: one mutating, one validating; an entry for each kind in both, and one for its pods.

An object selector is one LabelSelector, and cannot say "the operator's labels, or ours". So the pods with our own
labels, of all kinds, have an entry of their own. It comes before those of operators' pods: what such a pod gets of our
labels then does not send it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jobgate.kinds.common.wiring import PATHS, marked_selector, members_of, wired
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.render.choices import CERT_MANAGER, NAMESPACE, kind_on, some_on
from jobgate.render.installation import LABELS
from jobgate.render.tree import Base64, Given, When, joined
from webhook import Kind, Phase

#: Seconds that the API server waits for an answer.
TIMEOUT = 5

#: Nothing but a change of spec concerns us: an operator's or a user's other writes never wait for a webhook.
SPEC_CHANGES = 'request.operation == "CREATE" || object.spec != oldObject.spec'
#: A job that is being deleted is not defaulted any more; its spec is still validated.
NOT_DELETING = "!has(object.metadata.deletionTimestamp)"

#: Of both configurations.
NAME = "jobgate"
#: The Certificate that cert-manager keeps, where it does.
CERTIFICATE = "jobgate-webhook"

KINDS = {Phase.MUTATE: "MutatingWebhookConfiguration", Phase.VALIDATE: "ValidatingWebhookConfiguration"}


def configuration(phase: Phase, kinds: Iterable[Kind]) -> When:
    """Return the configuration of one phase, where one kind at least is on.

    The bundle is rendered only where the installation brings it. Where something injects it, the field is left out
    altogether: what an apply does not say, it does not wipe.
    """
    kinds = tuple(kinds)
    return When(
        some_on(kinds),
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": KINDS[phase],
            "metadata": {
                "name": NAME,
                "labels": LABELS,
                "annotations": When(
                    CERT_MANAGER, {"cert-manager.io/inject-ca-from": joined(NAMESPACE, "/", CERTIFICATE)}
                ),
            },
            "webhooks": [*(When(kind_on(kind), _jobs(phase, kind)) for kind in kinds), *_pods(phase, wired(kinds))],
        },
    )


def _jobs(phase: Phase, kind: Kind) -> dict[str, Any]:
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
    return _entry(name, phase, kind.path(phase), rule, {"matchConditions": conditions})


def _pods(phase: Phase, kinds: Iterable[Kind]) -> Iterator[When]:
    """Yield the entries for the pods of kinds, of which no other pod is ever sent."""
    kinds = tuple(kinds)
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
        "scope": "Namespaced",
    }
    if kinds:
        (ours,) = marked_selector(kinds)["matchExpressions"]
        marked = {**ours, "values": [When(kind_on(kind), kind.qualified_plural) for kind in kinds]}
        narrowed = {"objectSelector": {"matchExpressions": [marked]}}
        yield When(some_on(kinds), _entry(f"pods.{phase}", phase, PATHS[phase], rule, narrowed))
    for kind in kinds:
        if members := members_of(kind):
            narrowed = {"objectSelector": dict(members.selector)}
            name = f"pods.{kind.qualified_plural}.{phase}"
            yield When(kind_on(kind), _entry(name, phase, PATHS[phase], rule, narrowed))


def _entry(
    name: str,
    phase: Phase,
    path: str,
    rule: Mapping[str, Any],
    narrowed: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the entry that sends to a path what a rule matches; `narrowed` says which of it only."""
    entry = {
        "name": f"{name}.jobgate.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path),
        "failurePolicy": Given("failure_policy"),
        "matchPolicy": "Equivalent",
        **narrowed,
        "namespaceSelector": _namespaces(),
        "rules": [dict(rule)],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT,
    }
    if phase is Phase.MUTATE:
        entry["reinvocationPolicy"] = "IfNeeded"
    return entry


def _client(path: str) -> dict[str, Any]:
    return {
        "service": {"namespace": NAMESPACE, "name": Given("service"), "port": Given("service_port"), "path": path},
        "caBundle": When(Given("ca_bundle"), Base64(Given("ca_bundle"))),
    }


def _namespaces() -> dict[str, Any]:
    return {
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": [*SYSTEM_NAMESPACES, NAMESPACE],
            },
            {"key": OPT_OUT_LABEL, "operator": "NotIn", "values": [OPT_OUT_VALUE]},
        ]
    }
