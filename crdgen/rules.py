"""The rules of a whole schema, checked where they stand: names, types, and what they may compare with.

A rule's own form is checked by its marker; here is what depends on the nodes around it.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from crdgen import cel, paths
from crdgen.errors import SchemaError
from crdgen.evaluate.correlation import keeps_items_apart
from crdgen.schema.walk import Schema
from crdgen.sealed import Sealed
from crdgen.words import EMBEDDED, VALIDATIONS


def check_rules(schema: Schema, kind: str) -> None:
    """Check every rule of the schema of a whole object.

    Raises:
        SchemaError: When the API server would not compile a rule, or could not tell what its `oldSelf` or fieldPath is.
    """
    _node(schema, kind, kind, "")


def _node(schema: Schema, path: str, root: str, apart: str) -> None:
    """Check a node and what is below it; `apart` is the path of a list whose items are not told apart, if any."""
    if isinstance(schema, Sealed):
        return
    for entry in schema.get(VALIDATIONS, ()):
        at = f"{path} rule `{' '.join(entry['rule'].split())}`"
        _check_old_self(entry, at, apart)
        if "fieldPath" in entry:
            paths.rule_field(schema, entry["fieldPath"], at)
        _compile(entry, schema, at, whole=path == root or schema.get(EMBEDDED) is True)
    for name, child in schema.get("properties", {}).items():
        _node(child, f"{path}.{name}", root, apart)
    if isinstance(schema.get("additionalProperties"), dict):
        _node(schema["additionalProperties"], f"{path}.*", root, apart)
    if isinstance(schema.get("items"), dict):
        items_apart = apart or ("" if keeps_items_apart(schema) else path)
        _node(schema["items"], f"{path}[]", root, items_apart)


def _check_old_self(entry: Mapping[str, Any], at: str, apart: str) -> None:
    if apart and any(cel.uses_old_self(entry[key]) for key in ("rule", "messageExpression") if key in entry):
        raise SchemaError(
            at,
            f"uses `oldSelf` inside of {apart}, whose items cannot be told apart from one write to the next",
            f"put the rule on {apart} itself, or make it a `MapList`",
        )


def _compile(entry: Mapping[str, Any], schema: Schema, at: str, *, whole: bool) -> None:
    """Compile a rule, where the CEL library can: what it cannot, `crdgen lint` and `crdgen generate` name."""
    old = entry.get("optionalOldSelf", False)
    text = entry.get("messageExpression")
    with suppress(cel.NotEvaluated):
        for problem in cel.problems(entry["rule"], schema, root=whole, optional_old_self=old):
            raise SchemaError(at, problem, "fix the rule; names are those of the JSON, escaped as CEL wants them")
    with suppress(cel.NotEvaluated):
        for problem in cel.problems(text, schema, returns="string", root=whole, optional_old_self=old) if text else ():
            raise SchemaError(f"{at} messageExpression `{text}`", problem, "fix the expression; it must give a text")
