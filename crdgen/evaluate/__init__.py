"""What the API server does with an object and a structural schema, done locally: prune, default, validate.

All functions are pure and never change their input. None raises, whatever JSON it is given. All except the schema's own
CEL rules take time that is linear in the size of the object.
"""

from crdgen.evaluate.check import ErrorType, Violation
from crdgen.evaluate.evaluation import Evaluation, Evaluator, evaluate

__all__ = ["ErrorType", "Evaluation", "Evaluator", "Violation", "evaluate"]
