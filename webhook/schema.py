"""The schema of a kind: what the API server accepts of its objects before any rule is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from webhook.cause import Cause, Forbidden, Invalid, Required
from webhook.path import join


class Schema(ABC):
    """What the API server accepts of the objects of a kind. Only `check` has no default."""

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object without the fields that the schema does not know."""
        return dict(document)

    def default(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object with the schema's defaults."""
        return dict(document)

    def crowded(self, document: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Tell, without reading them, whether the object has more parts than the schema allows."""
        return False

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Tell, fast, whether the object is known to fit. If not, `check` may still find nothing."""
        return not self.check(document)

    def accepts(self, document: Mapping[str, Any]) -> bool:
        """Tell, fast, whether the object is known to fit, and everything embedded in it, such as pod templates, too."""
        return self.fits(document)

    @abstractmethod
    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return what the schema rejects in the object."""


class ModelSchema(Schema):
    """What a Pydantic model accepts as the spec. Pruning and defaulting are left to the CRD in the cluster."""

    def __init__(self, spec: type[BaseModel]) -> None:
        self._spec = spec

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return what the model rejects."""
        if "spec" not in document:
            return [Required("spec")]
        try:
            self._spec.model_validate(document["spec"])
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False)
            return list(
                dict.fromkeys(_cause(fault["type"], fault["loc"], fault["input"], fault["msg"]) for fault in faults)
            )
        return []


def _cause(fault: str, location: tuple[int | str, ...], value: Any, message: str) -> Cause:
    path = join(("spec", *location))
    if fault == "missing":
        return Required(path)
    return Forbidden(path, "unknown field", value) if fault == "extra_forbidden" else Invalid(path, value, message)
