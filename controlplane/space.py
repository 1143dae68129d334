"""A namespace for tests."""

from typing import Any

from controlplane.client import ClusterApi

Object = dict[str, Any]


class Space:
    """Reads and writes the objects of one namespace.

    A resource is named by its plural; `group` is its group and version, such as `apps/v1`, or empty for the core group.
    """

    def __init__(self, api: ClusterApi, name: str) -> None:
        self.api = api
        self.name = name

    def path(self, resource: str, name: str = "", group: str = "") -> str:
        """The path of an object, or of all objects of the resource."""
        root = f"/apis/{group}" if group else "/api/v1"
        return f"{root}/namespaces/{self.name}/{resource}" + (f"/{name}" if name else "")

    def create(self, resource: str, body: Object, group: str = "") -> Object:
        """Create the object, and return the stored object; fail if it is rejected."""
        status, answer = self.api.post(self.path(resource, group=group), body)
        assert status == 201, answer
        return answer

    def get(self, resource: str, name: str, group: str = "") -> Object:
        """Return the object; fail if it does not exist."""
        status, answer = self.api.get(self.path(resource, name, group))
        assert status == 200, answer
        return answer

    def patch(self, resource: str, name: str, change: Any, group: str = "") -> Object:
        """Merge the change into the object, and return it."""
        status, answer = self.api.patch(self.path(resource, name, group), change)
        assert status == 200, answer
        return answer

    def delete(self, resource: str, name: str, group: str = "") -> None:
        """Delete the object; fail if it does not exist. It may be gone only later."""
        status, answer = self.api.delete(self.path(resource, name, group))
        assert status in {200, 202}, answer

    def items(self, resource: str, group: str = "") -> list[Object]:
        """Return all objects of the resource."""
        status, answer = self.api.get(self.path(resource, group=group))
        assert status == 200, answer
        items: list[Object] = answer["items"]
        return items

    def names(self, resource: str, group: str = "") -> list[str]:
        """Return the names of all objects of the resource, sorted."""
        return sorted(item["metadata"]["name"] for item in self.items(resource, group))

    def exists(self, resource: str, name: str, group: str = "") -> bool:
        """Whether the object exists."""
        return self.api.get(self.path(resource, name, group))[0] == 200

    def phases(self) -> list[str]:
        """Return the phases of all pods, sorted."""
        return sorted(pod["status"]["phase"] for pod in self.items("pods"))
