"""The way to one object alone: who needs one Secret must not be able to read the others."""

from __future__ import annotations

from jobgate.cluster.client import Client, Narrowed

__all__ = ["Client", "Named"]


class Named(Narrowed):
    """Lists and watches one object: the rights to `list` and `watch` it by `resourceNames` are enough."""

    def __init__(self, client: Client, name: str, namespace: str) -> None:
        """Use the way of another client; it is closed with that one. What is in no namespace has an empty one."""
        # An API server grants a right to one name by this selector, and by no other.
        super().__init__(client, {"fieldSelector": f"metadata.name={name}"}, namespace)
