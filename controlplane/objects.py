"""Reads and writes objects of any kind, by their apiVersion, kind, namespace and name."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml

from controlplane.client import APPLY_PATCH, ClusterApi
from controlplane.waiting import wait_for

#: A hundred times as fast as the loader in Python; not every PyYAML has it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def read(text: str) -> list[dict[str, Any]]:
    """Return the objects of a YAML stream."""
    return [document for document in yaml.load_all(text, Loader=_LOADER) if document]  # a safe loader


def written(objects: Iterable[Mapping[str, Any]]) -> str:
    """Return objects as a list in JSON, the format that kubectl reads fastest."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


class ClusterObjects:
    """The objects of a cluster. The path of each kind is looked up once."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api
        self._resources = cache(self._find_resource)
        self._preferred = cache(self._find_preferred_version)

    def collection(self, api_version: str, kind: str, namespace: str = "") -> str:
        """Return the path of all objects of a kind; those of one namespace if the kind is namespaced.

        Raises:
            LookupError: the API server has no such kind.
        """
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        plural, namespaced = self._resources(root, kind)
        return f"{root}/namespaces/{namespace}/{plural}" if namespaced else f"{root}/{plural}"

    def home(self, resource: str, namespace: str) -> str:
        """Return the path of all objects of a namespaced resource, named like its CRD: `jobs.batch`, or `pods`."""
        plural, _, group = resource.partition(".")
        root = f"/apis/{group}/{self._preferred(group)}" if group else "/api/v1"
        return f"{root}/namespaces/{namespace}/{plural}"

    def path(self, document: Mapping[str, Any], namespace: str = "default") -> str:
        """Return the path of an object; `namespace` is used if the object names none."""
        metadata = document["metadata"]
        home = metadata.get("namespace", namespace)
        return f"{self.collection(document['apiVersion'], document['kind'], home)}/{metadata['name']}"

    def stored(self, document: Mapping[str, Any], namespace: str = "default") -> dict[str, Any] | None:
        """Return the stored object, or None."""
        status, answer = self._api.get(self.path(document, namespace))
        assert status in {200, 404}, answer
        return answer if status == 200 else None

    def apply(self, *objects: Mapping[str, Any], namespace: str = "default", manager: str = "kubectl") -> None:
        """Apply objects as `kubectl apply --server-side` does, and wait until the CRDs among them are served."""
        for document in objects:
            path, params = self.path(document, namespace), {"fieldManager": manager, "fieldValidation": "Strict"}
            status, answer = self._api.patch(path, document, params, content_type=APPLY_PATCH)
            assert status in {200, 201}, answer
        self.established(
            *(document["metadata"]["name"] for document in objects if document["kind"] == "CustomResourceDefinition")
        )

    def established(self, *names: str) -> None:
        """Wait until CRDs are served."""
        for name in names:
            wait_for(lambda name=name: self._is_established(name), what=f"{name} is established")  # type: ignore[misc]

    def _is_established(self, name: str) -> bool:
        _, answer = self._api.get(f"{_DEFINITIONS}/{name}")
        conditions = answer.get("status", {}).get("conditions") or ()
        if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return False
        # Discovery lists a kind a moment after it is established.
        spec = answer["spec"]
        roots = [f"/apis/{spec['group']}/{version['name']}" for version in spec["versions"] if version["served"]]
        listed = [self._api.get(root)[1].get("resources", ()) for root in roots]
        return all(any(each["kind"] == spec["names"]["kind"] for each in resources) for resources in listed)

    def _find_preferred_version(self, group: str) -> str:
        status, answer = self._api.get(f"/apis/{group}")
        assert status == 200, answer
        return str(answer["preferredVersion"]["version"])

    def _find_resource(self, root: str, kind: str) -> tuple[str, bool]:
        _, answer = self._api.get(root)
        for resource in answer.get("resources", ()):
            if resource["kind"] == kind and "/" not in resource["name"]:
                return resource["name"], resource["namespaced"]
        raise LookupError(f"{root} has no {kind}")
