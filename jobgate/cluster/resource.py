"""What a watched resource is called."""

from __future__ import annotations

from typing import NamedTuple


class Resource(NamedTuple):
    """A resource, as an API server serves it."""

    plural: str
    version: str
    group: str

    @classmethod
    def parse(cls, text: str) -> Resource:
        """Return the resource of `<plural>.<version>.<group>`; the core group is empty.

        Raises:
            ValueError: it is not of that form.
        """
        plural, _, rest = text.partition(".")
        version, _, group = rest.partition(".")
        if not plural or not version:
            raise ValueError(f"{text!r} must be <plural>.<version>.<group>")
        return cls(plural, version, group)

    @property
    def path(self) -> str:
        """The path of its objects in all namespaces."""
        prefix = f"/apis/{self.group}" if self.group else "/api"
        return f"{prefix}/{self.version}/{self.plural}"

    def __str__(self) -> str:
        return f"{self.plural}.{self.version}.{self.group}"
