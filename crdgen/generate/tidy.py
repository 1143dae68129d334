"""The last stages: descriptions are unwrapped and cut, private notes go, and keys are sorted.

What no earlier stage could give a type is rejected.
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
    """Return the schema, all stages behind it, without private notes."""
    errors = SchemaErrors()
    result = _tidied(schema, path, errors)
    errors.raise_all()
    return result


def _tidied(schema: Schema, path: str, errors: SchemaErrors) -> Schema:
    with errors.collecting():
        if schema.get("type") not in TYPES and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
            raise SchemaError(path, *_untyped(schema.get("type")))
    plain = {key: value for key, value in schema.items() if not key.startswith(PREFIX)}
    return with_children(plain, lambda child, step: _tidied(child, path + step, errors))


def _untyped(found: object) -> tuple[str, str]:
    if found == "null":
        return "the field takes nothing but null", "leave it out, or give it a type"
    problem = f"the type {found!r} is none of JSON's" if found else "has no single type"
    return problem, "use one type, or `Annotated[Any, PreserveUnknown]`"


def order(schema: Schema) -> Schema:
    """Return the schema with its keys and required names sorted; enums and defaults keep the author's order."""
    ordered: Schema = _sorted(schema, names=False)
    return ordered


def _sorted(value: Any, *, names: bool | None) -> Any:
    """Return a value in order; `names` says whether its keys are names of fields, and is None in an author's JSON."""
    if isinstance(value, list):
        return [_sorted(item, names=names) for item in value]
    if not isinstance(value, dict):
        return value
    ordered = {key: _sorted(value[key], names=_below(key, names=names)) for key in sorted(value)}
    if names is False and isinstance(ordered.get("required"), list):
        ordered["required"] = sorted(ordered["required"])
    return ordered


def _below(key: str, *, names: bool | None) -> bool | None:
    return None if names is None or (key in OF_OBJECTS and not names) else key == "properties" and not names


# Left in a node by a marker: the limit for what is below it.
POLICY: Final = "x-crdgen-descriptions"
_SENTENCE: Final = re.compile(r"[.!?](?=\s|$)|\n|$")


def policy(schema: Schema, limit: int | None) -> Schema:
    """Return the schema with each description cut to so many characters; None keeps it, 0 drops it."""
    result = without(schema, POLICY)
    below = schema.get(POLICY, limit)
    if limit is not None and "description" in result:
        text = shortened(result.pop("description"), limit)
        result |= {"description": text} if text else {}
    return map_children(result, "", lambda child, _: policy(child, below))


def shortened(text: str, limit: int) -> str:
    """Return as many whole sentences as fit into the limit; where the first does not, its words, and an ellipsis."""
    if len(text) <= limit:
        return text
    ends = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= limit]
    if ends:
        return text[: ends[-1]].rstrip()
    words = text[: max(limit, 1) - 1].rpartition(" ")[0] or text[: max(limit, 1) - 1]
    return f"{words.rstrip(' ,;:')}…" if limit else ""


_ONE: Final = ARTICLES | {"boolean": "a boolean"}


def descriptions(schema: Schema, _path: str) -> Schema:
    """Return the node with its description unwrapped, or without one where it is empty.

    What a node of several types takes, and that a field is deprecated, are lines of their own after the author's words.
    """
    paragraphs = re.split(r"\n\s*\n", cleandoc(schema.get("description") or ""))
    lines = [" ".join(paragraph.split()) for paragraph in paragraphs]
    lines += [says for says in (taken(schema), schema.get(DEPRECATED, "")) if says not in lines]
    unwrapped = "\n".join(line for line in lines if line)
    rest = without(schema, "description", DEPRECATED)
    return rest | {"description": unwrapped} if unwrapped else rest


def taken(schema: Schema) -> str:
    """Return the sentence, or nothing where the node's own keywords say it: a type, or the values of an enum."""
    if not schema.get(PRESERVE) or schema.keys() & {"type", "enum"} or MIXED not in schema:
        return ""
    members = list(dict.fromkeys(_said(part) for part in schema[MIXED]))
    if schema.get("nullable"):
        members.append("null")
    *others, last = members
    return f"Takes {', '.join(others)} or {last}." if others else f"Takes {last}."


def _said(part: Schema) -> str:
    """Return what one of the members takes."""
    values = (json.dumps(value, ensure_ascii=False) for value in part.get("enum", ()))
    return " or ".join(values) or _ONE[part["type"]]
