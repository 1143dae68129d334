"""The Helm chart: the trees of `objects` as templates, the fields of an installation as values."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from importlib.resources import files
from typing import Any

from crdgen import to_yaml
from jobgate import __version__
from jobgate.configured import catalogue
from jobgate.installation.choices import INSTALLED, NAME, some_on
from jobgate.installation.configurations import KINDS
from jobgate.installation.definitions import definition, prerequisites
from jobgate.installation.installation import Installation, RotationMode
from jobgate.installation.kustomize import folder
from jobgate.installation.monitoring import dashboard
from jobgate.installation.objects import base_trees
from jobgate.installation.template import template
from jobgate.installation.tree import If
from jobgate.jobs.kind import CustomKind
from jobgate.limits import LIMITS
from jobgate.plugins import offered
from webhook import Registry

#: The setting that is not a value of the chart, because Helm has it.
_HELMS = "namespace"

#: The first version with stable matchConditions and admission policies.
_KUBERNETES = ">=1.30.0-0"

#: Folder of the chart with the CRDs. `manifests/crds` refers to it: a chart and a kustomization read no files outside.
CRDS = "files/crds"

_NOTES = """jobgate {{ .Chart.AppVersion }} is installed in {{ .Release.Namespace }}.
{{- if eq .Values.rotation "none" }}
Create the Secret {{ .Values.secret }} with tls.crt and tls.key.
{{- end }}
Servers become ready when they have a certificate:

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/jobgate-webhook
"""


def chart(kinds: Registry[CustomKind], header: str) -> dict[str, str]:
    """Return the files of the chart, by path; `header` is their comment, if the format has comments.

    The values enable these kinds. The others of the catalogue can be enabled.
    """
    comment = f"# {header}\n"
    enabled = [kind.qualified_plural for kind in kinds]
    names = (name for name in catalogue.names() if name not in enabled)
    others = (entry for name in names for entry in catalogue.named_in_catalogue(name))
    kinds = kinds.plus(catalogue.installable(catalogue.kinds_of(others)))
    return {
        "Chart.yaml": to_yaml(_chart(), header=header),
        "values.yaml": comment + _values(kinds, enabled),
        "values.schema.json": json.dumps(schema(kinds), indent=2) + "\n",
        "files/dashboard.json": dashboard(),
        **{f"{CRDS}/{name}": text for name, text in folder(_definitions(kinds), header).items()},
        "templates/crds.yaml": comment + (files(__package__) / "crds.yaml.tpl").read_text(encoding="utf-8"),
        **{f"templates/{name}.yaml": comment + template(trees) for name, trees in _templates(kinds).items()},
        "templates/NOTES.txt": _NOTES,
    }


def defaults(kinds: Registry[CustomKind], enabled: Container[str]) -> dict[str, Any]:
    """Return the default values of the chart.

    Helm creates the namespace (`--create-namespace`), because it must exist before the release.
    """
    installation = Installation(
        create_namespace=False,
        kinds={kind.qualified_plural: kind.qualified_plural in enabled for kind in kinds},
        plugins=dict.fromkeys(offered(), True),
    )
    return installation.model_dump(mode="json", by_alias=True, exclude={_HELMS})


def schema(kinds: Registry[CustomKind]) -> dict[str, Any]:
    """Return the JSON schema of the values: that of an installation, with the names of kinds and plugins."""
    generated = Installation.model_json_schema(by_alias=True)
    defined = {name: _untitled(schema) for name, schema in generated.pop("$defs").items()}
    rotation = defined.pop(RotationMode.__name__)
    properties = {name: _untitled(field) for name, field in generated["properties"].items() if name != _HELMS}
    properties["rotation"] = {
        "description": properties["rotation"]["description"],
        "type": "string",
        "enum": rotation["enum"],
        "default": RotationMode.WATCH.value,
    }
    names = [kind.qualified_plural for kind in kinds]
    for field, known, value in (
        ("kinds", names, {"type": "boolean"}),
        ("plugins", offered(), {"type": "boolean"}),
        ("kindSettings", names, {"type": "string"}),
        ("failurePolicies", names, {"enum": ["Fail", "Ignore"]}),
    ):
        properties[field] = {
            "description": properties[field]["description"],
            "type": "object",
            "additionalProperties": False,
            "properties": dict.fromkeys(known, value),
        }
    properties["limits"]["required"] = list(LIMITS)  # Helm drops those that are null
    properties["deny"]["items"] = {"enum": [kind.qualified_plural for kind in kinds if not kind.resource]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Values of the chart jobgate",
        "$defs": defined,
        "type": "object",
        "additionalProperties": False,
        # Helm drops those that are null, and templates look into them.
        "required": [name for name, field in properties.items() if field.get("type") == "object"],
        # Set by charts that have this one as a dependency.
        "properties": {**properties, "global": {"type": "object"}},
        # A rendered bundle would overwrite an injected one at each upgrade.
        "if": {
            "required": ["caBundle"],
            "properties": {"caBundle": {"minLength": 1}, "externalName": {"maxLength": 0}},
        },
        "then": {"properties": {"rotation": {"const": RotationMode.NONE.value}}},
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


def _values(kinds: Registry[CustomKind], enabled: Container[str]) -> str:
    described = schema(kinds)["properties"]
    return "\n".join(
        f"# {described[name]['description']}\n{to_yaml({name: value})}"
        for name, value in defaults(kinds, enabled).items()
    )


def _definitions(kinds: Registry[CustomKind]) -> dict[str, list[dict[str, Any]]]:
    """Return all CRDs, by file."""
    defined = [*(definition(kind) for kind in kinds if kind.resource), *prerequisites()]
    return {f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml": [crd] for crd in defined}


def _templates(kinds: Registry[CustomKind]) -> dict[str, list[Any]]:
    groups = {name: _hooked(trees) for name, trees in base_trees(kinds).items()}
    return {**groups, "uninstall": [_emptied(kinds)]}


def _emptied(kinds: Registry[CustomKind]) -> If:
    """Return hooks by which Helm removes the webhook configurations first.

    Otherwise it removes them last, and the API server would call servers that are gone. The hooks replace the
    configurations by empty ones of the same names, and are then deleted. So no Job and no account with the permission
    to delete webhooks is needed.
    """
    annotations = {"helm.sh/hook": "pre-delete", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"}
    return If(
        some_on(kinds),
        [
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": NAME, "labels": INSTALLED, "annotations": annotations},
                "webhooks": [],
            }
            for kind in KINDS.values()
        ],
    )


def _hooked(tree: Any) -> Any:
    """Return a tree with Jobs as hooks, which Helm creates again at each change of a release: Jobs cannot be changed.

    A new webhook has no bundle until then.
    """
    if isinstance(tree, If):
        return If(tree.test, _hooked(tree.then))
    if isinstance(tree, list):
        return [_hooked(child) for child in tree]
    if not isinstance(tree, Mapping) or tree["kind"] != "Job":
        return tree
    policy = "before-hook-creation,hook-succeeded"
    hook = {"helm.sh/hook": "post-install,post-upgrade,post-rollback", "helm.sh/hook-delete-policy": policy}
    return _annotated(tree, hook)


def _annotated(tree: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    return {**tree, "metadata": {**tree["metadata"], "annotations": annotations}}


def _untitled(node: Any) -> Any:
    """Return a schema without the titles that Pydantic generates."""
    if isinstance(node, dict):
        return {key: _untitled(child) for key, child in node.items() if key != "title"}
    return [_untitled(child) for child in node] if isinstance(node, list) else node
