"""CEL rules of a schema: whether they compile, what they may cost, and what they say of an object.

Needs the extra `cel`: Google's own library parses, types and evaluates the expressions (`engine`), with Kubernetes'
functions added (`functions`, `declarations`), on JSON as rules see it (`values`); `errors` says what is wrong with an
expression. The other libraries on PyPI do not type. What is ours, and why:

- `cost`: the API server rejects rules by an estimate of their cost, which no library has; ours is rougher. It also
  bounds what is evaluated here
- `reading`, `tree`: the library gives the syntax tree as bytes of a message that no package has the classes of
- `types`, and the descriptors in `engine`: the library types objects by protobuf descriptors only

`schema` is always that of `self`. Property names stand in rules as Kubernetes escapes them.
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
    "compiled",
    "uses_old_self",
]

#: Why rules are not checked.
NOT_INSTALLED: Final = "the CEL library is not installed (pip install 'jobgate[cel]')"

# Texts and comments of an expression, in which a name is none.
_QUOTES: Final = ("'''", '"""', "'", '"')
_RAW: Final = "|".join(f"{quote}.*?{quote}" for quote in _QUOTES)
_PLAIN: Final = "|".join(rf"{quote}(?:\\.|.)*?{quote}" for quote in _QUOTES)
_TEXT: Final = re.compile(rf"\b[bB]?[rR][bB]?(?:{_RAW})|\b[bB]?(?:{_PLAIN})|(?:{_PLAIN})|//[^\n]*", re.DOTALL)
_OLD_SELF: Final = re.compile(r"(?<![\w.])oldSelf\b")


@cache
def available() -> bool:
    """Return whether the CEL library is installed (`pip install 'jobgate[cel]'`)."""
    return find_spec("cel_expr_python") is not None and find_spec("google.protobuf") is not None


def compiled(
    expression: str, schema: Schema, *, root: bool = False, optional_old_self: bool = False
) -> "CompiledExpression":
    """Return the compiled expression.

    Args:
        expression: The rule or messageExpression.
        schema: The schema of `self`.
        root: Whether self is a whole resource, of which rules see type and name even if the schema does not list them.
        optional_old_self: Whether the rule says `optionalOldSelf`.

    Raises:
        CompilationError: The API server would not compile it.
        NotEvaluated: The library is not installed, or does not take the expression.
    """
    if not available():
        raise NotEvaluated(NOT_INSTALLED)
    from crdgen.cel.engine import compile_  # noqa: PLC0415 - the library is optional

    # Types do not depend on rules, and one environment serves all rules of a field.
    typed = {keyword: value for keyword, value in schema.items() if keyword != VALIDATIONS}
    return compile_(expression, json.dumps(typed, sort_keys=True), root=root, optional=optional_old_self)


def uses_old_self(expression: str) -> bool:
    """Return whether the expression is a transition rule: such a rule runs only where there is an old value."""
    return _OLD_SELF.search(_TEXT.sub("''", expression)) is not None
