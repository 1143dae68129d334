"""What the API server does with an object and a structural schema, done locally: prune, default, validate.

All of it is pure: the input is never changed, and what did not change is shared with the result. None of it raises,
whatever JSON it is given, and all of it but the schema's own CEL rules is linear in the size of the object.
"""

from typing import Any

from crdgen.evaluate.check import Reason, Violation
from crdgen.evaluate.evaluation import Evaluation, Evaluator, evaluate
from crdgen.schema import Schema

__all__ = ["Evaluation", "Evaluator", "Reason", "Violation", "default", "evaluate", "prune", "validate"]


def prune(schema: Schema, value: Any) -> Any:
    """Return the object without the fields that the schema does not know."""
    return Evaluator(schema).prune(value)


def default(schema: Schema, value: Any) -> Any:
    """Return the object with its defaults, and without the nulls that the API server drops."""
    return Evaluator(schema).default(value)


def validate(schema: Schema, value: Any) -> list[Violation]:
    """Return everything in the object that the schema refuses."""
    return Evaluator(schema).validate(value)
