"""CEL rules of a schema: whether they compile, what they walk. Wants the extra `cel`; without it nothing is found.

`schema` is always that of `self`. Property names stand in rules as Kubernetes escapes them.
"""

from typing import Literal

from crdgen.schema.walk import Schema

__all__ = ["available", "problems", "unbounded", "uses_old_self"]


def available() -> bool:
    """Tell whether a CEL library is installed."""
    return False


def problems(expression: str, schema: Schema, *, returns: Literal["bool", "string"] = "bool") -> list[str]:
    """Return what the API server's compiler refuses in the expression, one sentence each; none without a library."""
    del expression, schema, returns
    return []


def uses_old_self(expression: str) -> bool:
    """Tell whether the expression is a transition rule: such a rule runs only where there is an old value."""
    return "oldSelf" in expression


def unbounded(expression: str, schema: Schema) -> list[str]:
    """Return the paths, from `self`, of lists, maps and strings without bounds that the expression walks."""
    del expression, schema
    return []
