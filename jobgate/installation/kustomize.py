"""The files for kustomize: a base, and for each choice a component and an overlay.

A component contains the differences from the base. Components that change different fields can be combined as the
`components` of a kustomization.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from crdgen import to_yaml
from jobgate.installation.installation import Installation, RotationMode
from jobgate.installation.objects import base
from jobgate.jobs.kind import CustomKind
from webhook import Registry
from webhook.values import difference

#: Choices with an overlay: the settings that each changes.
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "ha": {"replicas": 3, "required_spread": True},
    "cert-manager": {"rotation": RotationMode.CERT_MANAGER},
    "network-policy": {"network_policy": True},
    "monitoring": {"monitoring": True},
    "policies": {"policies": True},
    # OpenShift chooses the ids of users and groups.
    "openshift": {"pod_security_context": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    "fail-open": {"failure_policy": "Ignore"},
    # To try a version: one server, and nothing is denied while it is unavailable.
    "dev": {"replicas": 1, "failure_policy": "Ignore", "priority_class": ""},
}

_API = "kustomize.config.k8s.io"


def kustomize(kinds: Registry[CustomKind], header: str) -> dict[str, str]:
    """Return the files, by path; each begins with the header as a comment."""
    groups = base(kinds, Installation())
    written = {"crds/kustomization.yaml": to_yaml(_kustomization("../chart/jobgate/files/crds"), header=header)}
    files = {f"{name}.yaml": group for name, group in groups.items()}
    written |= {f"base/{name}": text for name, text in folder(files, header).items()}
    plain = _flat(groups)
    for name, choice in CHOICES.items():
        component = _component(plain, _flat(base(kinds, Installation(**choice))), header)
        written |= {f"components/{name}/{file}": text for file, text in component.items()}
        written[f"overlays/{name}/kustomization.yaml"] = to_yaml(_overlay(name), header=header)
    return written


def folder(files: Mapping[str, list[dict[str, Any]]], header: str) -> dict[str, str]:
    """Return the files of a folder with these objects, with a kustomization of all of them."""
    files = {**files, "kustomization.yaml": [_kustomization(*files)]}
    return {name: _documents(objects, header) for name, objects in files.items()}


def _kustomization(*resources: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": f"{_API}/v1beta1", "kind": "Kustomization", "resources": list(resources), **more}


def _overlay(name: str) -> dict[str, Any]:
    return _kustomization("../../base", components=[f"../../components/{name}"])


def _component(plain: Mapping[Any, Any], chosen: Mapping[Any, Any], header: str) -> dict[str, str]:
    """Return the files of a component, which turns the plain objects into the chosen ones."""
    added = [item for key, item in chosen.items() if key not in plain]
    patches = [
        *(_removal(item) for key, item in plain.items() if key not in chosen),
        *(_patch(item, chosen[key]) for key, item in plain.items() if key in chosen and item != chosen[key]),
    ]
    component: dict[str, Any] = {"apiVersion": f"{_API}/v1alpha1", "kind": "Component"}
    if added:
        component["resources"] = ["added.yaml"]
    if patches:
        component["patches"] = patches
    files = {"kustomization.yaml": to_yaml(component, header=header)}
    return files | ({"added.yaml": _documents(added, header)} if added else {})


def _removal(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = json.dumps({key: item["metadata"][key] for key in ("name", "namespace") if key in item["metadata"]})
    lines = [f"apiVersion: {item['apiVersion']}", f"kind: {item['kind']}", f"metadata: {metadata}", "$patch: delete"]
    return {"patch": "\n".join(lines)}


def _patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    group, _, version = before["apiVersion"].rpartition("/")
    target = {"version": version, "kind": before["kind"], "name": before["metadata"]["name"]}
    operations = ",\n".join(json.dumps(operation) for operation in difference(before, after))
    return {"target": {**({"group": group} if group else {}), **target}, "patch": f"[\n{operations}\n]"}


def _flat(groups: Mapping[str, list[dict[str, Any]]]) -> dict[Any, dict[str, Any]]:
    return {key_of(item): item for group in groups.values() for item in group}


def key_of(item: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return what identifies an object: apiVersion, kind, namespace, name."""
    metadata = item["metadata"]
    return item["apiVersion"], item["kind"], metadata.get("namespace", ""), metadata["name"]


def _documents(group: Iterable[Mapping[str, Any]], header: str) -> str:
    return f"# {header}\n" + "---\n".join(to_yaml(dict(item)) for item in group)
