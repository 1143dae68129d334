"""The name of a resource, and its paths."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote


class Resource(NamedTuple):
    """A resource, as an API server serves it."""

    plural: str
    version: str
    group: str

    @classmethod
    def parse(cls, text: str) -> Resource:
        """Return the resource of `<plural>.<version>.<group>`; the core group is empty.

        Raises:
            ValueError: the text has another form.
        """
        plural, _, rest = text.partition(".")
        version, _, group = rest.partition(".")
        if not plural or not version:
            raise ValueError(f"{text!r} must be <plural>.<version>.<group>")
        return cls(plural, version, group)

    @property
    def path(self) -> str:
        """The path of all objects, in all namespaces."""
        prefix = f"/apis/{self.group}" if self.group else "/api"
        return f"{prefix}/{self.version}/{self.plural}"

    def path_of(self, name: str, namespace: str = "") -> str:
        """Return the path of one object. Characters that a name cannot have are escaped."""
        within = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        prefix, _, plural = self.path.rpartition("/")
        return f"{prefix}{within}/{plural}/{quote(name, safe='')}"

    def __str__(self) -> str:
        return f"{self.plural}.{self.version}.{self.group}"
