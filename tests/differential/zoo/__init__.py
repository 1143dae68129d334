"""Models for generators: models of Kubernetes objects, and plain models in `plain`."""

from tests.differential.zoo.kubernetes import (
    PLAIN,
    Bounds,
    Color,
    Enums,
    Inner,
    Kubernetes,
    Level,
    Lists,
    Nested,
    Optionals,
    Scalars,
    WithPods,
    resource,
)

__all__ = [
    "PLAIN",
    "Bounds",
    "Color",
    "Enums",
    "Inner",
    "Kubernetes",
    "Level",
    "Lists",
    "Nested",
    "Optionals",
    "Scalars",
    "WithPods",
    "resource",
]
