"""Jobs to apply to a control plane."""

from typing import Any


def dijob(name: str, namespace: str, replicas: int, plugins: Any, **fields: Any) -> dict[str, Any]:
    """Return a DIJob with one task, as it is stored."""
    template = {"spec": {"containers": [{"name": "di-container", "image": "di"}]}}
    spec = {
        "tasks": [{"name": "work", "type": "none", "replicas": replicas, "template": template}],
        "plugins": plugins,
    }
    metadata = {"name": name, "namespace": namespace, **fields.pop("metadata", {})}
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1",
        "kind": "DIJob",
        "metadata": metadata,
        "spec": spec,
        **fields,
    }
