"""The structural schema of a kind for admission: evaluates it with crdgen, and converts violations to causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any, Final

from msgspec import Struct

from crdgen import CustomResource
from crdgen.durations import DURATION_PATTERN
from crdgen.evaluate import ErrorType, Evaluator, Violation
from jobgate import podchecks
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.metadata import metadata_causes, type_word, with_ordinary_metadata
from jobgate.podchecks.durations import DURATION
from jobgate.podchecks.fitting import TYPE, Predicate, surely_fits
from webhook import (
    Cause,
    Duplicate,
    Forbidden,
    Invalid,
    NotSupported,
    Path,
    Required,
    Schema,
    TooLong,
    TooMany,
    TypeInvalid,
)
from webhook.kind import Kind
from webhook.values import value_at

_UNKNOWN: Final[Mapping[str, Any]] = {}
#: How many checks are made before the fast ones are created; a review makes three.
_FEW: Final = 12

#: Fields of jobs and pod templates in which, or below which, users may write passwords and tokens.
_PRIVATE = frozenset(
    {
        "annotations",
        "args",
        "command",
        "env",
        "httpGet",  # a path may have a token in its query
        "httpHeaders",
        "options",
        "plugins",
        "repository",  # a URL may have a password in it
        "volumeAttributes",
    }
)


class Shape(Struct, frozen=True):
    """A place in a structural schema.

    Attributes:
        node: the schema there; empty where the schema says nothing.
    """

    node: Mapping[str, Any] = {}

    @property
    def is_map(self) -> bool:
        """Whether the keys of the object there are the user's own, rather than fields."""
        return isinstance(self.node.get("additionalProperties"), Mapping)

    @property
    def nullable(self) -> bool:
        """Whether null is a valid value there; if not, the API server drops it."""
        return self.node.get("nullable") is True

    def below(self, step: str | int) -> Shape:
        """Return the shape of a field, of an entry or of an item."""
        if isinstance(step, int):
            return Shape(self.node.get("items") or _UNKNOWN)
        known = self.node.get("properties") or _UNKNOWN
        entries = self.node["additionalProperties"] if self.is_map else _UNKNOWN
        return Shape(known.get(step, entries))

    def step(self, path: Path, step: str | int) -> Path:
        """Return a path with another step: `.field`, `[key]` of a map, or `[0]` of a list."""
        if isinstance(step, int):
            return path / step
        return path.key(step) if self.is_map or not step.replace("_", "").replace("-", "").isalnum() else path / step

    def path(self, steps: Iterable[str | int]) -> Path:
        """Return the path of these steps from here on."""
        path, shape = Path(), self
        for step in steps:
            path, shape = shape.step(path, step), shape.below(step)
        return path


class StructuralSchema(Schema):
    """The schema of a version of a custom resource. It is compiled on first use: many commands do not need it."""

    def __init__(
        self, resource: CustomResource, parts: Sequence[str | tuple[str, ...]] = (), version: str = ""
    ) -> None:
        """Use a version of a custom resource.

        Args:
            resource: the custom resource.
            parts: the path of the list or map of tasks. A tuple at the end names the fields that are the tasks. Empty
                for a kind without tasks.
            version: by default the stored one.
        """
        self._resource = resource
        # To the list or map of parts, or to the object with a field for each part.
        self._way = tuple(step for step in parts if isinstance(step, str))
        self._names = next((step for step in parts if isinstance(step, tuple)), ())
        self._version = version
        self._checked = 0

    @cached_property
    def shape(self) -> Shape:
        """The root of the schema."""
        from crdgen.resource.schema import schema_of  # noqa: PLC0415 - not needed for a schema that is given

        # Not linted: that takes longer than to generate it, and who generates the CRD does it.
        return Shape(schema_of(self._resource, self._version))

    def use(self, generated: Mapping[str, Any]) -> None:
        """Use a schema that was generated from the models before."""
        self.__dict__["shape"] = Shape(generated)

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(dict(self.shape.node))

    @property
    def unchecked_rules(self) -> tuple[str, ...]:
        """A sentence about each CEL rule that is not evaluated."""
        return self._evaluator.unchecked

    @cached_property
    def _fits(self) -> Predicate:
        return surely_fits(with_ordinary_metadata(self.shape.node))

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object without the fields that the schema does not know."""
        pruned: dict[str, Any] = self._evaluator.prune(document)
        return pruned

    def default(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object with the schema's defaults."""
        defaulted: dict[str, Any] = self._evaluator.default(document)
        return defaulted

    def crowded(self, document: Mapping[str, Any]) -> bool:
        """Return whether the object has more tasks than the schema allows, without reading them."""
        parts = None if self._names or not self._way else value_at(document, self._way)
        return isinstance(parts, list | dict) and len(parts) > self._most_parts

    @cached_property
    def _most_parts(self) -> float:
        node = self._shape_of_parts.node
        return float(node.get("maxItems", node.get("maxProperties", inf)))

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Return True only if `check` would find no fault; a fast check in C. If it is False, call `check`."""
        return not self.check(document) if self._is_new() else self._fits(document)

    def compile(self) -> None:
        """Create the fast checks, for a process that makes many."""
        self._checked = _FEW
        self.fits({})
        self.accepts({})

    def _is_new(self) -> bool:
        """Return whether few objects were checked: the fast checks take longer to create than some slow ones."""
        self._checked += 1
        return self._checked <= _FEW

    def accepts(self, document: Mapping[str, Any]) -> bool:
        """Return True only if the object fits the schema and its pod templates are valid; a fast check in C."""
        if self._is_new() or self._accepts is None or not self._accepts(document):
            return False
        if not self._way:
            return True
        parts: Any = document
        for step in self._way:
            parts = parts[step]
        if self._names:
            parts = [parts[name] for name in self._names if parts.get(name) is not None]
        for part in parts if isinstance(parts, list) else parts.values():  # half the time of all()
            if not podchecks.FAMILIES.agree(part["template"]["spec"]):
                return False
        return True

    @cached_property
    def _accepts(self) -> Predicate | None:
        """The predicate of objects with valid pod templates; None for tasks without pod templates."""
        if not self._way:
            return self._fits
        schema = self.shape.node
        around = self._shape_of_parts
        for name in self._names or ("*",):
            part = around.below(name if self._names else "" if around.is_map else 0)
            if "containers" not in part.below("template").below("spec").node.get("properties", {}):
                return None
            place = (*self._way, name, "template")
            schema = _with_type(schema, place, podchecks.FAMILIES.shape, optional=self._names)
        return surely_fits(with_ordinary_metadata(schema))

    @property
    def _shape_of_parts(self) -> Shape:
        shape = self.shape
        for step in self._way:
            shape = shape.below(step)
        return shape

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return the faults that the API server finds in schema and metadata before it calls validating webhooks."""
        violations = self._evaluator.validate(document)
        if any(violation.value is None and violation.reason is ErrorType.TYPE_INVALID for violation in violations):
            # Typed clients write null for absent fields, and the API server drops it when it sets defaults.
            violations = self._evaluator.validate(self._evaluator.default(document))
        return [
            *metadata_causes(document.get("metadata")),
            *(cause_of(violation, self.shape) for violation in violations),
        ]

    def transitions(self, document: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
        """Return the violations of CEL rules that compare the object with the stored one."""
        alone = self._evaluator.validate(document)
        violations = self._evaluator.validate(document, old)
        return [cause_of(violation, self.shape) for violation in violations if violation not in alone]


def _with_type(
    schema: Mapping[str, Any], place: Sequence[str], type_: type, optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return a schema with a msgspec type for a required value; `*` is any item of a list or entry of a map.

    The fields on the way to the value are required if they are not `optional`.
    """
    if not place:
        return {TYPE: type_}
    step, *rest = place
    if step == "*":
        keyword = "items" if "items" in schema else "additionalProperties"
        return {**schema, keyword: _with_type(schema[keyword], rest, type_, optional)}
    properties = {**schema["properties"], step: _with_type(schema["properties"][step], rest, type_, optional)}
    required = {*schema.get("required", ()), *({step}.difference(optional))}
    return {**schema, "properties": properties, "required": sorted(required)}


def shape_of(kind: Kind) -> Shape:
    """Return the shape of a kind's objects; empty for a kind with another type of schema."""
    return kind.schema.shape if isinstance(kind.schema, StructuralSchema) else Shape()


def cause_of(violation: Violation, shape: Shape) -> Cause:
    """Return the cause of a violation of a schema."""
    path = shape.path(violation.path)
    if violation.reason is ErrorType.REQUIRED:
        return Required(path, violation.message)
    if violation.reason is ErrorType.FORBIDDEN:
        return Forbidden(path, violation.message)
    value = violation.value
    if violation.reason is ErrorType.TOO_MANY:
        many = TooMany.of(path, len(value), violation.message)
        many.value = value  # ratcheting allows only an unchanged list
        return many
    if violation.reason is ErrorType.DUPLICATE:
        return Duplicate.of(path, value, f"{shape.path(violation.path[:-1])}{violation.message}")
    if violation.reason is not ErrorType.TYPE_INVALID:
        return _CAUSES[violation.reason].of(path, value, _MESSAGES.get(violation.message, violation.message))
    hidden = is_private(violation.path, value) or (isinstance(value, str) and _holds_parts(shape, violation))
    cause = TypeInvalid(path, type_word(value) if hidden else value, violation.message)
    cause.value = value
    return cause


def _holds_parts(shape: Shape, violation: Violation) -> bool:
    """Return whether the schema expects an object or a list, whose parts may be private."""
    for step in violation.path:
        shape = shape.below(step)
    return shape.node.get("type") in {"object", "array"}


_CAUSES: Mapping[ErrorType, type[Cause]] = {
    ErrorType.INVALID: Invalid,
    ErrorType.NOT_SUPPORTED: NotSupported,
    ErrorType.TOO_LONG: TooLong,
}

#: Messages that replace those of patterns.
_MESSAGES: Mapping[str, str] = {
    f"must match {pattern}": "must be a duration, such as 30s or 1h30m" for pattern in (DURATION, DURATION_PATTERN)
}


def unchecked_rules(kind: CustomKind) -> tuple[str, ...]:
    """Return a sentence about each CEL rule of the kind's schema that is not evaluated, as without the CEL library."""
    return kind.schema.unchecked_rules if isinstance(kind.schema, StructuralSchema) else ()


def is_private(path: Sequence[str | int], value: Any) -> bool:
    """Return whether a value may contain a secret: because of its path, or because it is an object or a list."""
    if value is None or value in ([], {}):
        return False
    return isinstance(value, list | Mapping) or not _PRIVATE.isdisjoint(path)
