"""Read a YAML file as a Pydantic model; errors name the line, the field, and what would be right."""

from difflib import get_close_matches
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from crdgen.cli.sources import UsageError, content
from crdgen.reading import Lines, UnreadableManifest, read_value
from crdgen.schema.look import path_of

Entries = TypeVar("Entries")

#: What would be right, by the type of pydantic's error.
_FIXES: Final = {
    "missing": "add it",
    "extra_forbidden": "remove it",
    "string_type": "quote it",
}


def load(file: str, model: type[Entries]) -> tuple[Entries, Lines]:
    """Return the content of a file, and the lines of its parts."""
    text = content(file)
    try:
        value = read_value(text, file)
    except UnreadableManifest as error:
        raise UsageError(str(error)) from error
    lines = Lines(text)
    try:
        return TypeAdapter(model).validate_python(value), lines
    except ValidationError as error:
        problems = [f"{file}:{lines.at(each['loc'])}: {_problem(each, model)}" for each in error.errors()]
        raise UsageError("\n".join(problems)) from error


def _problem(error: Any, model: Any) -> str:
    path = path_of(error["loc"]).lstrip(".") or "the file"
    message = error["msg"].removeprefix("Value error, ")
    fix = _FIXES.get(error["type"], "")
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _names(model), 1)
        message, fix = "unknown field", f"did you mean {near[0]}?" if near else fix
    return f"{path}: {message[:1].lower()}{message[1:]}{f': {fix}' if fix else ''}"


def _names(model: Any) -> list[str]:
    """Return the names of all fields of the models in a type."""
    schema = TypeAdapter(model).json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return [name for part in parts for name in part.get("properties", {})]
