"""Plain Pydantic models, written without Kubernetes in mind."""

from types import ModuleType

from pydantic import BaseModel

from tests.differential.zoo.plain import annotations, learning, payloads, services, settings
from tests.differential.zoo.plain.specimen import Specimen

__all__ = ["MODELS", "REJECTED", "SPECIMENS", "Specimen"]

_MODULES: tuple[ModuleType, ...] = (settings, payloads, learning, services, annotations)

SPECIMENS: tuple[Specimen, ...] = tuple(specimen for module in _MODULES for specimen in module.SPECIMENS)
"""Models with samples of what they take and reject."""

REJECTED: tuple[tuple[type[BaseModel], str], ...] = (*learning.REJECTED, *services.REJECTED, *annotations.REJECTED)
"""Models that no structural schema can say, and how the error begins."""


def _models() -> tuple[type[BaseModel], ...]:
    result = {specimen.model.__name__: specimen.model for specimen in SPECIMENS}
    rejected = {model for model, _ in REJECTED}
    for module in _MODULES:
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.__name__:
                result.setdefault(value.__name__, value)
    return tuple(model for model in result.values() if model not in rejected)


MODELS: tuple[type[BaseModel], ...] = _models()
"""All models that have a schema: models with samples, and the models inside them."""
