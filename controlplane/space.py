"""One namespace, as a test works in it."""

from typing import Any

from controlplane.client import ClusterApi

Object = dict[str, Any]


class Space:
    """Reads and writes the objects of one namespace.

    A resource is named by its plural; `group` is its group and version where it is not of the core: `apps/v1`.
    """

    def __init__(self, api: ClusterApi, name: str) -> None:
        self.api = api
        self.name = name

    def path(self, resource: str, name: str = "", group: str = "") -> str:
        """The path of an object, or of all of the resource."""
        root = f"/apis/{group}" if group else "/api/v1"
        return f"{root}/namespaces/{self.name}/{resource}" + (f"/{name}" if name else "")

    def create(self, resource: str, body: Object, group: str = "") -> Object:
        """Create the object, which must be taken, and give it as it is stored."""
        status, answer = self.api.post(self.path(resource, group=group), body)
        assert status == 201, answer
        return answer

    def get(self, resource: str, name: str, group: str = "") -> Object:
        """The object, which must be there."""
        status, answer = self.api.get(self.path(resource, name, group))
        assert status == 200, answer
        return answer

    def patch(self, resource: str, name: str, change: Any, group: str = "") -> Object:
        """Merge the change into the object."""
        status, answer = self.api.patch(self.path(resource, name, group), change)
        assert status == 200, answer
        return answer

    def delete(self, resource: str, name: str, group: str = "") -> None:
        """Delete the object, which must be there; it may take its time to go."""
        status, answer = self.api.delete(self.path(resource, name, group))
        assert status in {200, 202}, answer

    def items(self, resource: str, group: str = "") -> list[Object]:
        """All objects of the resource."""
        items: list[Object] = self.api.get(self.path(resource, group=group))[1]["items"]
        return items

    def names(self, resource: str, group: str = "") -> list[str]:
        """The names of all objects of the resource, in order."""
        return sorted(one["metadata"]["name"] for one in self.items(resource, group))

    def exists(self, resource: str, name: str, group: str = "") -> bool:
        """Whether the object is there."""
        return self.api.get(self.path(resource, name, group))[0] == 200

    def phases(self) -> list[str]:
        """The phases of all pods, in order."""
        return sorted(pod["status"]["phase"] for pod in self.items("pods"))
