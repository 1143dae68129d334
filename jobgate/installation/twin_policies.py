"""The admission policies of kinds, with what CEL can say of their defaults and rules (`twins.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from jobgate.installation.choices import INSTALLED, NAME, kind_on
from jobgate.installation.configurations import NAMESPACES, OBJECTS, changed, failure_policy
from jobgate.installation.policies import GROUP, rules
from jobgate.installation.tree import If, all_of, equal, joined, setting
from jobgate.installation.twins import Twins
from jobgate.jobs.kind import CustomKind
from webhook import Phase

#: The annotations of a policy with the defaults and rules that it leaves to the webhook, and those that it has in part.
LEFT: Final = "jobgate.dev/left-to-the-webhook"
IN_PART: Final = "jobgate.dev/in-part"


def twin_policies(kinds: Iterable[CustomKind]) -> list[If]:
    """Return the policies of all kinds: with the defaults, and with the rules that the webhook may not check."""
    return [policy for kind in kinds if kind.resource is not None for policy in _of(kind)]


def _of(kind: CustomKind) -> Iterator[If]:
    twins = Twins(kind)
    wanted = kind_on(kind), setting("policies")
    common = {
        "failurePolicy": "Ignore",
        "matchConstraints": {
            "resourceRules": [rules(kind.group, kind.plural, versions=kind.version, operations=["CREATE", "UPDATE"])],
            "namespaceSelector": NAMESPACES,
            "objectSelector": If(OBJECTS, OBJECTS),
            "matchPolicy": "Equivalent",
        },
    }
    if twins.patch:
        lacks = {"name": "lacks-defaults", "expression": twins.lacks}
        spec = {
            **common,
            "reinvocationPolicy": "IfNeeded",
            "matchConditions": [*changed(kind, Phase.MUTATE), lacks],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": twins.patch}}],
        }
        yield If(all_of(*wanted), _policy("Mutating", kind, spec, twins))
    if twins.faults:
        spec = {
            **common,
            "matchConditions": changed(kind, Phase.VALIDATE),
            "variables": twins.variables(),
            "validations": [twins.validation()],
        }
        unguarded = equal(failure_policy(kind), "Ignore"), equal(setting("mode"), "enforce")
        yield If(all_of(*wanted, *unguarded), _policy("Validating", kind, spec, twins))


def _policy(what: str, kind: CustomKind, spec: Mapping[str, Any], twins: Twins) -> list[dict[str, Any]]:
    """Return a policy and its binding."""
    name = joined(NAME, f".{kind.qualified_plural}")
    metadata = {"name": name, "labels": INSTALLED}
    annotations = {
        LEFT: ", ".join(twins.left),
        IN_PART: ", ".join(name for name, whole in twins.filled.items() if not whole),
    }
    policy = {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"{what}AdmissionPolicy",
        "metadata": {**metadata, "annotations": annotations},
        "spec": spec,
    }
    actions = {"validationActions": ["Deny"]} if what == "Validating" else {}
    binding = {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"{what}AdmissionPolicyBinding",
        "metadata": metadata,
        "spec": {"policyName": name, **actions},
    }
    return [policy, binding]
