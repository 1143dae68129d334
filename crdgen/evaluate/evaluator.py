"""A structural schema, compiled."""

from typing import Any

from crdgen.evaluate import metadata
from crdgen.evaluate.check import Reason, Violation
from crdgen.evaluate.correlation import unchanged
from crdgen.evaluate.defaulting import Default, defaulter
from crdgen.evaluate.metadata import resources
from crdgen.evaluate.pruning import Prune, pruner
from crdgen.evaluate.rules import rules
from crdgen.evaluate.validation import Check, checker
from crdgen.schema import Schema


class Evaluator:
    """A structural schema, compiled once; its methods are fast enough for every admission call.

    The schema is that of a whole object, so `apiVersion`, `kind` and `metadata` at its root are never pruned.
    """

    def __init__(self, schema: Schema) -> None:
        self._prune: Prune = pruner(schema, root=True, metadata=metadata.pruned)
        self._default: Default = defaulter(schema)
        self._check: Check = checker(schema)
        self._resources = resources(schema)
        self._rules = rules(schema)
        self._schema = schema

    @property
    def unchecked(self) -> tuple[str, ...]:
        """A sentence about each rule that is never evaluated: without the CEL library that is all of them."""
        return () if self._rules is None else self._rules.unchecked

    def prune(self, value: Any) -> Any:
        """Return the object without the fields that the schema does not know, nor Kubernetes in embedded metadata."""
        return self._prune(value)

    def default(self, value: Any) -> Any:
        """Return the object with its defaults, and without the nulls that the API server drops.

        A null where the schema does not allow one is replaced by the default, or dropped where there is none. A default
        is set only where the parent exists.
        """
        return self._default(value)

    def validate(self, value: Any, old: Any = None, unchecked: list[str] | None = None) -> list[Violation]:
        """Return what in the object the schema and its rules refuse; the object has been pruned and defaulted before.

        Of one list or map, the first thousand violations are enough: the verdict is the same. With the object that is
        stored (`old`), what did not change is not refused again, and rules may compare the two. Rules that were not
        evaluated refuse nothing; a sentence about each is added to `unchecked`.
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
        twice = any(violation.reason is Reason.DUPLICATE for violation in found)
        twice_before = twice and any(before.reason is Reason.DUPLICATE for before in self._check(old) or ())
        return [
            violation
            for violation in found
            if not (violation.reason is Reason.DUPLICATE and twice_before)
            and not unchanged(self._schema, _holder(violation), value, old)
        ]


def _holder(violation: Violation) -> tuple[str | int, ...]:
    """Return the path of what the violation is in: a field that is not there is missing in the object around it."""
    return violation.path[:-1] if violation.reason is Reason.REQUIRED else violation.path
