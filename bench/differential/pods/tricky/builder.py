"""Short ways to write a Pod of which only one part matters."""

from __future__ import annotations

from typing import Any

from bench.differential.pods.case import Pod

#: A family's table: what is done, and the Pod.
Table = list[tuple[str, Pod]]


def pod(container: dict[str, Any] | None = None, *, metadata: dict[str, Any] | None = None, **spec: Any) -> Pod:
    """A Pod of one container `main`, with the given fields; a container's field set to `...` is taken away."""
    main = {"name": "main", "image": "busybox", **(container or {})}
    main = {name: value for name, value in main.items() if value is not ...}
    return {"metadata": {"name": "judged", **(metadata or {})}, "spec": {"containers": [main], **spec}}


def box(name: str = "other", **fields: Any) -> dict[str, Any]:
    """A further container."""
    return {"name": name, "image": "busybox", **fields}


def with_volume(source: dict[str, Any], *mounts: dict[str, Any], **spec: Any) -> Pod:
    """A Pod with one volume `data`, mounted as given."""
    return pod({"volumeMounts": list(mounts)} if mounts else None, volumes=[{"name": "data", **source}], **spec)
