"""Objects of any kind, read and written by what they say of themselves."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml

from controlplane.client import APPLY_PATCH, ClusterApi
from controlplane.waiting import wait_for

#: A hundred times as fast as the loader in Python, where PyYAML came with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def read(text: str) -> list[dict[str, Any]]:
    """Return the objects of a YAML stream."""
    return [one for one in yaml.load_all(text, Loader=_LOADER) if one]  # it is a safe one


def written(objects: Iterable[Mapping[str, Any]]) -> str:
    """Return objects as kubectl reads them at its quickest: a list in JSON."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


class ClusterObjects:
    """The objects of a cluster. Where the API server has a kind of them is asked once."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api
        self._resources = cache(self._ask)
        self._preferred = cache(self._ask_version)

    def collection(self, api_version: str, kind: str, namespace: str = "") -> str:
        """Return the path of all objects of a kind, of one namespace where they have one.

        Raises:
            LookupError: the API server has no such kind.
        """
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        plural, namespaced = self._resources(root, kind)
        return f"{root}/namespaces/{namespace}/{plural}" if namespaced else f"{root}/{plural}"

    def home(self, resource: str, namespace: str) -> str:
        """Return the path of all objects of a namespaced resource, called as its CRD is: `jobs.batch`, or `pods`."""
        plural, _, group = resource.partition(".")
        root = f"/apis/{group}/{self._preferred(group)}" if group else "/api/v1"
        return f"{root}/namespaces/{namespace}/{plural}"

    def path(self, one: Mapping[str, Any], namespace: str = "default") -> str:
        """Return the path of an object, which may leave its namespace open."""
        metadata = one["metadata"]
        home = metadata.get("namespace", namespace)
        return f"{self.collection(one['apiVersion'], one['kind'], home)}/{metadata['name']}"

    def stored(self, one: Mapping[str, Any], namespace: str = "default") -> dict[str, Any] | None:
        """Return an object as it is stored, or None where it is not."""
        status, answer = self._api.get(self.path(one, namespace))
        assert status in {200, 404}, answer
        return answer if status == 200 else None

    def apply(self, *objects: Mapping[str, Any], namespace: str = "default", manager: str = "kubectl") -> None:
        """Apply objects as `kubectl apply --server-side` does; CRDs among them are served when this comes back."""
        for one in objects:
            path, params = self.path(one, namespace), {"fieldManager": manager, "fieldValidation": "Strict"}
            status, answer = self._api.patch(path, one, params, content_type=APPLY_PATCH)
            assert status in {200, 201}, answer
        self.established(*(one["metadata"]["name"] for one in objects if one["kind"] == "CustomResourceDefinition"))

    def established(self, *names: str) -> None:
        """Wait until CRDs are served."""
        for name in names:
            wait_for(lambda name=name: self._is_established(name), 60, what=f"{name} is established")  # type: ignore[misc]

    def _is_established(self, name: str) -> bool:
        _, answer = self._api.get(f"{_DEFINITIONS}/{name}")
        conditions = answer.get("status", {}).get("conditions") or ()
        if not any(one["type"] == "Established" and one["status"] == "True" for one in conditions):
            return False
        # Discovery lists a kind a moment after it is established.
        spec = answer["spec"]
        roots = [f"/apis/{spec['group']}/{one['name']}" for one in spec["versions"] if one["served"]]
        listed = [self._api.get(root)[1].get("resources", ()) for root in roots]
        return all(any(one["kind"] == spec["names"]["kind"] for one in several) for several in listed)

    def _ask_version(self, group: str) -> str:
        status, answer = self._api.get(f"/apis/{group}")
        assert status == 200, answer
        return str(answer["preferredVersion"]["version"])

    def _ask(self, root: str, kind: str) -> tuple[str, bool]:
        _, answer = self._api.get(root)
        for one in answer.get("resources", ()):
            if one["kind"] == kind and "/" not in one["name"]:
                return one["name"], one["namespaced"]
        raise LookupError(f"{root} has no {kind}")
