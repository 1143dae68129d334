"""Prune, default and validate objects by a structural schema, like the API server.

All functions are pure, never change their input, and accept any JSON. Except for the schema's own CEL rules, they take
linear time in the size of the object.
"""

from crdgen.evaluate.check import ErrorType, Violation
from crdgen.evaluate.evaluation import Evaluation, Evaluator, ResourceEvaluator, evaluate

__all__ = ["ErrorType", "Evaluation", "Evaluator", "ResourceEvaluator", "Violation", "evaluate"]
