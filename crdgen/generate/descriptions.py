"""Descriptions, with one line per paragraph and the accepted types of fields that have no single type."""

import json
import re
from inspect import cleandoc
from typing import Any, Final

from crdgen.evaluate.check import ARTICLES
from crdgen.generate.walk import DEPRECATED, MIXED, SAID
from crdgen.schema import PRESERVE, Schema
from crdgen.schema.look import without

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
    if not schema.get(PRESERVE) or schema.keys() & {"type", "enum"} or not schema.keys() & {SAID, MIXED}:
        return ""
    members = [schema[SAID]] if SAID in schema else list(dict.fromkeys(map(_said, schema[MIXED])))
    if schema.get("nullable"):
        members.append("null")
    *others, last = members
    return f"Takes {', '.join(others)} or {last}." if others else f"Takes {last}."


def _said(part: Schema) -> str:
    """Return what one of the members takes."""
    if SAID in part:
        return str(part[SAID])
    kind = part["type"]
    if "enum" in part:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in part["enum"])
    values = _plural(part.get("items"))
    if kind == "array" and values:
        return f"a list of {values}"
    values = _plural(part.get("additionalProperties"))
    return f"a map of {values}" if kind == "object" and values else _ONE[kind]


def _plural(values: Any) -> str:
    kind = values.get("type", "") if isinstance(values, dict) else ""
    return "lists" if kind == "array" else f"{kind}s" if kind else ""
