"""What the API server would make of an object of a CRD."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crdgen.evaluate import metadata
from crdgen.evaluate.check import Check, ErrorType, Violation
from crdgen.evaluate.correlation import unchanged
from crdgen.evaluate.metadata import resources
from crdgen.evaluate.pruning import Default, Prune, defaulter, pruner
from crdgen.evaluate.rules import rules
from crdgen.evaluate.validation import checker
from crdgen.schema import OF_OBJECTS, Schema
from crdgen.schema.limits import RANGES
from crdgen.schema.look import mapping, missing, without

_MOST: Final = RANGES["int32"][1]
_ABSENT: Final = object()


def scale(subresources: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield what is wrong with the fields that scaling reads and writes."""
    for name, path in (subresources.get("scale") or {}).items():
        steps = tuple(path.removeprefix(".").split("."))
        found = _at(written, steps)
        if not path or found is _ABSENT:
            continue
        if name == "labelSelectorPath":
            if not isinstance(found, str):
                yield Violation(steps, ErrorType.INVALID, found, "must be a string, for scaling")
        elif not (isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= _MOST):
            yield Violation(steps, ErrorType.INVALID, found, f"must be an integer from 0 to {_MOST}, for scaling")


def _at(value: Any, steps: tuple[str, ...]) -> Any:
    """Return what stands at the path: nothing, where a part of it is not there; what is in the way, if no object."""
    for step in steps:
        if not isinstance(value, dict):
            return value
        if step not in value:
            return _ABSENT
        value = value[step]
    return value


@dataclass(frozen=True)
class Evaluation:
    """What becomes of an object.

    Attributes:
        pruned: The paths of what was pruned.
        object: The object as it would be stored.
        violations: What it is rejected for; none, and it is taken.
        unchecked: A sentence about each rule that was not evaluated.
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
    """Return what a write of the object to a CRD's main resource comes to.

    What an admission webhook would do is not looked at; what the API server fills into metadata is not filled in.

    Args:
        definition: The CustomResourceDefinition.
        object_: The object as it is written.
        version: Which version's schema counts; that of the object's apiVersion, where it is left out.
        old: The stored object in the same version, for an update.

    Raises:
        ValueError: When the CRD has no such version, or no schema for it.
    """
    spec = definition["spec"]
    name = version or str(object_.get("apiVersion", "")).rpartition("/")[2]
    served = {entry["name"]: entry for entry in spec["versions"]}
    if name not in served:
        raise ValueError(f"the CRD has no version {name!r}; it has {', '.join(served)}")
    schema = served[name].get("schema", {}).get("openAPIV3Schema")
    if schema is None:
        raise ValueError(f"the CRD has no schema for its version {name!r}")
    evaluator = Evaluator(decoded(schema))
    written = dict(object_)
    before = None if old is None else evaluator.default(evaluator.prune(dict(old)))
    pruned = evaluator.prune(written)
    if "metadata" in written:
        pruned = pruned | {"metadata": metadata.pruned(written["metadata"])}
    paths = tuple(path for path, _ in missing(written, pruned))
    if "status" in served[name].get("subresources", {}):
        # A write to the main resource does not touch the status.
        pruned = without(pruned, "status")
        if before is not None and "status" in before:
            pruned["status"] = before["status"]
    result = evaluator.default(pruned)
    unchecked: list[str] = []
    found = [
        *_type(spec, name, written),
        *metadata.of_custom_resource(
            written.get("metadata"),
            None if old is None else mapping(old, "metadata"),
            namespaced=spec.get("scope") != "Cluster",
        ),
        *evaluator.validate(result, before, unchecked),
        *scale(served[name].get("subresources", {}), result),
    ]
    return Evaluation(paths, result, tuple(found), tuple(dict.fromkeys(unchecked)))


def decoded(schema: Any) -> Any:
    """Return a schema as the API server holds it: Go's decoder takes a keyword that is null as absent."""
    if isinstance(schema, list):
        return [decoded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        keyword: part if keyword in OF_OBJECTS else decoded(part)
        for keyword, part in schema.items()
        if part is not None
    }


def _type(spec: Mapping[str, Any], version: str, written: Mapping[str, Any]) -> Iterator[Violation]:
    wanted = {"apiVersion": f"{spec['group']}/{version}", "kind": spec["names"]["kind"]}
    for field, right in wanted.items():
        if written.get(field) != right:
            yield Violation((field,), ErrorType.INVALID, written.get(field), f"must be {right}")


class Evaluator:
    """A structural schema, compiled once; it is fast enough for every admission call.

    The schema is that of a whole object, so `apiVersion`, `kind` and `metadata` at its root are never pruned.
    """

    def __init__(self, schema: Schema) -> None:
        #: Returns the object without the fields that the schema does not know, nor Kubernetes in embedded metadata.
        self.prune: Prune = pruner(schema, root=True, metadata=metadata.pruned)
        #: Returns the object with its defaults, and without the nulls that the API server drops. A null that the schema
        #: does not allow becomes the default, or goes where there is none. A default is set only where the parent is.
        self.default: Default = defaulter(schema)
        self._check: Check = checker(schema)
        self._resources = resources(schema)
        self._rules = rules(schema)
        self._schema = schema

    @property
    def unchecked(self) -> tuple[str, ...]:
        """A sentence about each rule that is never evaluated: without the CEL library that is all of them."""
        return () if self._rules is None else self._rules.unchecked

    def validate(self, value: Any, old: Any = None, unchecked: list[str] | None = None) -> list[Violation]:
        """Return what in the object the schema and its rules reject; the object has been pruned and defaulted before.

        Of one list or map, the first thousand violations are enough: the verdict is the same. With the object that is
        stored (`old`), what did not change is not rejected again, and rules may compare the two. Rules that were not
        evaluated reject nothing; a sentence about each is added to `unchecked`.
        """
        found = self._check(value) or []
        if old is not None and found:
            found = self._new(found, value, old)
        if self._resources is not None:
            found = [*found, *(self._resources(value) or ())]
        if self._rules is None:
            return found
        return [*found, *self._rules.validate(value, old, found, [] if unchecked is None else unchecked)]

    def _new(self, found: list[Violation], value: Any, old: Any) -> list[Violation]:
        """Return the violations of what changed; where items were there twice before, they still may be."""
        twice = any(violation.reason is ErrorType.DUPLICATE for violation in found)
        twice_before = twice and any(before.reason is ErrorType.DUPLICATE for before in self._check(old) or ())
        # A field that is not there is missing in the object around it.
        places = (violation.path[: -1 if violation.reason is ErrorType.REQUIRED else None] for violation in found)
        return [
            violation
            for violation, place in zip(found, places, strict=True)
            if not (violation.reason is ErrorType.DUPLICATE and twice_before)
            and not unchanged(self._schema, place, value, old)
        ]
