"""Evaluate a write of a custom resource like the API server."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from crdgen.evaluate import metadata
from crdgen.evaluate.check import Check, ErrorType, Violation
from crdgen.evaluate.correlation import is_unchanged
from crdgen.evaluate.metadata import resources
from crdgen.evaluate.pruning import Default, Prune, defaulter, pruner
from crdgen.evaluate.validation import checker
from crdgen.schema import OF_OBJECTS, VALIDATIONS, Schema
from crdgen.schema.limits import RANGES
from crdgen.schema.look import mapping, missing, uses, without

if TYPE_CHECKING:
    from crdgen.evaluate.rules import Rules

_INT32_MAX: Final = RANGES["int32"][1]
_ABSENT: Final = object()


def scale(subresources: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield violations in the fields that scaling reads and writes."""
    for name, path in (subresources.get("scale") or {}).items():
        steps = tuple(path.removeprefix(".").split("."))
        value = _at(written, steps)
        if not path or value is _ABSENT:
            continue
        if name == "labelSelectorPath":
            if not isinstance(value, str):
                yield Violation(steps, ErrorType.INVALID, value, "must be a string, for scaling")
        elif not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _INT32_MAX):
            yield Violation(steps, ErrorType.INVALID, value, f"must be an integer from 0 to {_INT32_MAX}, for scaling")


def _at(value: Any, steps: tuple[str, ...]) -> Any:
    """Return the value at a path, or `_ABSENT`. If a parent is not an object, return the parent."""
    for step in steps:
        if not isinstance(value, dict):
            return value
        if step not in value:
            return _ABSENT
        value = value[step]
    return value


class Evaluation(Struct, frozen=True):
    """The result of a write.

    Attributes:
        pruned: The paths of pruned fields.
        object: The object as it would be stored.
        violations: Why it is rejected; empty if it is accepted.
        unchecked: A sentence for each rule that was not evaluated.
    """

    pruned: tuple[str, ...]
    object: dict[str, Any]
    violations: tuple[Violation, ...]
    unchecked: tuple[str, ...] = ()


def evaluate(
    definition: Mapping[str, Any],
    object_: Mapping[str, Any],
    version: str | None = None,
    old: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Return the result of a write of an object to a CRD's main resource; see `ResourceEvaluator.evaluate`."""
    return ResourceEvaluator(definition).evaluate(object_, version, old)


class ResourceEvaluator:
    """Evaluates writes to the main resource of a CRD; compiles the schema of a version when it is first needed."""

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self._spec = definition["spec"]
        self._versions = {version["name"]: version for version in self._spec["versions"]}
        self._evaluators: dict[str, Evaluator] = {}

    def evaluate(
        self, object_: Mapping[str, Any], version: str | None = None, old: Mapping[str, Any] | None = None
    ) -> Evaluation:
        """Return the result of a write of an object.

        Admission webhooks are not considered, and metadata that the API server would set is not set.

        Args:
            object_: The object in the request.
            version: The version whose schema is used; by default that of the object's apiVersion.
            old: The stored object in the same version, for an update.

        Raises:
            ValueError: The CRD has no such version, or no schema for it.
        """
        name = version or str(object_.get("apiVersion", "")).rpartition("/")[2]
        evaluator, subresources = self._evaluator(name), self._versions[name].get("subresources", {})
        written = dict(object_)
        before = None if old is None else evaluator.default(evaluator.prune(dict(old)))
        pruned = evaluator.prune(written)
        if "metadata" in written:
            pruned = pruned | {"metadata": metadata.prune_metadata(written["metadata"])}
        paths = tuple(path for path, _ in missing(written, pruned))
        if "status" in subresources:
            # A write to the main resource does not change the status.
            pruned = without(pruned, "status")
            if before is not None and "status" in before:
                pruned["status"] = before["status"]
        result = evaluator.default(pruned)
        unchecked: list[str] = []
        violations = [
            *_type(self._spec, name, written),
            *metadata.of_custom_resource(
                written.get("metadata"),
                None if old is None else mapping(old, "metadata"),
                namespaced=self._spec.get("scope") != "Cluster",
            ),
            *evaluator.validate(result, before, unchecked),
            *scale(subresources, result),
        ]
        return Evaluation(paths, result, tuple(violations), tuple(dict.fromkeys(unchecked)))

    def _evaluator(self, version: str) -> "Evaluator":
        if version not in self._evaluators:
            if version not in self._versions:
                raise ValueError(f"the CRD has no version {version!r}; it has {', '.join(self._versions)}")
            schema = self._versions[version].get("schema", {}).get("openAPIV3Schema")
            if schema is None:
                raise ValueError(f"the CRD has no schema for its version {version!r}")
            self._evaluators[version] = Evaluator(decode_schema(schema))
        return self._evaluators[version]


def decode_schema(schema: Any) -> Any:
    """Decode a schema like the API server: Go's decoder treats keywords with null as absent."""
    if isinstance(schema, list):
        return [decode_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: part if keyword in OF_OBJECTS else decode_schema(part)
        for keyword, part in schema.items()
        if part is not None
    }


def _type(spec: Mapping[str, Any], version: str, written: Mapping[str, Any]) -> Iterator[Violation]:
    expected_fields = {"apiVersion": f"{spec['group']}/{version}", "kind": spec["names"]["kind"]}
    for field, expected in expected_fields.items():
        if written.get(field) != expected:
            yield Violation((field,), ErrorType.INVALID, written.get(field), f"must be {expected}")


class Evaluator:
    """A compiled structural schema, fast enough for every admission call.

    The schema describes a whole object, so `apiVersion`, `kind` and `metadata` at its root are never pruned.
    """

    def __init__(self, schema: Schema) -> None:
        #: Removes fields that are unknown to the schema, or unknown to Kubernetes in embedded metadata.
        self.prune: Prune = pruner(schema, root=True, metadata=metadata.prune_metadata)
        #: Sets defaults in parents that exist, and removes nulls like the API server: a null that the schema does not
        #: allow becomes the default or, without a default, is removed.
        self.default: Default = defaulter(schema)
        self._check: Check = checker(schema)
        self._resources = resources(schema)
        self._rules: Rules | None = None
        if uses(schema, VALIDATIONS):
            from crdgen.evaluate.rules import rules  # noqa: PLC0415 - few schemas have rules, and CEL is slow to load

            self._rules = rules(schema)
        self._schema = schema

    @property
    def unchecked(self) -> tuple[str, ...]:
        """A sentence for each rule that is never evaluated, such as all rules without the CEL library."""
        return () if self._rules is None else self._rules.unchecked

    def validate(self, value: Any, old: Any = None, unchecked: list[str] | None = None) -> list[Violation]:
        """Return the violations in an object that has been pruned and defaulted.

        Stops at a thousand violations per list or map: the verdict is the same. With the stored object (`old`),
        unchanged parts are not rejected, and rules can compare old and new. Rules that were not evaluated reject
        nothing; a sentence for each is added to `unchecked`.
        """
        violations = self._check(value) or []
        if old is not None and violations:
            violations = self._new(violations, value, old)
        if self._resources is not None:
            violations = [*violations, *(self._resources(value) or ())]
        if self._rules is None:
            return violations
        return [*violations, *self._rules.validate(value, old, violations, [] if unchecked is None else unchecked)]

    def _new(self, violations: list[Violation], value: Any, old: Any) -> list[Violation]:
        """Return the violations of changed parts. If the old object had duplicates, the new one may have them, too."""
        has_duplicates = any(violation.reason is ErrorType.DUPLICATE for violation in violations)
        had_duplicates = has_duplicates and any(
            before.reason is ErrorType.DUPLICATE for before in self._check(old) or ()
        )
        # A missing field is a violation of its parent.
        paths = (violation.path[: -1 if violation.reason is ErrorType.REQUIRED else None] for violation in violations)
        return [
            violation
            for violation, path in zip(violations, paths, strict=True)
            if not (violation.reason is ErrorType.DUPLICATE and had_duplicates)
            and not is_unchanged(self._schema, path, value, old)
        ]
