"""Schemas for random objects: generated ones, one with rules, and random ones."""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pkgutil import walk_packages
from typing import Any, Final

from pydantic import BaseModel

from crdgen import SchemaError, structural_schema
from crdgen.podtemplate import MINORS, load
from jobgate.installation.definitions import resource_of
from jobgate.kinds import built_in
from tests.differential.objects.edges import EDGES
from tests.differential.objects.expressions import SCHEMA as EXPRESSIONS
from tests.differential.objects.madeup import made
from tests.differential.zoo import PLAIN, WithPods
from tests.differential.zoo.plain import MODELS

MADE_UP: Final = "made-up schemas"


@dataclass(frozen=True)
class Named:
    """A schema for random objects.

    Attributes:
        name, source: Its name and its source.
        model: The model that it is generated from.
        samples: Objects that are always compared.
    """

    name: str
    schema: dict[str, Any]
    source: str
    model: type[BaseModel] | None = None
    samples: Sequence[Any] = ()


def every(seed: int, made_up: int, packages: Sequence[str] = ()) -> Iterator[Named]:
    """Yield all schemas: the generated ones, one with rules, and `made_up` random ones."""
    yield from generated(*packages)
    yield with_rules()
    yield from at_edges()
    for minor in (MINORS[0], MINORS[-1]):
        yield Named(f"pods of {minor}", dict(load(minor)["PodTemplateSpec"]), "pod templates of Kubernetes")
    for number in range(made_up):
        yield Named(f"made up {number}", made(random.Random(f"{seed}-{number}")), MADE_UP)


def generated(*packages: str, step: int = 1) -> Iterator[Named]:
    """Yield the schemas of known models, and of models in the test modules of packages; only every `step`-th model."""
    for source, model in islice(_models(packages), 0, None, step):
        # Some models of tests intentionally have no schema.
        with suppress(SchemaError):
            yield Named(_name(model), structural_schema(model), source, model)


def _models(packages: Sequence[str]) -> Iterator[tuple[str, type[BaseModel]]]:
    seen: set[type[BaseModel]] = set()
    sources: tuple[tuple[str, Iterable[type[BaseModel]]], ...] = (
        ("the kinds of job", _of_kinds()),
        ("plain models", MODELS),
        ("models with types of Kubernetes", (*PLAIN, WithPods)),
        ("models of single tests", _of_tests(packages)),
    )
    for source, models in sources:
        for model in models:
            if model not in seen:
                seen.add(model)
                yield source, model


def _name(model: type[BaseModel]) -> str:
    return f"{model.__module__.removeprefix('tests.differential.').removeprefix('jobgate.kinds.')}.{model.__name__}"


def _of_kinds() -> Iterator[type[BaseModel]]:
    for kind in built_in():
        for version in resource_of(kind).versions:
            yield version.spec
            if version.status is not None:
                yield version.status


def _of_tests(packages: Sequence[str]) -> Iterator[type[BaseModel]]:
    """Yield the models of modules, and of the test modules of packages."""
    for name in (module for package in packages for module in _modules(package)):
        for value in vars(import_module(name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == name:
                yield value


def _modules(package: str) -> list[str]:
    path = getattr(import_module(package), "__path__", None)
    if path is None:
        return [package]
    return sorted(module.name for module in walk_packages(path, f"{package}.") if ".test_" in module.name)


def with_rules() -> Named:
    """Return a schema with rules that only some objects follow."""
    return Named("expressions", EXPRESSIONS | {"x-kubernetes-validations": RULES}, "a schema with many rules")


def at_edges() -> Iterator[Named]:
    """Yield schemas with values for which the API server's verdict is unexpected."""
    for name, (schema, samples) in EDGES.items():
        yield Named(name, schema, "edges of types", samples=samples)


#: Rules that only some objects follow.
RULES = [
    {"rule": "!has(self.one) || self.one < 5", "message": "one is small"},
    {
        "rule": "!has(self.half) || self.half <= 1 || self.half > 1.5",
        "messageExpression": "self.half > 1.2 ? 'half is much' : 'half is more'",
    },
    {"rule": "!has(self.words) || !('a' in self.words) || self.words == ['a', 'b']", "fieldPath": ".words"},
    {"rule": "!has(self.tasks) || self.tasks.all(t, t.replicas >= 0)", "reason": "FieldValueForbidden"},
    {"rule": "!has(self.port) || type(self.port) == string || self.port > 0"},
    {"rule": "!has(self.when) || self.when.getFullYear() < 2100"},
    {"rule": "!has(self.numbers) || self.numbers.isSorted() || self.numbers.sum() > 1"},
    {"rule": "!has(self.labels) || self.labels.all(k, v, k != v)"},
    {"rule": "!has(self.x__dash__dashed) || self.x__dash__dashed.matches('^[a-c]*$')"},
    {"rule": "self.?nested.orValue([]).size() < 3"},
    {"rule": "!has(self.data) || self.data.size() > 0"},
    {"rule": "!has(self.lasts) || self.lasts < duration('2h')"},
]
