"""The webhook configurations: one mutating, one validating; an entry for each kind in both, and one for its pods.

An object selector is one LabelSelector, and cannot say "the operator's labels, or ours". So the pods with our own
labels, of all kinds, have an entry of their own. It comes before those of operators' pods: what such a pod gets of our
labels then does not send it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from jobgate.installation.choices import CERT_MANAGER, NAMESPACE, kind_on, some_on
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import Given, When, base64, joined
from jobgate.kinds.common.scale import SCALE, scalable, scale_path
from jobgate.kinds.common.wiring import ITEMS_PATH, PATHS, WORKLOADS, WORKLOADS_PATH, marked_selector, members_of, wired
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.prerequisites.models import DEFINED, GROUP, VERSION
from jobgate.prerequisites.reference import ANNOTATION
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
            "webhooks": [
                *(When(kind_on(kind), _jobs(phase, kind)) for kind in kinds),
                *(When(kind_on(kind), _scale(kind)) for kind in scalable(kinds) if phase is Phase.VALIDATE),
                *_pods(phase, wired(kinds)),
                *_prerequisites(phase),
            ],
        },
    )


def _jobs(phase: Phase, kind: Kind) -> dict[str, Any]:
    conditions = [{"name": "spec-changes", "expression": SPEC_CHANGES}]
    if phase is Phase.MUTATE:
        conditions.append({"name": "not-deleting", "expression": NOT_DELETING})
    rule = _rule(kind.group, kind.version, ["CREATE", "UPDATE"], [kind.plural])
    name = f"{kind.qualified_plural}.{phase}"
    return _entry(name, phase, kind.path(phase), [rule], {"matchConditions": conditions})


def _scale(kind: Kind) -> dict[str, Any]:
    """Return the entry for the scale subresource: what is written there reaches no webhook of the job itself."""
    conditions = [{"name": "spec-changes", "expression": SPEC_CHANGES}]
    rule = _rule(kind.group, kind.version, ["UPDATE"], [f"{kind.plural}/{SCALE}"])
    name = f"{SCALE}.{kind.qualified_plural}.{Phase.VALIDATE}"
    return _entry(name, Phase.VALIDATE, scale_path(kind), [rule], {"matchConditions": conditions})


def _pods(phase: Phase, kinds: Iterable[Kind]) -> Iterator[When]:
    """Yield the entries for the pods of kinds, of which no other pod is ever sent."""
    kinds = tuple(kinds)
    rule = _rule("", "v1", ["CREATE"], ["pods"])
    if kinds:
        (ours,) = marked_selector(kinds)["matchExpressions"]
        marked = {**ours, "values": [When(kind_on(kind), kind.qualified_plural) for kind in kinds]}
        narrowed = {"objectSelector": {"matchExpressions": [marked]}}
        yield When(some_on(kinds), _entry(f"pods.{phase}", phase, PATHS[phase], [rule], narrowed))
    for kind in kinds:
        if members := members_of(kind):
            narrowed = {"objectSelector": dict(members.selector)}
            name = f"pods.{kind.qualified_plural}.{phase}"
            yield When(kind_on(kind), _entry(name, phase, PATHS[phase], [rule], narrowed))


def _prerequisites(phase: Phase) -> Iterator[dict[str, Any]]:
    """Yield the entries for pods that name prerequisites by themselves, for workloads with such pods, and for items.

    An object selector sees labels only; a condition sees the annotation. So no label is needed beside it, and
    a pod without the annotation never depends on us.
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
        for group, of in groupby(sorted(WORKLOADS), key=lambda one: one[0])
    ]
    named = {"matchConditions": [{"name": "names-prerequisites", "expression": expression}]}
    yield _entry(f"workloads.prerequisites.{phase}", phase, WORKLOADS_PATH, rules, named)
    changes = {"matchConditions": [{"name": "spec-changes", "expression": SPEC_CHANGES}]}
    items = _rule(GROUP, VERSION, ["CREATE", "UPDATE"], [one.names.plural for one in DEFINED], "*")
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


def _entry(
    name: str,
    phase: Phase,
    path: str,
    rules: Iterable[dict[str, Any]],
    narrowed: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the entry that sends to a path what one of the rules matches; `narrowed` says which of it only."""
    entry = {
        "name": f"{name}.jobgate.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client(path),
        "failurePolicy": Given("failure_policy"),
        "matchPolicy": "Equivalent",
        **narrowed,
        "namespaceSelector": _namespaces(),
        "rules": list(rules),
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT,
    }
    if phase is Phase.MUTATE:
        entry["reinvocationPolicy"] = "IfNeeded"
    return entry


def _client(path: str) -> dict[str, Any]:
    return {
        "service": {"namespace": NAMESPACE, "name": Given("service"), "port": Given("service_port"), "path": path},
        "caBundle": When(Given("ca_bundle"), base64(Given("ca_bundle"))),
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
