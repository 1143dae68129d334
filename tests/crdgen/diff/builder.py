"""Build CRDs, so that a case shows only what matters."""

from typing import Any


def obj(required: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these fields."""
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def version(name: str = "v1", spec: Any = None, **more: Any) -> dict[str, Any]:
    schema = obj(spec=spec if spec is not None else obj())
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}} | more


def definition(*versions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a CRD of Widgets, with a default version."""
    spec = {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": list(versions) or [version()],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": spec | more,
    }


def crd_with_field(field: Any) -> dict[str, Any]:
    """Return a CRD with one field, `spec.x`."""
    return definition(version(spec=obj(x=field)))
