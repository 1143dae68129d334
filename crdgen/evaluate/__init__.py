"""What the API server does with an object and a structural schema, done locally: prune, default, validate.

All of it is pure: the input is never changed. None of it raises,
whatever JSON it is given, and all of it but the schema's own CEL rules is linear in the size of the object.
"""

from crdgen.evaluate.check import Reason, Violation
from crdgen.evaluate.evaluation import Evaluation, Evaluator, evaluate

__all__ = ["Evaluation", "Evaluator", "Reason", "Violation", "evaluate"]
