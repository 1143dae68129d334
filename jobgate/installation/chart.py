"""The Helm chart: the trees of `objects` as templates, the fields of an installation as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crdgen import to_yaml
from jobgate import __version__
from jobgate.installation.choices import kind_on, some_on
from jobgate.installation.configurations import KINDS, NAME
from jobgate.installation.dashboard import dashboard
from jobgate.installation.definitions import definition, prerequisites
from jobgate.installation.installation import LABELS, Installation, Rotation
from jobgate.installation.objects import base_trees
from jobgate.installation.template import template
from jobgate.installation.tree import Given, Scope, When, Word, all_of, any_of
from jobgate.plugins import offered
from webhook import Kind, Registry

#: The setting that is no value of the chart: Helm has it.
_HELMS = "namespace"

#: A CRD stays when all is uninstalled: its objects would go with it.
_KEPT = {"helm.sh/resource-policy": "keep"}

#: The oldest Kubernetes: of matchConditions and admission policies in their stable version.
_KUBERNETES = ">=1.30.0-0"

_NOTES = """jobgate {{ .Chart.AppVersion }} is installed in {{ .Release.Namespace }}.
{{- if eq .Values.rotation "none" }}
Create the Secret {{ .Values.secret }} with tls.crt and tls.key.
{{- end }}
Servers become ready when they have a certificate:

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/jobgate-webhook
"""


def chart(kinds: Registry, header: str) -> dict[str, str]:
    """Return the files of the chart, by path; `header` is the comment of those that may have one."""
    comment = f"# {header}\n"
    return {
        "Chart.yaml": to_yaml(_chart(), header=header),
        "values.yaml": comment + _values(kinds),
        "values.schema.json": json.dumps(schema(kinds), indent=2) + "\n",
        "files/dashboard.json": dashboard(),
        **{f"templates/{name}.yaml": comment + template(trees) for name, trees in _templates(kinds).items()},
        "templates/NOTES.txt": _NOTES,
    }


def defaults(kinds: Registry) -> dict[str, Any]:
    """Return the values that the chart has by itself.

    The namespace is Helm's to make (`--create-namespace`): it must be there before the chart is.
    """
    said = Installation(
        create_namespace=False,
        kinds={kind.qualified_plural: True for kind in kinds},
        plugins=dict.fromkeys(offered(), True),
    )
    return said.model_dump(mode="json", by_alias=True, exclude={_HELMS})


def schema(kinds: Registry) -> dict[str, Any]:
    """Return the JSON schema of the values: that of an installation, with the kinds and plugins that there are."""
    made = Installation.model_json_schema(by_alias=True)
    rotation = made.pop("$defs")[Rotation.__name__]
    properties = {name: _untitled(field) for name, field in made["properties"].items() if name != _HELMS}
    properties["rotation"] = {
        "description": properties["rotation"]["description"],
        "type": "string",
        "enum": rotation["enum"],
        "default": Rotation.WATCH.value,
    }
    names = [kind.qualified_plural for kind in kinds]
    for field, known, value in (
        ("kinds", names, {"type": "boolean"}),
        ("plugins", offered(), {"type": "boolean"}),
        ("kindSettings", names, {"type": "string"}),
    ):
        said = properties[field]["description"]
        properties[field] = {
            "description": said,
            "type": "object",
            "additionalProperties": False,
            "properties": dict.fromkeys(known, value),
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Values of the chart jobgate",
        "type": "object",
        "additionalProperties": False,
        # What a chart that has this one as a part of it may hand down.
        "properties": {**properties, "global": {"type": "object"}},
        # Where something injects the bundle, one that is rendered too would put it back at each upgrade.
        "if": {
            "required": ["caBundle"],
            "properties": {"caBundle": {"minLength": 1}, "externalName": {"maxLength": 0}},
        },
        "then": {"properties": {"rotation": {"const": Rotation.NONE.value}}},
    }


def _chart() -> dict[str, Any]:
    return {
        "apiVersion": "v2",
        "name": "jobgate",
        "description": "Admission webhook and companion controller for distributed training jobs",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
        "kubeVersion": _KUBERNETES,
    }


def _values(kinds: Registry) -> str:
    described = schema(kinds)["properties"]
    return "\n".join(
        f"# {described[name]['description']}\n{to_yaml({name: value})}" for name, value in defaults(kinds).items()
    )


def _templates(kinds: Registry) -> dict[str, list[Any]]:
    crds = {f"crds/{kind.qualified_plural}": [_definition(kind)] for kind in kinds}
    groups = {name: [_hooked(tree) for tree in trees] for name, trees in base_trees(kinds).items()}
    for one in prerequisites():
        crds[f"crds/{one['metadata']['name']}"] = [When(Given("crds"), _annotated(one, _KEPT))]
    return {**crds, **groups, "uninstall": [_emptied(kinds)]}


def _definition(kind: Kind) -> When:
    """Return a kind's CRD, which stays when its kind is switched off, or all is uninstalled: its jobs would go with it.

    It stays a part of the release too. Helm cannot roll back to a revision that has something which is there, but not
    in the present one.
    """
    there = any_of((kind_on(kind), _Released(kind.qualified_plural)))
    return When(all_of(Given("crds"), there), _annotated(definition(kind), _KEPT))


@dataclass(frozen=True, slots=True)
class _Released(Word):
    """Whether the cluster has a CRD that this release has made. Where there is no cluster to ask, it has not."""

    name: str

    def value(self, scope: Scope) -> bool:
        """Return what holds outside of any cluster."""
        del scope
        return False

    def go(self) -> str:
        """Return a look at who owns the CRD, by the annotations that Helm itself goes by."""
        crd = f'(lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" {json.dumps(self.name)})'
        owner = " ".join(
            f'(eq $.Release.{field} (dig "metadata" "annotations" "meta.helm.sh/release-{field.lower()}" "" {crd}))'
            for field in ("Name", "Namespace")
        )
        return f"(and {owner})"


def _emptied(kinds: Registry) -> When:
    """Return hooks by which Helm removes the webhook configurations before anything else.

    By itself it removes them last of all: until then, and for ever where it is interrupted, the API server would call
    servers that are gone. A hook of the same name replaces what is there, by one without entries, and is then removed.
    It takes no Job, and no account that may remove webhooks.
    """
    annotations = {"helm.sh/hook": "pre-delete", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}
    return When(
        some_on(kinds),
        [
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": NAME, "labels": LABELS, "annotations": annotations},
                "webhooks": [],
            }
            for kind in KINDS.values()
        ],
    )


def _hooked(tree: Any) -> Any:
    """Return a tree whose Jobs are hooks: a Job cannot be changed, so Helm makes another at each change of a release.

    An entry of a webhook configuration that is new, or back, has no bundle yet.
    """
    if isinstance(tree, When):
        inner = tree.then
        return When(tree.test, [_hooked(one) for one in inner] if isinstance(inner, list) else _hooked(inner))
    if isinstance(tree, Mapping) and tree["kind"] == "Job":
        policy = "before-hook-creation,hook-succeeded"
        hook = {"helm.sh/hook": "post-install,post-upgrade,post-rollback", "helm.sh/hook-delete-policy": policy}
        return _annotated(tree, hook)
    return tree


def _annotated(tree: Any, annotations: Mapping[str, str]) -> Any:
    if isinstance(tree, When):
        return When(tree.test, _annotated(tree.then, annotations))
    metadata = tree["metadata"]
    return {**tree, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}}


def _untitled(node: Any) -> Any:
    """Return a schema without the titles that pydantic makes of names."""
    if isinstance(node, dict):
        return {key: _untitled(child) for key, child in node.items() if key != "title"}
    return [_untitled(child) for child in node] if isinstance(node, list) else node
