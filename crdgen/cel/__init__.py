"""Compile CEL rules against a schema, estimate their cost, and evaluate them on objects.

Needs the extra `cel`: Google's own library parses, types and evaluates the expressions (`engine`), with the functions
of Kubernetes (`functions`, `declarations`), on JSON as rules see it (`values`). `errors` rewrites its errors for
authors of rules. Other libraries do not check types. What is ours, and why:

- `cost`: the API server rejects rules by their estimated cost. No library has the estimate; ours is rougher, and also
  limits evaluations here
- `reading`, `tree`: the library returns the syntax tree as a serialized message, and no package has classes for it
- `types`, and the descriptors in `engine`: the library types objects only by protobuf descriptors

`schema` is always the schema of `self`. Rules contain property names as Kubernetes escapes them.
"""

import json
import re
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from crdgen.cel.errors import CompilationError, EvaluationError, NotEvaluated
from crdgen.schema import VALIDATIONS, Schema

if TYPE_CHECKING:
    from crdgen.cel.engine import CompiledExpression

__all__ = [
    "NOT_INSTALLED",
    "CompilationError",
    "EvaluationError",
    "NotEvaluated",
    "available",
    "compile_expression",
    "mentions",
    "uses_old_self",
]

#: Why rules are not evaluated.
NOT_INSTALLED: Final = "the CEL library is not installed (pip install 'jobgate-crdgen[cel]')"

# String literals and comments of an expression, in which names do not count.
_QUOTES: Final = ("'''", '"""', "'", '"')
_RAW_LITERALS: Final = "|".join(f"{quote}.*?{quote}" for quote in _QUOTES)
_LITERALS: Final = "|".join(rf"{quote}(?:\\.|.)*?{quote}" for quote in _QUOTES)
_LITERAL_OR_COMMENT: Final = re.compile(
    rf"\b[bB]?[rR][bB]?(?:{_RAW_LITERALS})|\b[bB]?(?:{_LITERALS})|(?:{_LITERALS})|//[^\n]*", re.DOTALL
)


@cache
def available() -> bool:
    """Return whether the CEL library is installed (`pip install 'jobgate-crdgen[cel]'`)."""
    return find_spec("cel_expr_python") is not None and find_spec("google.protobuf") is not None


def compile_expression(
    expression: str, schema: Schema, *, root: bool = False, optional_old_self: bool = False
) -> "CompiledExpression":
    """Compile an expression.

    Args:
        expression: The rule or messageExpression.
        schema: The schema of `self`.
        root: Whether self is a whole resource: rules see its type and name even if the schema does not list them.
        optional_old_self: Whether the rule has `optionalOldSelf`.

    Raises:
        CompilationError: The API server would not compile it.
        NotEvaluated: The library is not installed, or does not support the expression.
    """
    if not available():
        raise NotEvaluated(NOT_INSTALLED)
    from crdgen.cel.engine import compile_  # noqa: PLC0415 - the library is optional

    # Types do not depend on rules: all rules of a field share one environment.
    typed = {keyword: value for keyword, value in schema.items() if keyword != VALIDATIONS}
    return compile_(expression, json.dumps(typed, sort_keys=True), root=root, optional=optional_old_self)


def uses_old_self(expression: str) -> bool:
    """Return whether the expression is a transition rule, which runs only if there is an old value."""
    return mentions(expression, "oldSelf")


def mentions(expression: str, variable: str) -> bool:
    """Return whether the expression has a variable."""
    return re.search(rf"(?<![\w.]){variable}\b", _LITERAL_OR_COMMENT.sub("''", expression)) is not None
