"""The last stages: unwrap and shorten descriptions, remove private notes, sort keys.

Nodes that still have no type are rejected.
"""

import json
import re
from inspect import cleandoc
from typing import Any, Final

from crdgen.generate.errors import SchemaError, SchemaErrors
from crdgen.generate.walk import DEPRECATED, MIXED, PREFIX, map_children
from crdgen.schema import ARTICLES, INT_OR_STRING, OF_OBJECTS, PRESERVE, TYPES, Schema
from crdgen.schema.look import with_children, without


def tidy(schema: Schema, path: str) -> Schema:
    """Return the schema without private notes, and check that every node has a type."""
    errors = SchemaErrors()
    result = _tidy_node(schema, path, errors)
    errors.raise_all()
    return result


def _tidy_node(schema: Schema, path: str, errors: SchemaErrors) -> Schema:
    with errors.collecting():
        if schema.get("type") not in TYPES and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
            raise SchemaError(path, *_untyped(schema.get("type")))
    plain = {key: value for key, value in schema.items() if not key.startswith(PREFIX)}
    return with_children(plain, lambda child, step: _tidy_node(child, path + step, errors))


def _untyped(kind: object) -> tuple[str, str]:
    if kind == "null":
        return "the field takes nothing but null", "leave it out, or give it a type"
    problem = f"the type {kind!r} is none of JSON's" if kind else "has no single type"
    return problem, "use one type, or `Annotated[Any, PreserveUnknown]`"


def order(schema: Schema) -> Schema:
    """Return the schema with sorted keys and required names; enums and defaults keep the author's order."""
    ordered: Schema = _sorted(schema, names=False)
    return ordered


def _sorted(value: Any, *, names: bool | None) -> Any:
    """Return a value with sorted keys. `names` says whether its keys are field names; it is None inside of defaults."""
    if isinstance(value, list):
        return [_sorted(item, names=names) for item in value]
    if not isinstance(value, dict):
        return value
    ordered = {key: _sorted(value[key], names=_names_below(key, names=names)) for key in sorted(value)}
    if names is False and isinstance(ordered.get("required"), list):
        ordered["required"] = sorted(ordered["required"])
    return ordered


def _names_below(key: str, *, names: bool | None) -> bool | None:
    return None if names is None or (key in OF_OBJECTS and not names) else key == "properties" and not names


# Note of a marker: the limit for descriptions below the node.
POLICY: Final = "x-crdgen-descriptions"
_SENTENCE: Final = re.compile(r"[.!?](?=\s|$)|\n|$")


def policy(schema: Schema, limit: int | None) -> Schema:
    """Return the schema with shortened descriptions; None keeps them, 0 drops them."""
    result = without(schema, POLICY)
    limit_below = schema.get(POLICY, limit)
    if limit is not None and "description" in result:
        text = shorten(result.pop("description"), limit)
        result |= {"description": text} if text else {}
    return map_children(result, "", lambda child, _: policy(child, limit_below))


def shorten(text: str, limit: int) -> str:
    """Return the sentences that fit into the limit; if the first is too long, its words with an ellipsis."""
    if len(text) <= limit:
        return text
    ends = [match.end() for match in _SENTENCE.finditer(text) if match.end() <= limit]
    if ends:
        return text[: ends[-1]].rstrip()
    words = text[: max(limit, 1) - 1].rpartition(" ")[0] or text[: max(limit, 1) - 1]
    return f"{words.rstrip(' ,;:')}…" if limit else ""


_TYPE_NAMES: Final = ARTICLES | {"boolean": "a boolean"}


def descriptions(schema: Schema, _path: str) -> Schema:
    """Return the node with its description unwrapped, or without it if it is empty.

    The accepted types of a mixed node, and a deprecation, are lines of their own after the author's text.
    """
    paragraphs = re.split(r"\n\s*\n", cleandoc(schema.get("description") or ""))
    lines = [" ".join(paragraph.split()) for paragraph in paragraphs]
    lines += [line for line in (accepted_types(schema), schema.get(DEPRECATED, "")) if line not in lines]
    unwrapped = "\n".join(line for line in lines if line)
    rest = without(schema, "description", DEPRECATED)
    return rest | {"description": unwrapped} if unwrapped else rest


def accepted_types(schema: Schema) -> str:
    """Return a sentence with the accepted types of a mixed node; empty if it has a type or an enum."""
    if not schema.get(PRESERVE) or schema.keys() & {"type", "enum"} or MIXED not in schema:
        return ""
    members = list(dict.fromkeys(_member(part) for part in schema[MIXED]))
    if schema.get("nullable"):
        members.append("null")
    *others, last = members
    return f"Takes {', '.join(others)} or {last}." if others else f"Takes {last}."


def _member(part: Schema) -> str:
    """Return the values or the type of a member."""
    values = (json.dumps(value, ensure_ascii=False) for value in part.get("enum", ()))
    return " or ".join(values) or _TYPE_NAMES[part["type"]]
