"""Valid CustomResourceDefinitions to change: a small one with fields of all types, and real ones."""

from pathlib import Path
from typing import Any

import yaml

Definition = dict[str, Any]

_ROOT = Path(__file__).parents[3]

#: The place of most edits.
SCHEMA = ("spec", "versions", 0, "schema", "openAPIV3Schema")
SPEC = (*SCHEMA, "properties", "spec")
FIELDS = (*SPEC, "properties")


def plain() -> Definition:
    """Return a kind with one version and fields of each type, the start of every edit."""
    spec = {
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": {"type": "string", "maxLength": 20},
            "count": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 9},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean", "default": False},
            "size": {"x-kubernetes-int-or-string": True},
            "any": {"x-kubernetes-preserve-unknown-fields": True},
            "words": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 9}},
            "limits": {
                "type": "object",
                "maxProperties": 5,
                "additionalProperties": {"type": "string", "maxLength": 9},
            },
            "inner": {
                "type": "object",
                "default": {},
                "properties": {"a": {"type": "string", "maxLength": 9}, "b": {"type": "integer"}},
            },
            "parts": {
                "type": "array",
                "maxItems": 5,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string", "maxLength": 9}, "weight": {"type": "integer"}},
                },
            },
            "embedded": {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
        },
    }
    status = {"type": "object", "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.lint.example.com"},
        "spec": {
            "group": "lint.example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [{"name": "Text", "type": "string", "jsonPath": ".spec.text"}],
                }
            ],
        },
    }


def bare(schema: dict[str, Any]) -> Definition:
    """Return a kind with only this schema of its spec."""
    definition = plain()
    version = definition["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": schema}}
    del version["subresources"], version["additionalPrinterColumns"]
    return definition


def real() -> list[Definition]:
    """Return the CRDs of the project: those in the manifests, with pod templates, and golden files of the generator."""
    files = [
        *sorted((_ROOT / "manifests/chart/jobgate/files/crds").glob("*_*.yaml")),
        *sorted((_ROOT / "tests/crdgen/golden").glob("*.yaml")),
    ]
    return [yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader) for file in files]
