"""What the API server does with an object and a structural schema, done locally: prune, default, validate.

All of it is pure: the input is never changed, and what did not change is shared with the result. None of it raises,
whatever JSON it is given, and all of it is linear in the size of the object.
"""

from typing import Any

from crdgen.evaluate.defaulting import Default, defaulter
from crdgen.evaluate.pruning import Prune, pruner
from crdgen.evaluate.validation import Check, checker
from crdgen.evaluate.violation import Reason, Violation
from crdgen.schema.walk import Schema

__all__ = ["Evaluator", "Reason", "Violation", "default", "prune", "validate"]


class Evaluator:
    """A structural schema, compiled once; its methods are fast enough for every admission call.

    The schema is that of a whole object, so `apiVersion`, `kind` and `metadata` at its root are never pruned.
    """

    def __init__(self, schema: Schema) -> None:
        self._prune: Prune = pruner(schema, root=True)
        self._default: Default = defaulter(schema)
        self._check: Check = checker(schema)

    def prune(self, value: Any) -> Any:
        """Return the object without the fields that the schema does not know."""
        return self._prune(value)

    def default(self, value: Any) -> Any:
        """Return the object with its defaults, and without the nulls that the API server drops.

        A null where the schema does not allow one is replaced by the default, or dropped where there is none. A default
        is set only where the parent exists.
        """
        return self._default(value)

    def validate(self, value: Any) -> list[Violation]:
        """Return what in the object the schema refuses; the object has been pruned and defaulted before.

        Of one list, the first thousand violations are enough: the verdict is the same.
        """
        return self._check(value) or []


def prune(schema: Schema, value: Any) -> Any:
    """Return the object without the fields that the schema does not know."""
    return Evaluator(schema).prune(value)


def default(schema: Schema, value: Any) -> Any:
    """Return the object with its defaults, and without the nulls that the API server drops."""
    return Evaluator(schema).default(value)


def validate(schema: Schema, value: Any) -> list[Violation]:
    """Return everything in the object that the schema refuses."""
    return Evaluator(schema).validate(value)
