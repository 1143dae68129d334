"""The way to one object alone: who needs one Secret must not be able to read the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import ClientTimeout

from jobgate.cluster.client import Client


class Named(Client):
    """Lists and watches one object: the rights to `list` and `watch` it by `resourceNames` are enough."""

    def __init__(self, client: Client, name: str, namespace: str) -> None:
        """Use the way of another client; it is closed with that one. What is in no namespace has an empty one."""
        super().__init__(client._api)
        self._name = name
        self._namespace = namespace

    async def _get(self, path: str, params: Mapping[str, str], limits: ClientTimeout) -> Any:
        prefix, _, plural = path.rpartition("/")
        within = f"{prefix}/namespaces/{quote(self._namespace, safe='')}/{plural}" if self._namespace else path
        # An API server grants a right to one name by this selector, and by no other.
        return await super()._get(within, {**params, "fieldSelector": f"metadata.name={self._name}"}, limits)
