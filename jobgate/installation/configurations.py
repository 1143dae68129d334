"""The webhook configurations: one mutating, one validating, with a webhook for each kind and one for its pods.

An object selector cannot express "the operator's labels or ours". So one webhook is for pods with our labels, of all
kinds. It is first: labels that a pod gets from the webhooks of operators' pods then do not cause another call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from jobgate.installation.choices import (
    CERT_MANAGER,
    INSTALLED,
    NAME,
    NAMESPACE,
    denies,
    kind_on,
    may_be_wired,
    some_on,
    wires,
)
from jobgate.installation.tree import (
    OBJECT,
    Expression,
    ForEach,
    If,
    all_of,
    any_of,
    base64,
    either,
    entry,
    entry_or,
    joined,
    setting,
)
from jobgate.installation.twins import Twins
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.scale import SCALE, scalable, scale_path
from jobgate.jobs.wiring import ITEMS_PATH, PATHS, WORKLOADS, WORKLOADS_PATH, marked_selector, members_of, provides_all
from jobgate.ownership import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.prerequisites.models import DEFINED
from jobgate.prerequisites.reference import ANNOTATION, GROUP, VERSION
from webhook import Phase

#: Other updates, such as those of operators, never wait for a webhook. For jobs, `_changes` has the whole condition.
SPEC_CHANGES = 'request.operation == "CREATE" || object.spec != oldObject.spec'
#: A job that is being deleted is validated, but not defaulted.
NOT_DELETING = "!has(object.metadata.deletionTimestamp)"

#: Name of the condition by which a policy sets defaults instead of the webhook.
NEEDS_DEFAULTS = "needs-defaults"
#: Label of the configurations of an installation with admission policies of kinds.
WITH_POLICIES = "jobgate.dev/policies"

#: Name of the Certificate of cert-manager.
CERTIFICATE = "jobgate-webhook"

#: The annotations of what has a CA bundle.
INJECTED = If(CERT_MANAGER, {"cert-manager.io/inject-ca-from": joined(NAMESPACE, "/", CERTIFICATE)})

_LABELS = entry("namespace_selector", "matchLabels", {})
_EXPRESSIONS = entry("namespace_selector", "matchExpressions", [])
#: The namespaces that webhooks are called for.
NAMESPACES = {
    "matchLabels": If(_LABELS, _LABELS),
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [*SYSTEM_NAMESPACES, NAMESPACE]},
        {"key": OPT_OUT_LABEL, "operator": "NotIn", "values": [OPT_OUT_VALUE]},
        ForEach(_EXPRESSIONS, OBJECT),
    ],
}

#: The jobs that webhooks are called for.
OBJECTS = setting("object_selector")

KINDS = {Phase.MUTATE: "MutatingWebhookConfiguration", Phase.VALIDATE: "ValidatingWebhookConfiguration"}


def configuration(phase: Phase, kinds: Iterable[CustomKind]) -> If:
    """Return the configuration of one phase, if a kind is enabled.

    The bundle is rendered only if the installation has one. If it is injected, the field is absent, so that an apply
    does not remove it.
    """
    kinds = tuple(kinds)
    return If(
        some_on(kinds),
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": KINDS[phase],
            "metadata": {
                "name": NAME,
                "labels": {**INSTALLED, WITH_POLICIES: If(setting("policies"), "true")},
                "annotations": INJECTED,
            },
            "webhooks": [
                *(If(kind_on(kind), _jobs(phase, kind)) for kind in kinds if phase is Phase.VALIDATE or kind.resource),
                *(If(kind_on(kind), _scale(kind)) for kind in scalable(kinds) if phase is Phase.VALIDATE),
                *_pods(phase, kinds),
                *_prerequisites(phase),
            ],
        },
    )


def _changes(kind: CustomKind) -> str:
    """Return the condition for a review of a job: changes of the spec, or of reviewed labels or annotations."""
    marks = (
        f"{json.dumps(keys)}.exists(key, object.metadata.?{field}[?key] != oldObject.metadata.?{field}[?key])"
        for field, keys in kind.reviewed.items()
        if keys
    )
    return " || ".join((SPEC_CHANGES, *marks))


def changed(kind: CustomKind, phase: Phase) -> list[Any]:
    """Return the match conditions for the review of a job in one phase."""
    conditions = [{"name": "spec-changes", "expression": _changes(kind)}]
    if phase is Phase.MUTATE:
        conditions.append({"name": "not-deleting", "expression": NOT_DELETING})
    return conditions


def _jobs(phase: Phase, kind: CustomKind) -> dict[str, Any]:
    conditions = changed(kind, phase)
    if phase is Phase.MUTATE and (twins := Twins(kind)).complete:
        needed = {"name": NEEDS_DEFAULTS, "expression": f'request.operation != "CREATE" || {twins.needs}'}
        conditions.append(If(all_of(setting("policies"), setting("crds")), needed))
    scope = kind.resource.scope if kind.resource else "*"
    rule = _rule(kind.group, kind.version, ["CREATE", "UPDATE"], [kind.plural], scope)
    name = f"{kind.qualified_plural}.{phase}"
    narrowed = {"objectSelector": If(OBJECTS, OBJECTS), "matchConditions": conditions}
    return _entry(name, phase, kind.path(phase), [rule], narrowed, kind)


def _scale(kind: CustomKind) -> dict[str, Any]:
    """Return the webhook of the scale subresource, for which the webhooks of the job are not called."""
    conditions = [{"name": "spec-changes", "expression": SPEC_CHANGES}]
    rule = _rule(kind.group, kind.version, ["UPDATE"], [f"{kind.plural}/{SCALE}"])
    name = f"{SCALE}.{kind.qualified_plural}.{Phase.VALIDATE}"
    return _entry(name, Phase.VALIDATE, scale_path(kind), [rule], {"matchConditions": conditions})


def _pods(phase: Phase, kinds: Sequence[CustomKind]) -> Iterator[If]:
    """Yield the webhooks for the pods of kinds. They are never called for other pods."""
    rule = _rule("", "v1", ["CREATE"], ["pods"])
    if with_plugins := may_be_wired(kinds):
        (ours,) = marked_selector(with_plugins)["matchExpressions"]
        marked = {**ours, "values": [If(wires(kind), kind.qualified_plural) for kind in with_plugins]}
        narrowed = {"objectSelector": {"matchExpressions": [marked]}}
        yield If(any_of(map(wires, with_plugins)), _entry(f"pods.{phase}", phase, PATHS[phase], [rule], narrowed))
    for kind in kinds:
        if (members := members_of(kind)) and not provides_all(kind):
            narrowed = {"objectSelector": dict(members.selector)}
            name = f"pods.{kind.qualified_plural}.{phase}"
            yield If(kind_on(kind), _entry(name, phase, PATHS[phase], [rule], narrowed, kind))


def _prerequisites(phase: Phase) -> Iterator[dict[str, Any]]:
    """Yield the webhooks for pods that name prerequisites, for workloads with such pods, and for prerequisites.

    They match the annotation by a condition, because object selectors match labels only. Pods without the annotation
    never depend on the webhooks.
    """
    here = f"?metadata.?annotations[?'{ANNOTATION}'].hasValue()"
    named = {"matchConditions": [{"name": "names-prerequisites", "expression": f"object.{here}"}]}
    pods = _rule("", "v1", ["CREATE"], ["pods"])
    yield _entry(f"pods.prerequisites.{phase}", phase, PATHS[phase], [pods], named)
    if phase is Phase.MUTATE:
        return
    templates = "object.spec.?template", "object.spec.?jobTemplate.?spec.?template"
    expression = " || ".join(f"{template}.{here}" for template in templates)
    rules = [
        _rule(group, "v1", ["CREATE", "UPDATE"], [f"{kind.lower()}s" for _, kind in sorted(of)])
        for group, of in groupby(sorted(WORKLOADS), key=lambda workload: workload[0])
    ]
    named = {"matchConditions": [{"name": "names-prerequisites", "expression": expression}]}
    yield _entry(f"workloads.prerequisites.{phase}", phase, WORKLOADS_PATH, rules, named)
    changes = {"matchConditions": [{"name": "spec-changes", "expression": SPEC_CHANGES}]}
    items = _rule(GROUP, VERSION, ["CREATE", "UPDATE"], [resource.names.plural for resource in DEFINED], "*")
    yield _entry(f"prerequisites.{phase}", phase, ITEMS_PATH, [items], changes)


def _rule(
    group: str, version: str, operations: list[str], resources: list[str], scope: str = "Namespaced"
) -> dict[str, Any]:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": operations,
        "resources": resources,
        "scope": scope,
    }


def failure_policy(kind: CustomKind | None) -> Expression:
    """Return the failure policy; a configured kind whose faults are only warnings does not depend on the server."""
    if kind is None:
        return setting("failure_policy")
    policy = entry_or("failure_policies", kind.qualified_plural, "failure_policy")
    return policy if kind.resource else either(denies(kind), policy, "Ignore")


def client_config(path: str) -> dict[str, Any]:
    """Return how the API server calls a path of the server."""
    service = {"namespace": NAMESPACE, "name": setting("service"), "port": setting("service_port"), "path": path}
    return {"service": service, "caBundle": If(setting("ca_bundle"), base64(setting("ca_bundle")))}


def _entry(
    name: str,
    phase: Phase,
    path: str,
    rules: Iterable[dict[str, Any]],
    narrowed: Mapping[str, Any],
    kind: CustomKind | None = None,
) -> dict[str, Any]:
    """Return a webhook that calls a path for objects of these rules; `narrowed` has selectors or conditions."""
    webhook = {
        "name": f"{name}.jobgate.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config(path),
        "failurePolicy": failure_policy(kind),
        "matchPolicy": "Equivalent",
        **narrowed,
        "namespaceSelector": NAMESPACES,
        "rules": list(rules),
        "sideEffects": "None",
        "timeoutSeconds": setting("timeout_seconds"),
    }
    if phase is Phase.MUTATE:
        webhook["reinvocationPolicy"] = "IfNeeded"
    return webhook
