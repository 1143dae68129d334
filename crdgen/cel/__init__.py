"""CEL rules of a schema: whether they compile. What they may cost is told by `crdgen.cel.costs`.

Wants the extra `cel`; without it nothing is found.

Google's own library parses and types the expressions (`crdgen.cel.compiling`); what it compiled is evaluated here
(`crdgen.cel.interpreter`), because its Python face cannot carry Kubernetes' own types, such as quantities, and does not
compare lists of sets and maps as Kubernetes does.

`schema` is always that of `self`. Property names stand in rules as Kubernetes escapes them.
"""

import re
from functools import cache
from importlib.util import find_spec
from typing import Final, Literal

from crdgen.schema.walk import Schema

__all__ = ["available", "problems", "uses_old_self"]

_RESULTS: Final = {"bool": ("BOOL", "true or false"), "string": ("STRING", "a text")}

# Texts and comments of an expression, in which a name is none.
_QUOTES: Final = ("'''", '"""', "'", '"')
_RAW: Final = "|".join(f"{quote}.*?{quote}" for quote in _QUOTES)
_PLAIN: Final = "|".join(rf"{quote}(?:\\.|.)*?{quote}" for quote in _QUOTES)
_TEXT: Final = re.compile(rf"\b[bB]?[rR][bB]?(?:{_RAW})|\b[bB]?(?:{_PLAIN})|(?:{_PLAIN})|//[^\n]*", re.DOTALL)
_OLD_SELF: Final = re.compile(r"(?<![\w.])oldSelf\b")


@cache
def available() -> bool:
    """Tell whether the CEL library is installed (`pip install 'jobgate[cel]'`)."""
    return find_spec("cel_expr_python") is not None and find_spec("google.protobuf") is not None


def problems(
    expression: str,
    schema: Schema,
    *,
    returns: Literal["bool", "string"] = "bool",
    root: bool = False,
    optional_old_self: bool = False,
) -> list[str]:
    """Return what the API server's compiler refuses in the expression, one sentence each; none without a library.

    Args:
        expression: The rule or messageExpression.
        schema: The schema of `self`.
        returns: What the expression must give.
        root: Whether self is a whole resource, of which rules see type and name even if the schema does not list them.
        optional_old_self: Whether the rule says `optionalOldSelf`.
    """
    if not available():
        return []
    from crdgen.cel.compiling import OPTIONAL, PLAIN, Refused, compile_  # noqa: PLC0415 - the library is optional

    try:
        compiled = compile_(expression, schema, root=root, old=OPTIONAL if optional_old_self else PLAIN)
    except Refused as refused:
        return refused.sentences
    kind, words = _RESULTS[returns]
    return [] if compiled.returns == kind else [f"it must give {words}, and gives {compiled.returns.lower()}"]


def uses_old_self(expression: str) -> bool:
    """Tell whether the expression is a transition rule: such a rule runs only where there is an old value."""
    return _OLD_SELF.search(_TEXT.sub("''", expression)) is not None
